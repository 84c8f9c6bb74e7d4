"""Runs on a terminal, made by hand and read as plain text."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from attnlab.errors import DamagedFileError
from attnlab.report.run_list import lines_view, run_line
from attnlab.report.terminal import (
    answers,
    run_progress,
    run_story,
    scores_view,
    written,
)
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.metrics import MetricsFile

SETTINGS = {"seed": 3, "model": {"width": 1234}, "optimizer": {"options": {}}}


def accuracy(right: int, n: int, interval: list[float], city: str, at: int) -> dict[str, object]:
    baseline = {"name": f"always {city}", "answer": city, "value": at / n, "right": at}
    score = {"metric": "accuracy", "value": right / n, "right": right, "n": n}
    return {**score, "interval": interval, "baseline": baseline}


SCORES = {
    "dev": accuracy(2, 4, [0.15, 0.85], "Oslo", 1),
    "test": accuracy(1200, 1200, [0.9968, 1.0], "Lima", 60),
}
RECORD = {
    "scores": SCORES,
    "best_step": 1500,
    "tokens": 2_000_000,
    "training_seconds": 12.5,
    "commit": None,
}


def shown(renderable: RenderableType, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def words(renderable: RenderableType) -> list[list[str]]:
    """Give the words of each line that is not empty."""
    return [line.split() for line in shown(renderable).splitlines() if line.strip()]


def make_run(root: Path, name: str = "mine") -> Run:
    run = Run.begin("job", SETTINGS, RunPlace(root, name))
    run.resolve_once("hardware", lambda: {"device": "cpu", "precision": "float32"})
    return run


def log(run: Run, *lines: dict[str, Any]) -> None:
    metrics = MetricsFile(run.path / "metrics.jsonl", keep=0)
    for line in lines:
        metrics.append(line)
    metrics.close()


def test_a_run_that_logged_nothing_is_begun(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert run_progress(run) == "stopped, begun"
    run.resolve_once("steps", lambda: 2000)
    assert run_progress(run) == "stopped, step 0 of 2,000"


def test_an_unfinished_run_tells_its_step(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.resolve_once("steps", lambda: 2000)
    log(run, {"step": 10, "loss": 3.0}, {"step": 1200, "loss": 2.0})
    assert run_progress(run) == "stopped, step 1,200 of 2,000"


def test_a_finished_run_is_finished(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.finish(RECORD)
    assert run_progress(run) == "finished"


def test_the_story_of_an_unfinished_run_has_settings_and_no_scores(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert words(run_story(run)) == [
        ["run", str(run.path)],
        ["job", "job"],
        ["state", "stopped,", "begun"],
        ["hardware", "device", "cpu,", "precision", "float32"],
        ["setting", "value"],
        ["seed", "3"],
        ["model.width", "1,234"],
        ["optimizer.options", "–"],
    ]


def test_the_story_of_a_finished_run_tells_what_came_out(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.finish(RECORD)
    lines = words(run_story(run))
    assert lines[2] == ["state", "finished"]
    assert lines[4:7] == [
        ["best", "step", "1,500"],
        ["tokens", "2,000,000"],
        ["training", "seconds", "12.5"],
    ]
    assert lines[7:10] == words(scores_view(run))
    assert lines[10] == ["setting", "value"]
    assert ["commit", "None"] not in lines


def test_scores_stand_beside_their_interval_and_guessing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.finish(RECORD)
    assert words(scores_view(run)) == [
        ["split", "metric", "score", "95", "%", "interval", "n", "guessing"],
        "dev accuracy 50.0 % 15.0 % – 85.0 % 4 25.0 % (always Oslo)".split(),
        "test accuracy 100.0 % 99.7 % – 100.0 % 1,200 5.0 % (always Lima)".split(),
    ]


def test_an_accuracy_is_written_with_interval_and_n() -> None:
    assert written(SCORES["dev"]) == "50.0 % [15.0 %, 85.0 %], n = 4"


def test_answers_are_told_right_from_wrong() -> None:
    rows = [
        {"input": "Where?", "prediction": "Oslo", "gold": "Oslo", "confidence": 0.987},
        {"input": "And now?", "prediction": "Lima", "gold": "Riga", "confidence": 0.2},
    ]
    assert words(answers(rows)) == [
        ["input", "answer", "confidence"],
        ["Where?", "Oslo", "99", "%", "right"],
        ["And", "now?", "Lima", "20", "%", "wrong:", "Riga"],
    ]


def test_an_answer_whose_truth_is_not_known_has_no_verdict() -> None:
    rows = [{"input": "Where?", "prediction": "Oslo", "confidence": 0.5}]
    assert words(answers(rows)) == [
        ["input", "answer", "confidence"],
        ["Where?", "Oslo", "50", "%"],
    ]


@pytest.mark.parametrize("text", ["[red]Oslo", "[bold]", "Os[/]lo", ":smile:"])
def test_what_a_model_says_is_shown_as_it_is(text: str) -> None:
    """Rich takes square brackets for styles unless it is told not to."""
    row = {"input": f"{text}?", "prediction": text, "gold": text, "confidence": 1.0}
    assert words(answers([row]))[1] == [f"{text}?", text, "100", "%", "right"]


def test_the_name_of_a_run_is_shown_as_it_is(tmp_path: Path) -> None:
    run = make_run(tmp_path, "lr[red]1")
    assert words(lines_view([run_line(run, tmp_path)]))[1][0] == "lr[red]1"
    assert words(run_story(run))[0] == ["run", str(run.path)]


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (run.path / "record.json").write_text('{"scores"', encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"record.json:1 is not JSON"):
        shown(run_story(run))
