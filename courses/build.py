"""Makes the courses' notebooks from their sources: NAME.py gives NAME.ipynb and a student's.

    python courses/build.py           # write them
    python courses/build.py check     # exit with 1 if one of them is not what its source gives

The student's version has no solutions (``markers``).
"""

import sys
from pathlib import Path

import jupytext
import nbformat
from markers import complete, for_students

COURSES = Path(__file__).parent
SOURCES = sorted(
    path
    for path in COURSES.glob("*/*.py")
    if path.read_text(encoding="utf-8").startswith("# %% [markdown]")
)


def notebook(source: str) -> str:
    """Return the notebook as a file's text; cells are numbered, so that it never changes."""
    made = jupytext.reads(source, fmt="py:percent")
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return str(nbformat.writes(made, indent=1)) + "\n"


def outputs(source_file: Path) -> dict[Path, str]:
    """Return every file that a source gives, with its text."""
    source = source_file.read_text(encoding="utf-8")
    return {
        source_file.with_suffix(".ipynb"): notebook(complete(source)),
        source_file.with_name(f"{source_file.stem}_student.ipynb"): notebook(for_students(source)),
    }


def main() -> None:
    """Write the notebooks, or check them."""
    stale = []
    for source_file in SOURCES:
        for path, text in outputs(source_file).items():
            if sys.argv[1:] != ["check"]:
                path.write_text(text, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path)
    for path in stale:
        print(f"{path.relative_to(COURSES.parent)} is not what its source gives: make courses")
    sys.exit(bool(stale))


if __name__ == "__main__":
    main()
