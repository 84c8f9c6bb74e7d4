"""Flags as a printed document has them are refused with what to write instead."""

import argparse
import sys
from pathlib import Path

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
