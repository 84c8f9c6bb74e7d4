"""Parts chosen by name. A name is a file name; listing the names imports none of the files.

A registry names a package, and each file of the package registers its own part:

    OPTIMIZERS = Registry[Builder]("optimizer", package="attnlab.training.optimizers")

    @OPTIMIZERS.register("adamw")       # in training/optimizers/adamw.py
    def adamw(groups, *, lr): ...
"""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from attnlab.environment import NO_USERS_CODE, is_on
from attnlab.errors import AttnlabError, UserError, did_you_mean, unknown_name
from attnlab.users_code import USERS, refuse_silent_exit

Part = TypeVar("Part", bound=Callable[..., Any])


class Registry(Generic[Part]):
    """The parts of one kind: every file of ``package`` that registers its own name."""

    def __init__(self, kind: str, *, package: str) -> None:
        self.kind = kind
        self.package = package
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Enter a class or function under the name of its file."""

        def enter(part: Part) -> Part:
            if part.__module__.startswith(USERS):
                return part  # a user's own file is found by its path
            file_name = part.__module__.rpartition(".")[2]
            assert name == file_name, f"{name!r} is registered in {file_name}.py: use one name"
            self._parts[name] = part
            return part

        return enter

    def names(self) -> list[str]:
        """List the registered names by looking at the files, without importing them."""
        return list(self._sources())

    def _sources(self) -> dict[str, str]:
        """Return the text of every file that registers its own name, by that name."""
        spec = importlib.util.find_spec(self.package)
        assert spec is not None, f"{self.package} is not a package"
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        files = sorted(file for folder in folders for file in folder.glob("*.py"))
        texts = {file.stem: file.read_text(encoding="utf-8") for file in files}
        return {name: text for name, text in texts.items() if f'.register("{name}")' in text}

    def get(self, name: str) -> Part:
        """Import the one file of that name and return what it registered.

        ``path/to/file.py:Name`` is a user's own part, which needs no registration.
        """
        if users_file(name):
            part: Part = load_part(name, self.kind)
            return part
        if name not in self._parts:
            if name not in self.names():
                raise unknown_name(self.kind, name, self.names())
            importlib.import_module(f"{self.package}.{name}")
        return self._parts[name]

    def summaries(self) -> dict[str, str]:
        """Return the first line of each file's docstring by name, without importing the files."""
        docstrings = {n: ast.get_docstring(ast.parse(t)) for n, t in self._sources().items()}
        return {name: (text or "").partition("\n")[0] for name, text in docstrings.items()}

    def build(self, name: str, *arguments: Any, options: Mapping[str, Any]) -> Any:
        """Call the part of that name with its own options."""
        return self.construct(name, self.get(name), *arguments, options=options)

    def construct(
        self, name: str, part: Part, *arguments: Any, options: Mapping[str, Any], **given: Any
    ) -> Any:
        """Call a part with its own options, each checked against what the part takes.

        Other keyword arguments are passed on as they are; the user cannot choose them.
        """
        return part(*arguments, **self._all_checked(name, part, options, given), **given)

    def check(self, name: str, options: Mapping[str, Any]) -> None:
        """Refuse a name or options that ``build`` would refuse, without building anything."""
        self._all_checked(name, self.get(name), options)

    def _all_checked(
        self, name: str, part: Part, options: Mapping[str, Any], given: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the options as the types that the part takes."""
        allowed = {
            parameter.name: parameter.annotation
            for parameter in inspect.signature(part).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in given
        }
        checked = {}
        for option, value in options.items():
            if option not in allowed:
                raise UserError(
                    f"{self.kind} {name!r} has no option {option!r}."
                    f"{did_you_mean(option, allowed)} It takes: {', '.join(allowed) or 'none'}."
                )
            checked[option] = self._checked(name, option, value, allowed[option])
        return checked

    def _checked(self, name: str, option: str, value: Any, annotation: Any) -> Any:
        import pydantic  # here, so that listing names stays quick

        if annotation is inspect.Parameter.empty:
            return value
        try:
            return pydantic.TypeAdapter(annotation).validate_python(value)
        except pydantic.errors.PydanticSchemaGenerationError:
            return value  # a type of the user's own
        except pydantic.ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise UserError(
                f"{self.kind} {name!r}: option {option} = {value!r} is not possible:"
                f" {problem[:1].lower()}{problem[1:]}."
            ) from None


def users_file(reference: str) -> Path | None:
    """Return the path of ``path/to/file.py:Name``; None for the name of a part of ours."""
    return Path(reference.rpartition(":")[0]) if ".py:" in reference else None


def load_part(reference: str, kind: str) -> Any:
    """Return what a user's file calls by that name: ``path/to/file.py:Name``."""
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise UserError(f"{kind} {reference!r} is not of the form path/to/file.py:Name.")
    path = Path(place)
    module = load_file(path)
    part = getattr(module, name, None)
    if not callable(part):
        own = [n for n, value in vars(module).items() if is_own(value, module)]
        raise UserError(
            f"{path} has no class or function {name!r}.{did_you_mean(name, own)}"
            f" It has: {', '.join(own) or 'none'}."
        )
    return part


def load_file(path: Path) -> ModuleType:
    """Run a user's Python file and return it as a module; an error names the line."""
    if is_on(NO_USERS_CODE):
        raise UserError(f"{path} is a file of your own code, which is not run here.")
    if not path.is_file():
        raise UserError(f"there is no file {path}.")
    if path.suffix != ".py":
        raise UserError(f"{path} is not a Python file; its name must end in .py.")
    spec = importlib.util.spec_from_file_location(f"{USERS}{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look themselves up there
    refuse_silent_exit()
    try:
        with telling_the_line(f"{path}:"):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        place = _as_given(error.filename, path)
        raise UserError(f"{place}, line {error.lineno or 1}: {error.msg}.") from error
    return module


@contextlib.contextmanager
def telling_the_line(reference: str) -> Iterator[None]:
    """Turn an exception in a user's file, ``path/to/file.py:Name``, into an error with its line.

    An exception in our own parts is our mistake and stays as it is.
    """
    try:
        yield
    except (AttnlabError, SyntaxError):
        raise
    except (Exception, SystemExit) as error:
        path = users_file(reference)
        if path is None:
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if _as_given(f.filename, path) == path]
        where = f", line {lines[-1]}" if lines else ""
        message = str(error).partition("\n")[0]
        raise UserError(f"{path}{where} fails: {type(error).__name__}: {message}.") from error


def _as_given(file_name: str | None, path: Path) -> Path:
    """Return ``path`` as the user wrote it if the file is that one, otherwise the other file."""
    file = Path(file_name) if file_name else path
    return path if file.resolve() == path.resolve() else file


def is_own(value: Any, module: ModuleType) -> bool:
    """Return whether a module defines a class or function itself, rather than importing it."""
    return callable(value) and getattr(value, "__module__", None) == module.__name__
