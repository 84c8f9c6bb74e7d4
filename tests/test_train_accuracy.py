"""The training accuracy of a finished run is that on the rows it was trained on, and no others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import train_accuracy
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.texts import read_texts
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from small_bert import write_reviews, write_small_bert

QUIET = Console(quiet=True)


@pytest.fixture
def settings(tmp_path: Path) -> ClassifySettings:
    """Return a short training on reviews of which a part is set aside as test."""
    data, model = write_reviews(tmp_path / "reviews"), write_small_bert(tmp_path / "bert")
    base = ClassifySettings()
    return replace(
        base,
        model=str(model),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        test_share=0.2,
        max_len=16,
        training=replace(base.training, length="2 steps", threads=1),
    )


@pytest.mark.precision
def test_it_is_that_of_the_rows_trained_on(settings: ClassifySettings, tmp_path: Path) -> None:
    run: Run = find_job("classify-train").run(
        settings, place=RunPlace(tmp_path, "trained"), console=QUIET
    )
    place = RunPlace(tmp_path / "new", "on-train")
    score = train_accuracy.train_accuracy(run, settings, place=place, console=QUIET)
    answered = Run.open(tmp_path / "new" / "on-train")
    assert sorted(answered.rows("on-train")) == sorted(run.rows("train"))
    assert score["n"] == len(run.rows("train"))
    right = [row["prediction"] == row["gold"] for row in answered.predictions("on-train")]
    assert score["value"] == sum(right) / len(right)


def test_what_is_set_aside_as_test_is_left_out(settings: ClassifySettings) -> None:
    texts = read_texts(settings)
    lines = train_accuracy.training_rows(settings).splitlines()
    assert [json.loads(line)["text"] for line in lines] == [one.text for one in texts.train]
    assert len(lines) + len(texts.eval_splits["test"]) == len(
        read_texts(replace(settings, test_share=0.0)).train
    )
