"""A run whose views favour a reader's answers says so everywhere; without a reader, none does."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.data.knowledge_files import read_questions
from attnlab.data.settings import WorldSettings
from attnlab.evaluation.comparison import doubts
from attnlab.models.sizes import NGramTableSize
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import (
    RECIPES,
    EvaluateSettings,
    FinetuneSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN, UNSEEN, write_world
from attnlab.report.tables import scores_table, warnings_of
from attnlab.report.terminal import run_story
from attnlab.runs.directory import Run, RunPlace
from small_jobs import SHORT, TINY

QUIET = Console(quiet=True)
FAVOURS = "views favour the span that a reader picks: it learned from the training questions"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_world(WorldSettings(people=150, biographies=1, unwritten=0.1), folder)
    return folder


def recall(world: Path, **more: Any) -> PretrainSettings:
    given: dict[str, Any] = {
        "corpus": str(world / CORPUS),
        "questions": str(world / TRAIN),
        "dev": str(world / DEV),
        "model": replace(TINY, ngram_table=NGramTableSize(rows=128)),
        "tokenizer": TokenizerSettings(size=300),
        "training": SHORT,
    }
    return replace(RECIPES["recall"].pretrain, **(given | more))


def pretrain(settings: PretrainSettings, folder: Path, name: str, console: Console = QUIET) -> Run:
    place = RunPlace(folder, name)
    run: Run = find_job("knowledge-pretrain").run(settings, place=place, console=console)
    return run


@pytest.fixture(scope="module")
def run(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = recall(world, unseen=str(world / UNSEEN))
    return pretrain(settings, tmp_path_factory.mktemp("runs"), "read")


def test_the_record_names_the_reader_its_accuracy_and_its_seconds(run: Run, world: Path) -> None:
    record = run.record
    assert record["views_favour"] == "the reader's answers"
    assert record["reader"]["n"] == len(read_questions(world / TRAIN))
    assert record["reader"]["value"] > 0.8
    assert record["reader_seconds"] > 0


def test_no_question_of_dev_is_trained_on(run: Run) -> None:
    assert "synthetic_questions" not in run.record
    assert set(run.record["ledger"]["splits"]) == {"train", "dev", "unseen"}
    assert run.record["ledger"]["overlaps"] == []


def test_the_tables_mark_the_splits_that_the_reader_has_read_about(run: Run) -> None:
    n = run.record["scores"]["dev"]["n"]
    titles = [str(row[0]) for row in scores_table(run).rows]
    assert titles[0] == f"dev ({n} of {n} with views that favour a reader's answer)"
    assert run.record["split_notes"].keys() == {"dev"}  # of the unseen, it has read nothing


def test_runs_show_and_comparisons_say_it_with_the_readers_accuracy(run: Run) -> None:
    accuracy = run.record["reader"]
    right = f"{accuracy['value']:.1%}".replace("%", " %")
    said = f"its {FAVOURS} and has {right} of {accuracy['n']} right that were held out from it"
    assert any(warning.startswith(said) for warning in warnings_of(run))
    assert any(doubt.startswith(said) for doubt in doubts(run.record, "dev"))
    console = Console(file=io.StringIO(), width=1000)
    console.print(run_story(run))
    assert isinstance(console.file, io.StringIO)
    assert said in console.file.getvalue()


def test_runs_that_use_its_model_repeat_it(run: Run, world: Path) -> None:
    evaluate = EvaluateSettings(str(run.path), str(world / TEST), samples=0)
    finetune = FinetuneSettings(
        start=str(run.path), questions=str(world / TRAIN), dev=str(world / DEV), training=SHORT
    )
    for job, settings in (("knowledge-evaluate", evaluate), ("knowledge-finetune", finetune)):
        later = find_job(job).run(settings, place=RunPlace(run.path.parent, job), console=QUIET)
        assert any(w.startswith(f"read: its {FAVOURS}") for w in later.record["warnings"]), job


def test_without_a_reader_the_answers_are_preferred_and_nothing_is_said_of_one(
    world: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.tsv"
    few.write_text("".join((world / TRAIN).read_text().splitlines(keepends=True)[:19]))
    for name, changed in {
        "few": {"questions": str(few)},
        "none": {"questions": "", "dev": ""},
    }.items():
        console = Console(file=io.StringIO(), width=1000)
        fallen_back = pretrain(recall(world, **changed), tmp_path, name, console)
        before = pretrain(recall(world, prefer="answers", **changed), tmp_path, f"{name}-answers")
        assert fallen_back.metrics()[0]["loss"] == before.metrics()[0]["loss"]
        assert not {"reader", "views_favour", "split_notes"} & fallen_back.record.keys()
        assert not [warning for warning in fallen_back.record["warnings"] if "reader" in warning]
        assert isinstance(console.file, io.StringIO)
        said = "no reader could learn from the training questions" in console.file.getvalue()
        assert said is (name == "few")


def test_plain_text_needs_no_reader(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("it was a dark night and it rained\n" * 300)
    settings = recall(tmp_path, corpus=str(plain), questions="", dev="")
    assert "reader" not in pretrain(settings, tmp_path, "plain").record
