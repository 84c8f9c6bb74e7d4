"""Every written question of the assignments has an answer, and every answer a test that is run."""

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

from commands_here import run_main

ROOT = Path(__file__).parents[2]
PAGES = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "answers").glob("*.md"))
)
HERE = "tests/answers/test_answers_index.py"


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """Return what the program defines that makes the page."""
    return runpy.run_path(str(ROOT / "docs" / "answers.py"))


def test_the_table_is_what_the_pages_give(made: dict[str, Any]) -> None:
    folder = ROOT / "docs" / "answers"
    assert (folder / "index.md").read_text(encoding="utf-8") == made["index"](folder)


def test_all_questions_of_all_documents_are_in_the_table(made: dict[str, Any]) -> None:
    """Counted in the documents: 17; 9 and a report; 16; 12; and two versions with 19 and 18."""
    counts = [len(document.questions) for document in made["DOCUMENTS"]]
    assert counts == [17, 10, 16, 12, 19, 18]
    table = (ROOT / "docs" / "answers" / "index.md").read_text(encoding="utf-8")
    assert table.count("](knowledge.md#") == 17
    assert table.count("](boolq.md#") == 19 + 18


def page(folder: Path, *answers: str) -> Path:
    path = folder / "page.md"
    path.write_text("# Answers\n\n" + "\n".join(f"### {answer}\n" for answer in answers))
    return path


CHECKED = f"Check: `{HERE}::test_the_table_is_what_the_pages_give`"
RIGHT = [f"1(a): One\n\nText.\n\n{CHECKED}", f"1(b): Two words\n\n```\n# a = b\n```\n\n{CHECKED}"]


def test_a_page_is_read_answer_by_answer(made: dict[str, Any], tmp_path: Path) -> None:
    path = page(tmp_path, *RIGHT)
    made["check_page"](path, [made["Document"]("x", "page.md", {"1": "1(a)", "2": "1(b)"})])
    found = made["read_answers"](path)["1(b)"]
    assert (found.title, found.anchor) == ("Two words", "1b-two-words")
    assert found.checks == (f"{HERE}::test_the_table_is_what_the_pages_give",)


SLURM = "tests/slurm/test_slurm_course.py::test_the_launchpad_leaves_the_figure_of_step_5"
DATA = "tests/answers/test_answers_sst2.py::test_the_lengths_of_the_splits"
WRONG = {
    "no answer": (RIGHT[:1], r"x has no answer to 1\(b\)"),
    "no question": ([*RIGHT, f"2: Three\n\n{CHECKED}"], "no question has the number 2"),
    "twice": ([*RIGHT, RIGHT[0]], r"answers 1\(a\) twice"),
    "order": (RIGHT[::-1], "not in the order of x"),
    "no check": ([RIGHT[0], "1(b): Two\n\nText."], r"no test .* checks 1\(b\)"),
    "no file": ([RIGHT[0], "1(b): Two\n\n`tests/test_none.py::test_x`"], "there is no file tests"),
    "no test": ([RIGHT[0], f"1(b): Two\n\n`{HERE}::test_x`"], "has no test test_x"),
    "on Slurm only": ([RIGHT[0], f"1(b): Two\n\n`{SLURM}`"], r"no test .* checks 1\(b\)"),
    "with data only": ([RIGHT[0], f"1(b): Two\n\n`{DATA}`"], r"no test .* checks 1\(b\)"),
}


@pytest.mark.parametrize(("answers", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_missing_is_named(
    made: dict[str, Any], tmp_path: Path, answers: list[str], message: str
) -> None:
    document = made["Document"]("x", "page.md", {"1": "1(a)", "2": "1(b)"})
    with pytest.raises(SystemExit, match=message):
        made["check_page"](page(tmp_path, *answers), [document])


def commands() -> list[str]:
    """Return the commands of attnlab that the pages show, in blocks and within sentences."""
    blocks = "".join(re.findall(r"```bash\n(.*?)```", PAGES, re.DOTALL))
    quoted = "\n".join(re.findall(r"`(attnlab [^`\n]+)`", PAGES))
    return list(dict.fromkeys(f"{blocks}{quoted}".splitlines()))


@pytest.mark.parametrize("command", commands())
def test_every_command_exists_with_its_options(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, *words = shlex.split(command)
    assert run_main(monkeypatch, *words, "--help") == 0, capsys.readouterr().err


def test_every_program_and_target_exists() -> None:
    programs = set(re.findall(r"\bpython ((?:benchmarks|courses|docs)/\S+\.py)", PAGES))
    assert len(programs) > 5
    assert [program for program in programs if not (ROOT / program).is_file()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z-]+)`", PAGES)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
