"""The numbers in the documents are those in results/."""

import json
from pathlib import Path

import pytest

import results

RESULT = {
    "claim": "ours over theirs",
    "value": 1.0183,
    "interval": [0.95, 1.09],
    "command": "python benchmarks/x.py",
    "seconds": 90,
    "date": "2026-01-02",
    "machine": {},
    "runs": {},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "speed.json").write_text(json.dumps(RESULT))
    return tmp_path


def page(project: Path, text: str) -> Path:
    path = project / "README.md"
    path.write_text(text)
    return path


def check_fails_until_filled(project: Path, path: Path) -> str:
    """Return the page as it is once the numbers are filled in."""
    with pytest.raises(SystemExit, match="shows a stale number"):
        results.check(project)
    assert results.fill(project) == [path]
    results.check(project)
    assert results.fill(project) == []
    return path.read_text()


def test_the_projects_own_documents_are_up_to_date() -> None:
    results.check(results.ROOT)


def test_numbers_are_filled_in_and_then_pass_the_check(project: Path) -> None:
    path = page(project, "a\n<!-- result speed.value:.2f -->0<!-- /result --> and\n"
                "<!-- result speed.interval.1 -->?<!-- /result -->")  # fmt: skip
    filled = check_fails_until_filled(project, path)
    assert "-->1.02<!--" in filled
    assert "-->1.09<!--" in filled


END = "1<!-- /result -->"
ODD = {
    "hyphen": f"<!-- result speed-up.value -->{END}",
    "no space": f"<!-- result speed.value:.2f-->{END}",
    "not closed": "<!-- result speed.value -->1",
    "no first space": f"<!--result speed.value -->{END}",
    "own line": f"<!-- result speed.value -->\n{END}",
    "wrong format": f"<!-- result speed.value:d -->{END}",
}


@pytest.mark.parametrize("mark", ODD.values(), ids=ODD.keys())
def test_a_placeholder_that_cannot_be_filled_fails(mark: str, project: Path) -> None:
    page(project, mark)
    with pytest.raises(SystemExit, match=r"README.md"):
        results.check(project)


def test_a_result_without_its_command_is_refused(project: Path) -> None:
    broken = {k: v for k, v in RESULT.items() if k != "command"}
    (project / "results" / "speed.json").write_text(json.dumps(broken))
    with pytest.raises(SystemExit, match=r"speed.json lacks command"):
        results.check(project)


TABLE = "a\n<!-- results -->\n<!-- /results -->\nb\n"


def rows(project: Path, result: str) -> None:
    row = f'- what: Ours over theirs\n  result: "{result}"\n  command: "`x.py`"\n'
    (project / "results" / "table.yaml").write_text(row)


def test_the_table_is_filled_in_between_its_markers_and_then_passes_the_check(
    project: Path,
) -> None:
    rows(project, "{speed.value:.2f} (at most {speed.interval.1})")
    path = page(project, TABLE)
    assert check_fails_until_filled(project, path) == (
        "a\n<!-- results -->\n| what | result | command |\n|---|---|---|\n"
        "| Ours over theirs | 1.02 (at most 1.09) | `x.py` |\n<!-- /results -->\nb\n"
    )


UNKNOWN = {
    "sped.value": "no result is called 'sped'; known: speed",
    "speed.valu": "speed has no valu",
    "speed.interval.7": "speed has no interval.7",
    "speed.value:d": "1.0183 cannot be written",
}


@pytest.mark.parametrize("number", UNKNOWN)
def test_an_unknown_number_fails_on_a_page_and_in_the_table(number: str, project: Path) -> None:
    page(project, f"a\n<!-- result {number} -->0<!-- /result -->")
    with pytest.raises(SystemExit, match=f"README.md:2: {UNKNOWN[number]}"):
        results.check(project)
    rows(project, f"{{{number}}}")
    page(project, TABLE)
    with pytest.raises(SystemExit, match=f"table.yaml, row 1: {UNKNOWN[number]}"):
        results.check(project)


def test_a_table_without_rows_or_with_other_columns_fails(project: Path) -> None:
    page(project, TABLE)
    with pytest.raises(SystemExit, match=r"table.yaml has no list of rows"):
        results.check(project)
    (project / "results" / "table.yaml").write_text("- what: Ours over theirs\n")
    with pytest.raises(SystemExit, match=r"row 1: must have the keys what, result, command"):
        results.check(project)


@pytest.mark.parametrize(
    "mark",
    ["<!-- results -->\n", "<!-- /results -->\n", "<!-- results --> <!-- /results -->"],
    ids=["not closed", "not opened", "one line"],
)
def test_a_table_that_cannot_be_filled_fails(mark: str, project: Path) -> None:
    rows(project, "{speed.value}")
    page(project, mark)
    with pytest.raises(SystemExit, match=r"README.md"):
        results.check(project)
