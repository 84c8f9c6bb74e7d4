"""Adds reference.md to the manual, what a program may import: a hook of mkdocs.

The page is written when the site is built, by reading the files and not by importing them.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PACKAGE = Path(__file__).parent.parent / "src" / "attnlab"
MODULES = {
    "Attention": ("attention/contract", "attention/functional", "attention/softmax_core"),
    "Models": ("models/gpt", "models/bert", "models/decoding"),
    "Training": ("training/task", "training/loop", "training/settings"),
    "Runs": ("runs/directory", "runs/predictions", "runs/metrics"),
    "Evaluation": ("evaluation/intervals", "evaluation/significance", "evaluation/comparison"),
    "Geometry": ("geometry/instance", "geometry/weights", "geometry/outputs"),
    "The base": ("registry", "randomness", "errors"),
}
"""What is worth importing, by subject. The page on every file lists the rest."""
HEAD = """# Python reference

What you may want to import, with its docstrings. The shapes in signatures use the letters B
(batch), T (tokens), S (keys), D (width), H (heads), K = D/H and V (vocabulary).
[Every file](architecture.md) lists all other modules. Settings have a reference of their own:
`attnlab run JOB --settings` prints every setting of a job with its meaning.
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for subject, modules in MODULES.items():
        parts.append(f"## {subject}\n")
        for module in modules:
            parts += described(module)
    return "\n".join(parts)


def described(module: str) -> Iterator[str]:
    """Yield what a module, its classes and its functions say of themselves."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    yield f"### attnlab.{module.replace('/', '.')}\n\n{_text(tree)}\n"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_public(node):
            yield _entry(node, "####")
        if isinstance(node, ast.ClassDef) and _is_public(node):
            yield f"#### class {node.name}\n\n{_text(node)}\n"
            fields = list(_fields(node.body))
            if fields:
                yield "\n".join(["| field | meaning |", "|---|---|", *fields]) + "\n"
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and _is_public(method):
                    yield _entry(method, "#####")


def _is_public(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return not node.name.startswith("_") and bool(ast.get_docstring(node))


def _text(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return (ast.get_docstring(node) or "").replace("``", "`")


def _entry(node: ast.FunctionDef, level: str) -> str:
    arguments = ast.unparse(node.args)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    signature = f"{node.name}({arguments}){returned}"
    if len(signature) > 88:
        lines = arguments.replace(", *", ",\n    *")
        signature = f"{node.name}(\n    {lines}\n){returned}"
    return f"{level} {node.name}\n\n```python\n{signature}\n```\n\n{_text(node)}\n"


def _fields(body: list[ast.stmt]) -> Iterator[str]:
    """Yield a class's fields that have a docstring below them."""
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                meaning = " ".join(text.split()).replace("``", "`").replace("|", "\\|")
                yield f"| `{name}` | {meaning} |"


def on_files(files: Files, config: Any) -> Files:
    """Add the page to those of the folder."""
    files.append(File.generated(config, "reference.md", content=page()))
    return files
