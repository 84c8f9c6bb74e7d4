"""Parts chosen by name. A name is a file name; listing the names imports none of the files.

OPTIMISERS = Registry[Builder]("optimiser", package="attnlab.training.optimisers")

@OPTIMISERS.register("adamw")       # in training/optimisers/adamw.py
def adamw(groups, *, lr): ...
"""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from attnlab.errors import UserError, did_you_mean, unknown_name

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
            file_name = part.__module__.rpartition(".")[2]
            assert name == file_name, f"{name!r} is registered in {file_name}.py: use one name"
            self._parts[name] = part
            return part

        return enter

    def names(self) -> list[str]:
        """List the registered names by looking at the files, without importing them."""
        spec = importlib.util.find_spec(self.package)
        assert spec is not None, f"{self.package} is no package"
        folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
        files = (file for folder in folders for file in folder.glob("*.py"))
        return sorted(
            file.stem
            for file in files
            if f'.register("{file.stem}")' in file.read_text(encoding="utf-8")
        )

    def get(self, name: str) -> Part:
        """Import the one file of that name and return what it registered."""
        if name not in self._parts:
            if name not in self.names():
                raise unknown_name(self.kind, name, self.names())
            importlib.import_module(f"{self.package}.{name}")
        return self._parts[name]

    def build(self, name: str, *arguments: Any, options: Mapping[str, Any]) -> Any:
        """Call the part with its own options, each checked against what the part takes."""
        part = self.get(name)
        allowed = {
            parameter.name: parameter.annotation
            for parameter in inspect.signature(part).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        checked = {}
        for option, value in options.items():
            if option not in allowed:
                raise UserError(
                    f"{self.kind} {name!r} has no option {option!r}."
                    f"{did_you_mean(option, allowed)} It takes: {', '.join(allowed) or 'none'}."
                )
            checked[option] = self._checked(name, option, value, allowed[option])
        return part(*arguments, **checked)

    def _checked(self, name: str, option: str, value: Any, annotation: Any) -> Any:
        import pydantic  # here, so that listing names stays quick

        try:
            return pydantic.TypeAdapter(annotation).validate_python(value)
        except pydantic.ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise UserError(
                f"{self.kind} {name!r}: option {option} = {value!r} is not possible:"
                f" {problem[:1].lower()}{problem[1:]}."
            ) from None
