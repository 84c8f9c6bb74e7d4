"""What the graders share: submissions, processes with limits, and a class of students."""

import argparse
import csv
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from course_files import COURSE, exit_code, load
from grading import classroom, probing, sandbox, submission
from grading.findings import Finding, Part
from grading.knowledge import corruption, probe, synthesizer

from attnlab.errors import UserError

ASSIGNMENT = classroom.Assignment(["src"], {"1(a)": 4, "1(b)": 6}, "1(c), 2 points.")
Run = Callable[..., None]


def submit(folder: Path, **files: str) -> Path:
    """Write a student's src/."""
    (folder / "src").mkdir(parents=True)
    for name, text in files.items():
        (folder / "src" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def graded_by_first_word(folder: Path, _: sandbox.Limits) -> list[Part]:
    """Grade by what src/work.py says, without running it."""
    word = (folder / "src" / "work.py").read_text(encoding="utf-8")
    found = [Finding("word", word == "right", "right", f"it says {word}")]
    return [Part("1(a)", "a word", found, 4), Part("1(b)", "the same", found, 6)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    classroom.add_arguments(parser)

    def go(*words: str) -> None:
        classroom.grade_class(parser.parse_args(words), ASSIGNMENT, graded_by_first_word)

    return go


def rows(folder: str = "grades") -> dict[str, dict[str, str]]:
    with Path(folder, "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_a_class_gets_a_table_and_a_file_each(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(tmp_path / "ada", work="right")
    submit(tmp_path / "bob", work="wrong")
    run("ada", "bob")
    assert capsys.readouterr().out.splitlines() == [
        "ada: 10 of 10 points (1(a) 4; 1(b) 6)",
        "bob: 0 of 10 points (1(a) 0; 1(b) 0)",
        "grades/grades.csv has the grades; one file per student alongside says why.",
    ]
    assert rows()["ada"] == {
        "student": "ada", "1(a)": "4", "1(b)": "6", "total": "10", "of": "10", "why": "",
    }  # fmt: skip
    assert rows()["bob"]["why"] == "1(a) word: it says wrong | 1(b) word: it says wrong"
    feedback = Path("grades/bob.txt").read_text(encoding="utf-8")
    assert "FAILED      word: it says wrong (wanted: right)" in feedback
    assert feedback.endswith("by hand: 1(c), 2 points.\n")


def test_who_is_graded_again_gets_a_new_row_and_nobody_loses_theirs(
    run: Run, tmp_path: Path
) -> None:
    for name in ("ada", "bob"):
        submit(tmp_path / name, work="wrong")
    run("ada", "bob")
    (tmp_path / "bob" / "src" / "work.py").write_text("right")
    run("bob")
    assert {name: row["total"] for name, row in rows().items()} == {"ada": "0", "bob": "10"}


def test_the_table_of_another_assignment_is_left_alone(run: Run, tmp_path: Path) -> None:
    submit(tmp_path / "ada", work="right")
    Path("grades").mkdir()
    Path("grades/grades.csv").write_text("student,mark\nada,1\n")
    with pytest.raises(UserError, match=r"another assignment: it has the columns student, mark\."):
        run("ada")
    assert Path("grades/grades.csv").read_text() == "student,mark\nada,1\n"


def test_who_cannot_be_graded_is_listed_and_the_others_are_graded(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(tmp_path / "ada", work="right")
    (tmp_path / "bob" / "scr").mkdir(parents=True)
    (tmp_path / "cy.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(SystemExit, match="2"):
        run("bob", "cy.zip", "nobody", "ada")
    assert rows()["ada"]["total"] == "10"
    assert rows()["bob"]["why"].endswith("zip of a submission. Did you mean 'scr'?")
    assert (rows()["bob"]["total"], rows()["bob"]["1(a)"]) == ("", "")
    assert rows()["cy"]["why"] == "cy.zip is neither a folder nor a zip."
    assert rows()["nobody"]["why"] == "there is no nobody."
    assert capsys.readouterr().err.count("grade.py: ") == 3


def test_what_the_grader_cannot_take_does_not_keep_the_others_from_being_graded(
    run: Run, tmp_path: Path
) -> None:
    submit(tmp_path / "ada")
    submit(tmp_path / "bob", work="right")
    with pytest.raises(SystemExit, match="2"):
        run("ada", "bob")
    assert rows()["ada"]["why"].startswith("ada: the grader failed: FileNotFoundError: ")
    assert rows()["bob"]["total"] == "10"


def test_a_folder_with_two_submissions_is_refused(run: Run, tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        submit(tmp_path / "class" / name, work="right")
    with pytest.raises(SystemExit, match="2"):
        run("class")
    assert rows()["class"]["why"] == (
        "class holds 2 submissions: ada, bob. Give one folder or zip per student, such as class/*."
    )
    assert rows()["class"]["total"] == ""


def test_two_submissions_of_one_student_are_refused(run: Run, tmp_path: Path) -> None:
    submit(tmp_path / "ada", work="right")
    with pytest.raises(UserError, match=r"^ada and assignment_ada\.zip are both of ada: give one"):
        run("ada", "assignment_ada.zip")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (["src", "old/src"], "holds 2 submissions: the folder itself, old"),
        (["a.zip", "b.zip"], "holds 2 submissions: a.zip, b.zip"),
        (["only/src", "__MACOSX/src", ".git/src"], None),
        (["only/other"], "holds no src: give the folder or the zip of a submission."),
    ],
)
def test_which_folder_is_meant(tmp_path: Path, make: list[str], said: str | None) -> None:
    for name in make:
        (tmp_path / name).mkdir(parents=True)
    if said is None:
        with submission.opened(tmp_path, ["src"]) as folder:
            assert folder == tmp_path / "only"
        return
    with pytest.raises(UserError, match=said), submission.opened(tmp_path, ["src"]):
        pass


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "much"])
def test_limits_are_above_0(run: Run, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("ada", "--memory-limit", limit)
    assert f"{limit} is not possible: give a number above 0." in capsys.readouterr().err


@pytest.mark.parametrize("text", ["55", "-0.1", "nan", "half"])
def test_a_threshold_is_a_share(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text} is not possible: give a share"):
        classroom.share(text)
    assert classroom.share("0.55") == 0.55


def test_a_program_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    file = submit(tmp_path, dataset="while True:\n    pass\n") / "src" / "dataset.py"
    part = corruption.grade(sandbox.ask(probe, file, corruption.request(), sandbox.Limits(1)))
    assert part.findings[0].seen == "it took longer than 1 seconds and was stopped"
    assert part.points == 0
    assert all(finding.passed is None for finding in part.findings[1:])


def test_what_our_imports_took_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(probing.resource, "setrlimit", set_to.__setitem__)
    monkeypatch.setattr(probing.time, "process_time", lambda: 7.4)
    monkeypatch.setattr(sys, "path", list(sys.path))
    request, answer = tmp_path / "request.json", tmp_path / "answer.npz"
    request.write_text(json.dumps({"kind": "nothing", "seconds": 2, "bytes": 1}))
    monkeypatch.setattr(sys, "argv", ["probe", "work.py", str(request), str(answer)])
    probing.main({"nothing": lambda *_: ({}, {})})
    assert set_to[probing.resource.RLIMIT_CPU] == (10, 11)


def test_a_program_that_leaves_without_an_answer_is_reported(tmp_path: Path) -> None:
    text = "import os, sys\nprint('bye', file=sys.stderr, flush=True)\nos._exit(7)\n"
    file = submit(tmp_path, attention=text) / "src" / "attention.py"
    runs, *_ = synthesizer.grade(
        sandbox.ask(probe, file, synthesizer.request(), sandbox.Limits(600))
    )
    assert runs.seen == "it ended with exit code 7 and gave no answer: bye"
    missing = sandbox.ask(probe, file.with_name("attentoin.py"), {}, sandbox.Limits())
    assert missing[0]["fatal"] == "there is no src/attentoin.py. Did you mean 'attention.py'?"


def test_a_notebook_is_taken_as_it_is(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# My work"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "if 1:\n", "    !ls\n", "a = 1"]},
        {"cell_type": "code", "source": ["def Answer(): return a"]},
    ]
    file = tmp_path / "work.ipynb"
    file.write_text(json.dumps({"cells": cells}))
    assert probing.find(file, "Answer")() == 1
    with pytest.raises(AttributeError, match=r"work\.ipynb has no Answers\. Did you mean 'Answer'"):
        probing.find(file, "Answers")


def test_a_damaged_zip_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("src/dataset.py", "x" * 1000)
    content = bytearray(path.read_bytes())
    content[100] ^= 255
    path.write_bytes(content)
    with (
        pytest.raises(UserError, match=r"a\.zip cannot be unpacked: Bad CRC"),
        submission.opened(path, ["src"]),
    ):
        pass


def test_nothing_is_unpacked_outside_and_nothing_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("work/src/dataset.py", "")
        out.writestr("../../outside.py", "")
    with submission.opened(path, ["src"]) as folder:
        assert (folder.name, (folder / "src" / "dataset.py").is_file()) == ("work", True)
    assert not list(tmp_path.parent.glob("outside.py"))
    monkeypatch.setattr(submission, "LARGEST", -1)
    with (
        pytest.raises(UserError, match=r"unpacks to 0 bytes; at most -1 are taken"),
        submission.opened(path, ["src"]),
    ):
        pass


@pytest.mark.slow
def test_a_class_of_five_with_one_broken_one_endless_and_one_misnamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = {path.stem: path.read_text() for path in (COURSE / "src").glob("*.py")}
    changed: dict[str, dict[str, Any]] = {
        "ada": {},
        "broken": {"dataset": "def ("},
        "endless": {"dataset": "while True: pass"},
        "misnamed": {"dataset": source["dataset"].replace("CharCorruption", "Corruption")},
        "zoe": {},
    }
    for name, files in changed.items():
        submit(tmp_path / name, **(source | files))
    main = load("grade.py")
    fewer = corruption.request(few=10, many=1500)
    monkeypatch.setattr(main.corruption, "request", lambda seed: fewer | {"seed": seed})
    monkeypatch.setattr(sys, "argv", ["grade.py", *changed, "--time-limit", "20"])
    assert exit_code(main) == 0
    found = rows()
    assert {name: row["2(e)"] for name, row in found.items()} == {
        "ada": "10", "broken": "0", "endless": "0", "misnamed": "0", "zoe": "10",
    }  # fmt: skip
    assert "2(e) runs: SyntaxError" in found["broken"]["why"]
    assert "2(e) runs: it took longer than 20 seconds and was stopped" in found["endless"]["why"]
    assert "Did you mean 'CorruptionDataset'?" in found["misnamed"]["why"]
    assert len(capsys.readouterr().out.splitlines()) == 6
