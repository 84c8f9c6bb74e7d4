"""Settings: frozen dataclasses, layered as default < file < flag < ``--set a.b=c``.

Every value remembers where it came from, so that an error can name the file and line or the flag.
pydantic checks types and bounds here; everywhere else, settings are plain dataclasses.
"""

import ast
import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import yaml

from attnlab.errors import UserError, did_you_mean

Settings = TypeVar("Settings")
LONGEST_KEY = 200  # characters; an alias that contains itself never ends


@dataclass(frozen=True)
class Given:
    """A value that the user gave, and where."""

    value: Any
    origin: str


class SettingsError(UserError):
    """Values that settings cannot have."""

    def __init__(self, message: str, reasons: Mapping[str, str]) -> None:
        super().__init__(message)
        self.reasons = reasons
        """What is wrong with each, by its key."""


@dataclass(frozen=True)
class Checked:
    """Marks a setting that a function checks: ``length: Annotated[str, Checked(read_length)]``.

    The function raises a ValueError that says what is allowed.
    """

    check: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, kind: Any, handler: Callable[[Any], Any]) -> Any:
        """Let pydantic check type and bounds first."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._checked, handler(kind))

    def _checked(self, value: Any) -> Any:
        self.check(value)
        return value


@dataclass(frozen=True)
class SettingField:
    """One setting, with what it means."""

    key: str
    meaning: str
    annotation: Any
    """Its type, with its bounds."""
    is_open: bool
    """Whether any key is allowed below this one, as in ``optimizer.options``."""


def resolve(
    base: Settings,
    *,
    file: Path | None = None,
    flags: Mapping[str, Given] | None = None,
    sets: Sequence[str] = (),
) -> Settings:
    """Layer the user's values over those of ``base`` and check them.

    ``flags`` are the values of flags by dotted key. ``sets`` are the ``a.b=c`` strings of
    ``--set``. Options given as a whole mapping replace the default ones; a single option is changed
    by its dotted key.
    """
    whole = _open_keys(type(base))
    given = read_file(file, whole=whole) if file else {}
    given |= flags or {}
    for text in sets:
        given |= _read_assignment(text, whole=whole)
    return _validate(base, given)


def from_dict(cls: type[Settings], values: Mapping[str, Any], *, origin: str) -> Settings:
    """Read settings back from a mapping that ``to_dict`` made, with the same checks."""
    given = {k: Given(v, origin) for k, v in flatten(values, whole=_open_keys(cls))}
    return _validate(cls(), given)


def to_dict(settings: Any) -> dict[str, Any]:
    """Turn settings into plain dictionaries, ready for JSON."""
    return dataclasses.asdict(settings)


def to_yaml(settings: Any) -> str:
    """Write settings as a file that ``--config`` reads, each value under its meaning."""
    values = dict(flatten(to_dict(settings), whole=_open_keys(type(settings))))
    lines: list[str] = []
    sections: tuple[str, ...] = ()
    for field in describe(type(settings)):
        *path, name = field.key.split(".")
        for depth, section in enumerate(path):
            if sections[: depth + 1] != tuple(path[: depth + 1]):
                lines.append(f"{'  ' * depth}{section}:")
        sections = tuple(path)
        indent = "  " * len(path)
        lines += textwrap.wrap(
            field.meaning, 96, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
        )
        value = yaml.dump(values[field.key], Dumper=_Dumper, default_flow_style=True, width=1000)
        value = value.removesuffix("...\n").strip()  # YAML ends a lone value with dots
        lines.append(f"{indent}{name}: {value}")
    return "\n".join(lines) + "\n"


def describe(cls: type, prefix: str = "") -> Iterator[SettingField]:
    """List every setting below ``cls`` with its dotted key and the docstring under it."""
    classes = reversed(cls.__mro__[:-1])  # all but object; the class's own words come last
    meanings = {name: text for one in classes for name, text in _field_docstrings(one).items()}
    hints = get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):
        key, kind = prefix + field.name, hints[field.name]
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            yield from describe(kind, prefix=f"{key}.")
        else:
            meaning = meanings.get(field.name, "")
            plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
            yield SettingField(key, meaning, kind, is_open=get_origin(plain) is dict)


def read_file(path: Path, *, whole: Container[str] = ()) -> dict[str, Given]:
    """Read a YAML or JSON file of settings; each value knows its line.

    The keys in ``whole`` keep their mapping as one value.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a device may never end
            raise OSError("it is not a plain file")
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
    except FileNotFoundError:
        raise UserError(f"there is no settings file {path}.") from None
    except RecursionError:
        raise UserError(f"{path} is nested too deeply.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the settings file {path}: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or error
        raise UserError(f"{place} is not valid YAML: {problem}.") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        raise UserError(f"{path} must hold `key: value` lines, not {kind}.")
    given: dict[str, Given] = {}
    for key, one in _collect(root, "", path, whole):
        if key in given:
            raise UserError(f"{one.origin} gives {key!r} again, after {given[key].origin}.")
        given[key] = one
    return given


class _Loader(yaml.SafeLoader):
    """YAML without dates, with 12:00:00 as text, and with 1e-3 as a number.

    YAML 1.1 reads the one as 43200, a number to the base 60, and the other as text.
    """


_CLOCK = ("tag:yaml.org,2002:str", re.compile(r"\d+(:\d+)+(\.\d*)?$"))
_Loader.yaml_implicit_resolvers = {
    first: [_CLOCK, *((tag, regexp) for tag, regexp in found if not tag.endswith(":timestamp"))]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+"), list("-+0123456789")
)


class _Dumper(yaml.SafeDumper):
    """Writes what ``_Loader`` reads: a text such as 1e-3 gets quotes."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def _collect(
    node: yaml.MappingNode, prefix: str, path: Path, whole: Container[str]
) -> Iterator[tuple[str, Given]]:
    """Walk a YAML mapping down to its values, noting their lines."""
    for key_node, value_node in node.value:
        origin = f"{path}:{key_node.start_mark.line + 1}"
        if not isinstance(key_node, yaml.ScalarNode):
            raise UserError(f"{origin}: a key must be a name.")
        key = f"{prefix}{key_node.value}"
        nested = isinstance(value_node, yaml.MappingNode) and key not in whole
        if nested and len(prefix) > LONGEST_KEY:
            raise UserError(f"{origin}: the settings are nested too deeply.")
        if nested and value_node.value:
            yield from _collect(value_node, f"{key}.", path, whole)
        else:
            yield key, Given(_construct(value_node, origin), origin)


def _construct(node: yaml.Node, origin: str) -> Any:
    loader = _Loader("")
    try:
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or error
        raise UserError(f"{origin}: not a value: {problem}.") from None
    finally:
        loader.dispose()


def _read_assignment(text: str, *, whole: Container[str]) -> dict[str, Given]:
    key, equals, value = text.partition("=")
    key, origin = key.strip(), f"--set {text}"
    if not equals or not key:
        raise UserError(f"{origin}: expected KEY=VALUE, for example --set training.seed=1.")
    try:
        parsed = yaml.load(value, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UserError(f"{origin}: {value!r} is not a value in YAML.") from None
    return {k: Given(v, origin) for k, v in flatten({key: parsed}, whole=whole)}


def _validate(base: Settings, given: Mapping[str, Given]) -> Settings:
    """Put the given values into ``base`` and check the whole."""
    import pydantic  # here, so that a plain import of the settings stays quick

    cls = type(base)
    fields = {field.key: field for field in describe(cls)}
    for key, value in given.items():
        if key not in fields and not any(
            field.is_open and key.startswith(f"{field.key}.") for field in fields.values()
        ):
            raise _unknown_key(key, value, fields)
        _refuse_what_json_cannot_hold(key, value)
    layered = _layer(to_dict(base), given)
    try:
        return pydantic.TypeAdapter(cls).validate_python(layered)
    except pydantic.ValidationError as error:
        raise _explain(error.errors(), given) from None


def _unknown_key(key: str, given: Given, fields: Mapping[str, SettingField]) -> UserError:
    if any(name.startswith(f"{key}.") for name in fields):
        below = ", ".join(n.removeprefix(f"{key}.") for n in fields if n.startswith(f"{key}."))
        return UserError(f"{given.origin}: {key!r} is a section; give one of its keys: {below}.")
    section = key.rpartition(".")[0]
    siblings = [name for name in fields if name.rpartition(".")[0] == section] or list(fields)
    return UserError(
        f"{given.origin}: there is no setting {key!r}.{did_you_mean(key, fields)}"
        f" Known here: {', '.join(siblings)}."
    )


def _explain(errors: Sequence[Any], given: Mapping[str, Given]) -> SettingsError:
    """Rewrite pydantic's errors with key, value and origin: for each value, the deepest one.

    pydantic also calls a list with a wrong number too short, which is not the case.
    """
    lines: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for item in sorted(errors, key=lambda item: len(item["loc"])):
        path = [str(step) for step in item["loc"]]
        keys = [".".join(path[:length]) for length in range(len(path), 0, -1)]
        key = next((key for key in keys if key in given), "")
        message = item["msg"].removeprefix("Value error, ")
        if key:
            what = f"{key} = {given[key].value!r} is not possible"
            lines[key] = f"{given[key].origin}: {what}: {message[:1].lower()}{message[1:]}."
        else:
            lines[".".join(path)] = f"{'.'.join(path) or 'settings'}: {item['msg']}."
        reasons[key or ".".join(path)] = f"{message[:1].upper()}{message[1:]}."
    return SettingsError("\n".join(lines.values()), reasons)


def _refuse_what_json_cannot_hold(key: str, given: Given) -> None:
    try:
        text = json.dumps(given.value, allow_nan=False, ensure_ascii=False)
        if "\\u0000" in text:
            raise ValueError
        text.encode()  # a name that is not UTF-8 has no encoding
    except (TypeError, ValueError, RecursionError):
        raise UserError(
            f"{given.origin}: {key} = {given.value!r} is not possible: give a text in UTF-8 without"
            " NUL, a finite number, true or false, or a list or mapping of these."
        ) from None


def _layer(values: dict[str, Any], given: Mapping[str, Given]) -> dict[str, Any]:
    """Put the given values over the defaults.

    Options belong to one part: choosing another name drops the default options.
    """
    for key in sorted(given, key=lambda key: (key.count("."), key.rpartition(".")[2] != "name")):
        one = given[key]
        *path, name = key.split(".")
        here = values
        for step in path:
            below = here.setdefault(step, {})
            if not isinstance(below, dict):
                break  # pydantic will name this value
            here = below
        else:
            if name == "name" and "options" in here and here.get(name) != one.value:
                here["options"] = {}
            here[name] = one.value
    return values


def flatten(
    values: Mapping[str, Any], *, whole: Container[str] = (), prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys with their values; a mapping at a ``whole`` key, or empty, is a value."""
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and value and key not in whole:
            yield from flatten(value, whole=whole, prefix=f"{key}.")
        else:
            yield key, value


def _open_keys(cls: type) -> frozenset[str]:
    return frozenset(field.key for field in describe(cls) if field.is_open)


@cache
def _field_docstrings(cls: type) -> dict[str, str]:
    """Read the string under each field, which Python itself throws away."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for pair in pairwise(definition.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found
