"""Flags as a printed document has them are refused with what to write instead."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest

from attnlab.cli.course import run_command


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py")
    parser.add_argument("--reading_params_path")
    parser.add_argument("--outputs_path")
    parser.add_argument("--to-the-letter", action="store_true")
    parser.add_argument("--shift", type=int)
    return parser


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("— outputs_path a", "— has the wrong dash"),
        ("—outputs_path a", "—outputs_path has the wrong dash, as printed texts do: write --outp"),
        ("–outputs_path a", "write --outputs_path."),
        ("−outputs_path a", "write --outputs_path."),
        ("-outputs_path a", "-outputs_path has the wrong dash"),
        ("-to-the-letter", "write --to-the-letter."),
        ("-- outputs_path a", "'-- outputs_path' has a blank in it: write --outputs_path."),
        ("-- reading params path a", "'-- reading' has a blank in it: write --reading_params_path"),
        ("--outputs_path a --", "'-- ' has a blank in it"),
    ],
)
def test_a_printed_dash_is_refused_with_what_to_write(
    parser: argparse.ArgumentParser, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], words: str, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["run.py", *words.split()])
    with pytest.raises(SystemExit, match="2"):
        run_command(parser, lambda _: pytest.fail("it ran"), folder=Path())
    error = capsys.readouterr().err
    assert said in error
    assert (error.startswith("run.py: "), error.count("\n")) == (True, 1)


@pytest.mark.parametrize("words", ["", "--outputs_path a-b_c", "--shift -1", "--to-the-letter"])
def test_what_is_right_runs(
    parser: argparse.ArgumentParser, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", *words.split()])
    ran: list[argparse.Namespace] = []
    run_command(parser, ran.append, folder=Path())
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("json.loads('{')", "src/work.py, line 3 fails: JSONDecodeError: Expecting property name"),
        ("json.load(", "src/work.py, line 3 fails: SyntaxError: '(' was never closed"),
        (
            "raise NotImplementedError('[part e]: do it.')",
            "line 3 is not written yet: [part e]: do",
        ),
        ("open('none')", "src/work.py, line 3 fails: FileNotFoundError: "),
    ],
)
def test_an_error_in_a_file_of_the_folder_names_its_line(
    parser: argparse.ArgumentParser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], line: str, said: str,
) -> None:  # fmt: skip
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "work.py"
    file.write_text(f"import json\ndef work():\n    {line}\n")
    monkeypatch.setattr(sys, "argv", ["run.py"])
    monkeypatch.chdir(tmp_path)

    def work(_: argparse.Namespace) -> None:
        names: dict[str, Any] = {}
        exec(compile(file.read_text(), str(file), "exec"), names)
        names["work"]()

    with pytest.raises(SystemExit, match="2"):
        run_command(parser, work, folder=file.parent)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
