"""The conditions of the extraction study differ in what is written, and in nothing else."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from attnlab.data.entries import read_entries
from attnlab.data.settings import WorldSettings
from attnlab.data.world import World, make_world
from attnlab.evaluation.comparison import compare
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge import choosing
from attnlab.recipes.knowledge.extraction import conditions
from attnlab.recipes.knowledge.extraction_map import fields
from attnlab.recipes.knowledge.study_settings import ExtractionMapSettings, ExtractionSettings
from attnlab.recipes.reporting import report_on
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import Study
from small_jobs import SETTINGS

SMALL = ExtractionSettings(world=WorldSettings(people=100, unwritten=0, asked_share=0.3))
CONDITIONS = {condition.name: condition for condition in conditions(SMALL)}


@cache
def worlds() -> dict[str, World]:
    """Make the world of every condition, when a test first needs one."""
    return {name: make_world(condition.world) for name, condition in CONDITIONS.items()}


def test_the_same_people_are_learned_from_and_asked_about_in_every_condition() -> None:
    splits = {
        name: [[(p.name, p.place) for p in people] for people in (w.train, w.dev, w.test)]
        for name, w in worlds().items()
    }
    assert all(split == splits["one"] for split in splits.values())


def test_so_many_biographies_are_written_about_those_who_are_asked_about() -> None:
    found = {}
    for name, world in worlds().items():
        counts = Counter(entry.name for entry in read_entries(world.texts))
        found[name] = {counts[person.name] for person in world.test}
    assert found == {
        "one": {1},
        "many": {5},
        "many-permuted": {5},
        "many-permuted-full-names": {5},
        "one-permuted": {1},
        "one-permuted-with-celebrities": {1},
        "one-as-views": {1},
    }


def test_only_the_last_condition_reads_in_another_way() -> None:
    objectives = {name: condition.objective for name, condition in CONDITIONS.items()}
    assert objectives.pop("one-as-views") == "salient_spans"
    assert set(objectives.values()) == {"text"}
    assert worlds()["one-as-views"].texts == worlds()["one"].texts


def test_celebrities_are_all_that_sets_their_condition_apart() -> None:
    """Ordinary people have the very same text with celebrities among them and without."""
    asked = {person.name for person in worlds()["one"].test}
    texts = [
        sorted(t for t in worlds()[name].texts if read_entries([t])[0].name in asked)
        for name in ("one-permuted", "one-permuted-with-celebrities")
    ]
    assert texts[0] == texts[1]


def test_every_condition_reads_as_many_tokens_and_some_have_several_seeds() -> None:
    found = conditions(replace(SMALL, seeds=3, repeated=("one",), conditions=("one", "many")))
    assert [(one.name, one.seeds) for one in found] == [("one", 3), ("many", 1)]


def run_study(job: str, folder: Path) -> Study:
    console, place = Console(quiet=True), RunPlace(folder / "runs", "study")
    study = find_job(job).run(SETTINGS[job], place=place, console=console)
    assert isinstance(study, Study)
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return run_study("knowledge-extraction", tmp_path_factory.mktemp("extraction"))


@pytest.mark.slow
def test_seeds_of_a_condition_are_compared_as_one(study: Study) -> None:
    scored = [run for run in study.opened() if run.record["scores"]]
    comparison = compare(scored)
    assert [(one.name, len(one.runs)) for one in comparison.conditions] == [
        ("one", 2),
        ("many-permuted", 2),
    ]
    assert comparison.pairs[0].verdict.startswith(("many-permuted", "one", "No difference"))


@pytest.mark.slow
def test_what_reads_test_is_what_held_out_questions_chose(study: Study) -> None:
    runs = {run.name: run for run in study.begun()}
    for condition in ("one", "many-permuted"):
        ways = {"adamw-3e-4": 0.0, "query-key": 0.0}
        for way in ways:
            trials = [runs[f"{condition}-{way}-seed-{seed}"] for seed in (0, 1)]
            assert all(set(run.record["scores"]) == {"held_out"} for run in trials)
            ways[way] = sum(run.record["scores"]["held_out"]["value"] for run in trials)
        best = max(ways, key=ways.__getitem__)
        for seed in (0, 1):
            asked = Path(runs[f"{condition}-seed-{seed}"].setting("run")).name
            assert asked == f"{condition}-{best}-seed-{seed}"


@pytest.mark.slow
def test_a_finished_study_is_only_shown_again(study: Study) -> None:
    before = {path: path.stat().st_mtime_ns for path in study.path.rglob("record.json")}
    again = run_study("knowledge-extraction", study.path.parent.parent)
    assert again.path == study.path
    assert before == {path: path.stat().st_mtime_ns for path in study.path.rglob("record.json")}


@pytest.mark.slow
def test_its_report_has_the_conditions_the_choices_and_the_probes(
    study: Study, tmp_path: Path
) -> None:
    page = report_on([study.path], tmp_path, as_markdown=True).read_text(encoding="utf-8")
    for wanted in (
        "many-permuted",
        "Fine-tuning, chosen on held-out training questions",
        "Where the knowledge sits",
        "Accuracy of linear probes by layer",
    ):
        assert wanted in page


@pytest.mark.slow
def test_a_way_that_is_right_more_often_on_held_out_questions_is_chosen(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the first way is taken, whatever held-out questions say."""
    runs = {run.name: run for run in study.begun()}
    trials = [
        runs[f"one-{way}-seed-{seed}"] for way in ("adamw-3e-4", "query-key") for seed in (0, 1)
    ]
    better = {run.name: float("query-key" in run.name) for run in trials}
    original = Run.predictions

    def answered(run: Run, split: str) -> list[dict[str, object]]:
        rows = original(run, split)
        if split == choosing.HELD_OUT and run.name in better:
            right = [{**row, "prediction": row["gold"]} for row in rows]
            return right if better[run.name] else [{**row, "prediction": "?"} for row in rows]
        return rows

    monkeypatch.setattr(Run, "predictions", answered)
    chosen = choosing.select_best(trials, split=choosing.HELD_OUT).chosen.runs
    assert chosen == ("one-query-key-seed-0", "one-query-key-seed-1")


def test_the_map_reads_as_much_about_every_person() -> None:
    found = fields(ExtractionMapSettings(people=(30, 60), biographies=(1, 2), tokens_per_person=7))
    lengths = {(c.world.people, c.world.biographies): s.pretraining.length for c, s in found}
    assert lengths == {
        (30, 1): "210 tokens",
        (30, 2): "210 tokens",
        (60, 1): "420 tokens",
        (60, 2): "420 tokens",
    }
    assert all(one.world.celebrities == 1 and one.world.order == "shuffled" for one, _ in found)


@pytest.mark.slow
def test_the_map_shows_a_score_in_every_field(tmp_path: Path) -> None:
    study = run_study("knowledge-extraction-map", tmp_path)
    page = report_on([study.path], tmp_path / "page", as_markdown=True).read_text(encoding="utf-8")
    assert "20 people" in page
    assert "1 each" in page
    assert "2 each" in page
    assert len(json.loads((study.path / "study.json").read_text())["runs"]) == 2
