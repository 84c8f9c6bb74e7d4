"""Reads a student's notebook: the definitions to check and what they need, nothing else.

A notebook also plots and trains. Of its top level only those statements are run that define what is
to be checked, or what that needs in turn; magics and shell commands are skipped. A notebook that
was downloaded as a Python file is read in the same way.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator, Set
from dataclasses import dataclass
from importlib.abc import InspectLoader
from pathlib import Path
from types import CodeType, ModuleType

from attnlab.checks.findings import FAILURES
from attnlab.errors import UserError
from attnlab.registry import load_file
from attnlab.users_code import USERS

SHELL = re.compile(r"^([ \t]*)(?:[\w, ]+= *)?[!%].*$|^([ \t]*)[\w.]+[ \w.]*\?+$", re.MULTILINE)
EXPORTED = "get_ipython()"
"""Stands in a Python file where a notebook had a magic or a shell command."""


@dataclass(frozen=True)
class _Statement:
    """One statement of the top level, with the names it defines and uses."""

    node: ast.stmt
    code: CodeType
    defines: frozenset[str]
    uses: frozenset[str]


def load_submission(path: Path, wanted: Set[str]) -> ModuleType:
    """Load a student's notebook or Python file; ``wanted`` are the functions to check."""
    if not path.is_file():
        raise UserError(f"there is no file {path}.")
    if path.suffix not in (".py", ".ipynb"):
        raise UserError(f"{path} is neither a Python file (.py) nor a notebook (.ipynb).")
    sys.path.insert(0, str(path.parent.resolve()))  # as Python and Jupyter do
    if path.suffix == ".py" and EXPORTED not in path.read_text(encoding="utf-8", errors="replace"):
        return load_file(path)
    statements = list(_statements(path))
    classes = {s.node.name for s in statements if _is_layer(s.node) and hasattr(s.node, "name")}
    there = {name for one in statements for name in one.defines}
    strict = _closure(statements, wanted & there or classes)
    module = ModuleType(f"{USERS}{path.stem}")
    sys.modules[module.__name__] = module
    for statement in _needed(statements, _closure(statements, (wanted & there) | classes)):
        _execute(statement, module, is_strict=bool(statement.defines & strict))
    return module


def _statements(path: Path) -> Iterator[_Statement]:
    """Give the statements of all code cells, in their order."""
    for place, source in _cells(path):
        for node in _parsed(source, place).body:
            code = compile(ast.Module([node], []), place, "exec")
            yield _Statement(node, code, frozenset(_defined(node)), frozenset(_used(code)))


def _cells(path: Path) -> Iterator[tuple[str, str]]:
    """Give the code cells with their places; a Python file is one cell."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 at byte {error.start}.") from None
    if path.suffix == ".py":
        yield str(path), text
        return
    try:
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path} is no notebook: it holds no JSON with cells.") from None
    for number, source in enumerate(sources, 1):
        if not source.startswith("%%") or source.startswith(("%%time", "%%capture")):
            yield f"{path}, code cell {number}", source


def _parsed(source: str, place: str) -> ast.Module:
    """Parse a cell; if it is not Python, without its magics and shell commands."""
    try:
        return ast.parse(source, place)
    except SyntaxError:
        pass
    try:
        return ast.parse(SHELL.sub(lambda m: f"{m[1] or m[2] or ''}pass", source), place)
    except SyntaxError as error:
        raise UserError(f"{place}, line {error.lineno or 1}: {error.msg}.") from error


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    parts = list(ast.walk(node))
    inner = {id(n) for p in parts if isinstance(p, ast.comprehension) for n in ast.walk(p.target)}
    for part in parts:
        match part:
            case ast.Name(id=name, ctx=ast.Store()) if id(part) not in inner:
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def _used(code: CodeType) -> Iterator[str]:
    """Give the names that it looks up outside itself, those of attributes among them."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _used(inner)


def _is_layer(node: ast.stmt) -> bool:
    """Whether it is a class with a forward method."""
    return isinstance(node, ast.ClassDef) and any(
        isinstance(part, ast.FunctionDef) and part.name == "forward" for part in node.body
    )


def _closure(statements: list[_Statement], wanted: Set[str]) -> set[str]:
    """Add the names that the wanted ones need, and those that these need."""
    known: set[str] = set(wanted)
    while True:
        needed = {name for one in statements if one.defines & known for name in one.uses}
        if needed <= known:
            return known
        known |= needed


def _needed(statements: list[_Statement], names: Set[str]) -> list[_Statement]:
    """Pick what defines one of the names; a call for its effect alone defines nothing."""
    return [one for one in statements if one.defines & names or "*" in one.defines]


class _Loader(InspectLoader):
    """Loads one statement into a module, as a Python file is loaded whole."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def get_source(self, fullname: str) -> None:  # noqa: ARG002
        return None

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.code


def _execute(statement: _Statement, module: ModuleType, *, is_strict: bool) -> None:
    """Run one statement; only what the wanted functions need must succeed."""
    try:
        _Loader(statement.code).exec_module(module)
    except FAILURES as error:
        if is_strict:
            place = f"{statement.code.co_filename}, line {statement.node.lineno}"
            message = str(error).partition("\n")[0]
            raise UserError(f"{place} fails: {type(error).__name__}: {message}.") from error
