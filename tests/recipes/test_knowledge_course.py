"""The course study: held-out questions choose how to fine-tune, and dev is asked once."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from attnlab.errors import UserError
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.course import plan
from attnlab.recipes.knowledge.study_settings import CourseSettings
from attnlab.recipes.reporting import report_on
from attnlab.recipes.studies import Finished
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from small_jobs import SETTINGS, WORLD

QUIET = Console(quiet=True)
SMALL = SETTINGS["knowledge-course"]
assert isinstance(SMALL, CourseSettings)


@pytest.fixture(scope="module", params=["vanilla", "synthesizer"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("course")
    with contextlib.chdir(folder):
        find_job("knowledge-world").run(WORLD, place=RunPlace(Path("runs"), "world"), console=QUIET)
        place = RunPlace(Path("runs"), "study")
        found = find_job("knowledge-course").run(
            replace(SMALL, variant=request.param), place=place, console=QUIET
        )
    assert isinstance(found, Study)
    return replace(found, path=folder / "runs" / "study")


def test_dev_is_asked_once_by_what_held_out_questions_chose(study: Study) -> None:
    runs = {run.name: run for run in study.begun()}
    variant = next(name for name in ("vanilla", "synthesizer") if name in runs)
    trials = {name: run for name, run in runs.items() if "held_out" in run.record["scores"]}
    assert set(trials) == {f"{variant}-adamw-5e-5", f"{variant}-muon-0.002"}
    assert all(set(run.record["scores"]) == {"held_out"} for run in trials.values())
    scores = {name: run.record["scores"]["held_out"]["value"] for name, run in trials.items()}
    assert Path(runs[variant].setting("run")).name == max(scores, key=scores.__getitem__)
    assert runs[variant].record["file_split"] == "birth_dev"
    attention = runs[f"{variant}-pretrained"].setting("model")["attention"]["name"]
    assert attention == {"vanilla": "dot_product"}.get(variant, variant)


def test_its_report_compares_it_with_the_most_common_answer(study: Study, tmp_path: Path) -> None:
    page = report_on([study.path], tmp_path, as_markdown=True).read_text(encoding="utf-8")
    assert "majority" in page
    assert "Fine-tuning, chosen on held-out training questions" in page


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (replace(SMALL, questions=""), "give training questions: --questions FILE"),
        (replace(SMALL, dev=""), "give questions to ask at the end: --dev FILE"),
        (replace(SMALL, base=CourseSettings().base), "give a corpus to read"),
        (
            replace(SMALL, base=replace(SMALL.base, questions="train.tsv")),
            r"base\.questions = train\.tsv would train on the questions that are held out",
        ),
    ],
    ids=["questions", "dev", "corpus", "mixed in"],
)
def test_what_would_fail_late_is_refused_first(settings: CourseSettings, message: str) -> None:
    with pytest.raises(UserError, match=message):
        plan(settings, Finished(Path("study"), {}))
