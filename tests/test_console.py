"""Everything is shown by one kind of console, which takes no text for markup and cuts none."""

import ast
import io
from pathlib import Path

import pytest

import attnlab
from attnlab.console import Console
from attnlab.report.one_line import OneLineTable
from attnlab.report.terminal import add_row, table_of

PACKAGE = Path(attnlab.__file__).parent
COURSES = PACKAGE.parents[1] / "courses"
MAKERS = {"rich.console.Console", "rich.progress.TextColumn", "rich.text.Text.from_markup"}


def made_elsewhere(source: str) -> list[int]:
    """Return the lines that make a console of rich's own, or a text with markup."""
    tree = ast.parse(source)
    of_rich = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich")
        for alias in node.names
        if f"{node.module}.{alias.name}" in MAKERS
    }
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        node.lineno
        for node in called
        if (isinstance(node.func, ast.Name) and node.func.id in of_rich)
        or (isinstance(node.func, ast.Attribute) and node.func.attr == "from_markup")
    ]


def test_every_console_is_made_in_one_file() -> None:
    files = [*PACKAGE.rglob("*.py"), *COURSES.rglob("*.py")]
    found = {
        path.name: lines
        for path in files
        if (lines := made_elsewhere(path.read_text(encoding="utf-8")))
    }
    assert found.keys() == {"console.py"}


@pytest.mark.parametrize(
    "line", ["Console()", "print(Console(stderr=True))", "Text.from_markup('[b]x')"]
)
def test_a_console_made_elsewhere_is_found(line: str) -> None:
    assert made_elsewhere(f"from rich.console import Console\n{line}\n") == [2]


@pytest.mark.parametrize("text", ["exp [a1]", "ru[/b]ns", ":smile:", "[bold]x[/bold]"])
def test_text_is_shown_as_it_is(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Console().print(text)
    table = table_of(text)
    add_row(table, text)
    Console().print(table)
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == [text] * 3


def printed(view: object, width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    console, out = Console(), io.StringIO()
    console.file = out
    console.print(view)
    return out.getvalue()


@pytest.mark.parametrize("width", [10, 30])
def test_a_number_is_whole_on_any_screen(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ["51.23%", "[48.10%,", "54.36%]", "1,234,567", "0.00012", "99.50"]
    table = table_of("a long name of a run", *numbers)
    add_row(table, "another_long_name_of_a_run_without_spaces", *numbers)
    shown = printed(table, width, monkeypatch)
    assert all(shown.count(number) == 2 for number in numbers)
    assert "…" not in shown
    rows = OneLineTable(["name", *numbers], [["another long name", *numbers]])
    assert all(printed(rows, width, monkeypatch).count(number) == 2 for number in numbers)
