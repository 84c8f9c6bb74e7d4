"""Lists what was measured, and keeps the numbers in the documents equal to it.

    python benchmarks/results.py list     the results, the command for each, and how long it takes
    python benchmarks/results.py fill     write the numbers into README.md, LOG.md, docs/, courses/
    python benchmarks/results.py check    fail if a document shows a number that results/ does not

A document takes one number from results/NAME.json like this, with Python's format after the colon:

    <!-- result loop_overhead.value:.2f -->1.02<!-- /result -->

The whole table of results/table.yaml stands between one pair of markers:

    <!-- results -->
    <!-- /results -->
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(
    r"<!-- result (?P<name>\w+)\.(?P<path>[\w.]+?)(?P<format>:[^ ]*)? -->"
    r"(?P<shown>.*?)<!-- /result -->"
)
BLOCK = re.compile(r"(<!-- results -->\n).*?(<!-- /results -->)", re.DOTALL)
CELL = re.compile(r"\{(?P<name>\w+)\.(?P<path>[\w.]+?)(?P<format>:[^}]*)?\}")
ANY_MARK = re.compile(r"<!--\s*/?\s*results?\b[^>]*>")
FIELDS = {"claim", "value", "interval", "command", "seconds", "date", "machine", "runs"}
COLUMNS = ("what", "result", "command")


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Read every result, or leave naming the one that is not as it should be."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise SystemExit(f"{path} is not JSON: {error}") from None
        missing = sorted(FIELDS - result.keys())
        if missing:
            raise SystemExit(f"{path} lacks {', '.join(missing)}")
        found[path.stem] = result
    return found


def documents(root: Path) -> Iterator[Path]:
    """Yield the documents that may show a result."""
    patterns = ("*.md", "docs/**/*.md", "courses/**/*.md")
    yield from sorted(path for pattern in patterns for path in root.glob(pattern))


def number(match: re.Match[str], results: dict[str, dict[str, Any]], place: str) -> str:
    """Return the number that a placeholder names, formatted as it asks."""
    value: Any = results.get(match["name"])
    if value is None:
        known = ", ".join(results) or "none"
        raise SystemExit(f"{place}: no result is called {match['name']!r}; known: {known}")
    for step in match["path"].split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise SystemExit(f"{place}: {match['name']} has no {match['path']}") from None
    try:
        return format(value, (match["format"] or ":")[1:])
    except (ValueError, TypeError) as error:
        raise SystemExit(f"{place}: {value!r} cannot be written: {error}") from None


def table(path: Path, results: dict[str, dict[str, Any]]) -> str:
    """Return the rows of a file such as results/table.yaml as Markdown, with their numbers."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    if not isinstance(rows, list) or not rows:
        raise SystemExit(f"{path} has no list of rows, which the table of results is made from")
    for count, row in enumerate(rows, 1):
        if not isinstance(row, dict) or tuple(row) != COLUMNS:
            raise SystemExit(f"{path}, row {count}: must have the keys {', '.join(COLUMNS)}")
        written = partial(number, results=results, place=f"{path}, row {count}")
        shown = CELL.sub(written, str(row["result"]))
        lines.append(f"| {row['what']} | {shown} | {row['command']} |")
    return "\n".join(lines) + "\n"


def filled(text: str, results: dict[str, dict[str, Any]], place: Path, rows: Path) -> str:
    """Return a document with every placeholder's number, and the table, as the results have it."""

    def renewed(match: re.Match[str]) -> str:
        line = text[: match.start()].count("\n") + 1
        shown = number(match, results, f"{place}:{line}")
        start, end = (position - match.start() for position in match.span("shown"))
        return match[0][:start] + shown + match[0][end:]

    new = NUMBER.sub(renewed, text)
    new = BLOCK.sub(lambda block: block[1] + table(rows, results) + block[2], new)
    odd = ANY_MARK.search(BLOCK.sub("", NUMBER.sub("", text)))
    if odd:
        raise SystemExit(f"{place}: {odd[0]!r} is no placeholder that can be filled")
    return new


def fill(root: Path) -> list[Path]:
    """Write the numbers into the documents; return those that changed."""
    results, changed = read_results(root / "results"), []
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        new = filled(text, results, path, root / "results" / "table.yaml")
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


def check(root: Path) -> None:
    """Leave with an error if a document shows a number that the results do not have."""
    results = read_results(root / "results")
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        if filled(text, results, path, root / "results" / "table.yaml") != text:
            raise SystemExit(
                f"{path} shows a stale number; run `python benchmarks/results.py fill`"
            )


def main() -> None:
    """Do what the first argument says."""
    job = sys.argv[1] if len(sys.argv) == 2 else ""
    if job == "list":
        for name, result in read_results(ROOT / "results").items():
            low, high = result["interval"]
            print(f"{name}: {result['value']} [{low}, {high}], {result['date']}")
            print(f"    {result['claim']}")
            print(f"    {result['command']}   # about {result['seconds'] / 60:.0f} min")
    elif job == "fill":
        for path in fill(ROOT):
            print(f"filled {path.relative_to(ROOT)}")
    elif job == "check":
        check(ROOT)
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
