"""Writes docs/architecture.md, the map of rooms and files, from the files' docstrings.

python docs/build.py          # write it
python docs/build.py check    # fail if it is out of date
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE, PAGE = ROOT / "src" / "attnlab", ROOT / "docs" / "architecture.md"
ROOMS = (
    "cli web recipes report cluster evaluation checks tuning models data attention training"
    " geometry assets runs"
).split()
"""From the roof to the ground: each imports only from rooms below it."""
HEAD = """# Every file

[Design](design.md) explains how the parts fit together, and why. Each folder of `src/attnlab/`
imports only from the folders below it, which `tests/test_house.py` enforces.
This page is generated from the files' docstrings by `python docs/build.py`.

## How data flows

`cli/knowledge` → `recipes/knowledge/pretrain` → `data/knowledge_files` (text) →
`data/objectives/salient_spans` (rows of an epoch) → `data/batches` (one `TokenBatch` per step) →
`models/gpt` → `attention/variants/dot_product` → `training/loop` → `runs/NAME/` → `evaluation` →
`report`
"""


def summary(path: Path) -> str:
    """Return the first line of a file's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].replace("``", "`").replace("|", "\\|")


def table(files: list[Path], below: Path) -> str:
    """Return a table of files, each with what it says of itself."""
    lines = ["| file | what it holds |", "|---|---|"]
    lines += [
        f"| `{path.relative_to(below)}` | {text} |" for path in files if (text := summary(path))
    ]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for room in ROOMS:
        folder = PACKAGE / room
        files = [path for path in sorted(folder.rglob("*.py")) if path.name != "__init__.py"]
        parts.append(f"## {room}/\n\n{summary(folder / '__init__.py')}\n\n{table(files, folder)}")
    base = [path for path in sorted(PACKAGE.glob("*.py")) if path.name != "__init__.py"]
    parts.append(f"## The base\n\nImports nothing of ours.\n\n{table(base, PACKAGE)}")
    for name in ("benchmarks", "courses"):
        files = sorted((ROOT / name).rglob("*.py"))
        parts.append(f"## {name}/\n\n{table(files, ROOT / name)}")
    return "\n".join(parts)


def main() -> None:
    """Write the page, or check it."""
    if sys.argv[1:] == ["check"]:
        if PAGE.read_text(encoding="utf-8") != page():
            sys.exit("docs/architecture.md is stale: run `python docs/build.py`.")
        return
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
