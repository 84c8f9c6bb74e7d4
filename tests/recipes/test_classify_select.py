"""Selection: every cell once, longer runs go on from shorter ones, dev chooses, test is last."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from attnlab.config import from_dict
from attnlab.errors import UserError
from attnlab.models.bert_format import read_bert
from attnlab.recipes.classify import longer
from attnlab.recipes.classify.select import plan
from attnlab.recipes.classify.settings import GRID_TRAINING, ClassifySettings, SelectSettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.studies import Finished
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import Study
from attnlab.training.settings import OptimizerSettings, ScheduleSettings
from small_bert import write_reviews, write_small_bert

pytestmark = pytest.mark.precision

QUIET = Console(quiet=True)
STEPS = replace(GRID_TRAINING, threads=1, schedule=ScheduleSettings("constant", warmup=2.0))


@pytest.fixture
def base(tmp_path: Path) -> ClassifySettings:
    """Return settings of a model with dropout: what resumes must draw what it would have drawn."""
    model = write_small_bert(tmp_path / "bert", dropout=0.1, attention_dropout=0.1)
    data = write_reviews(tmp_path / "reviews")
    return ClassifySettings(
        model=str(model),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        test=str(data / "test.csv"),
        max_len=16,
        batch_size=20,
        training=STEPS,
    )


def grid(base: ClassifySettings, **changes: Any) -> SelectSettings:
    given: dict[str, Any] = {"lrs": (1e-6, 1e-2), "epochs": (4, 1), "base": base}
    return SelectSettings(**given | changes)


def selected(settings: SelectSettings, folder: Path) -> Study:
    place = RunPlace(folder, "study")
    study: Study = find_job("classify-select").run(settings, place=place, console=QUIET)
    return study


def trained(settings: ClassifySettings, folder: Path, name: str) -> Run:
    place = RunPlace(folder, name)
    run: Run = find_job("classify-train").run(settings, place=place, console=QUIET)
    return run


def for_epochs(base: ClassifySettings, epochs: int, **changes: Any) -> ClassifySettings:
    return replace(base, training=replace(base.training, length=f"{epochs} epochs"), **changes)


def test_a_run_that_goes_on_from_a_shorter_one_is_the_longer_run_bit_for_bit(
    base: ClassifySettings, tmp_path: Path
) -> None:
    whole = trained(for_epochs(base, 3), tmp_path, "whole")
    short = trained(for_epochs(base, 1, read_test=False), tmp_path, "short")
    resumed = trained(for_epochs(base, 3, resume_from=str(short.path)), tmp_path, "resumed")
    first, second = (read_bert(run.path / "model").tensors for run in (whole, resumed))
    assert all(torch.equal(first[name], second[name]) for name in first)
    for split in ("dev", "test"):
        assert whole.predictions(split) == resumed.predictions(split)
    steps = [line["step"] for line in resumed.metrics() if "loss" in line]
    assert steps == list(range(1, 10)), "its log has the steps of the shorter run"
    assert short.record["test"] == "not read"
    assert "test" not in short.record["ledger"]["splits"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 10}, "batch_size is 20 there and 10 here"),
        ({"length": "1 epochs"}, "2 epochs there and 1 epochs here. Give more"),
        ({"length": "30 steps"}, "2 epochs there and 30 steps here"),
        ({"evaluate_every": 3}, "training.evaluate_every = 3 would keep another step"),
        ({"seed": 1}, "training.seed is 0 there and 1 here"),
    ],
    ids=str,
)
def test_a_run_goes_on_only_from_its_own_beginning(
    base: ClassifySettings, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    short = trained(for_epochs(base, 2), tmp_path, "short")
    other = for_epochs(base, 3, resume_from=str(short.path))
    if "batch_size" in changes:
        other = replace(other, **changes)
    else:
        other = replace(other, training=replace(other.training, **changes))
    with pytest.raises(UserError, match=f"cannot resume from short: .*{message}"):
        trained(other, tmp_path, "longer")
    assert not (tmp_path / "longer").exists()


@pytest.mark.parametrize(
    "schedule", [ScheduleSettings("linear"), ScheduleSettings("constant", warmup=0.5)], ids=str
)
def test_a_schedule_that_depends_on_the_length_does_not_go_on(
    base: ClassifySettings, tmp_path: Path, schedule: ScheduleSettings
) -> None:
    base = replace(base, training=replace(base.training, schedule=schedule))
    short = trained(for_epochs(base, 1), tmp_path, "short")
    with pytest.raises(UserError, match="depends on the length"):
        trained(for_epochs(base, 2, resume_from=str(short.path)), tmp_path, "longer")
    same = trained(for_epochs(base, 1, resume_from=str(short.path)), tmp_path, "same")
    assert same.predictions("dev") == short.predictions("dev")


def test_what_is_refused_would_have_been_another_run(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the check broken, the shorter run's warm-up ends too early for the longer one."""
    warm = replace(base, training=replace(STEPS, schedule=ScheduleSettings("constant", 0.5)))
    warm = replace(warm, training=replace(warm.training, optimizer=OptimizerSettings(lr=1e-2)))
    monkeypatch.setattr(longer, "goes_on", lambda _: True)
    short = trained(for_epochs(warm, 1), tmp_path, "short")
    wrong = trained(for_epochs(warm, 3, resume_from=str(short.path)), tmp_path, "wrong")
    whole = trained(for_epochs(warm, 3), tmp_path, "whole")
    assert wrong.predictions("dev") != whole.predictions("dev")


def test_a_run_does_not_go_on_with_other_texts(base: ClassifySettings, tmp_path: Path) -> None:
    short = trained(for_epochs(base, 1), tmp_path, "short")
    train = Path(base.train)
    train.write_text(train.read_text() + "1,awful\n")
    with pytest.raises(UserError, match="cannot resume from short: the hash of train was"):
        trained(for_epochs(base, 2, resume_from=str(short.path)), tmp_path, "longer")


def test_dev_chooses_and_test_is_read_by_the_choice_alone(
    base: ClassifySettings, tmp_path: Path
) -> None:
    study = selected(grid(base), tmp_path)
    cells = [
        *("lr-1e-6-epochs-1-seed-0", "lr-1e-2-epochs-1-seed-0"),
        *("lr-1e-6-epochs-4-seed-0", "lr-1e-2-epochs-4-seed-0"),
    ]
    assert list(study.runs) == [*cells, "chosen"]
    assert study.featured == "chosen"
    *runs, chosen = study.opened()
    assert [run.record["test"] for run in runs] == ["not read"] * 4
    assert not any(run.has_predictions("test") for run in runs)
    best = max(runs, key=lambda run: run.record["scores"]["dev"]["value"])
    assert best.name == "lr-1e-2-epochs-4-seed-0"
    assert chosen.record["test"] == "evaluated once"
    assert chosen.predictions("dev") == best.predictions("dev"), "it is the very model"
    assert chosen.record["scores"]["test"]["n"] == 25
    resumed = {run.name: Path(run.setting("resume_from")).name for run in study.opened()}
    assert resumed[cells[2]] == cells[0]
    assert resumed["chosen"] == cells[3]

    times = {run.name: (run.path / "record.json").stat().st_mtime_ns for run in study.opened()}
    again = selected(grid(base), tmp_path)
    assert {r.name: (r.path / "record.json").stat().st_mtime_ns for r in again.opened()} == times


@pytest.mark.parametrize("tuning", ["full", "head", "lora"])
def test_test_may_have_words_that_no_other_split_has(
    base: ClassifySettings, tmp_path: Path, tuning: str
) -> None:
    """What is chosen goes on from a run whose table of tokens did not know those of test."""
    test = Path(base.test)
    test.write_text(test.read_text() + "4,lovelys\n")
    one = grid(base, lrs=(1e-2,), epochs=(1,), tunings=(tuning,))
    cell, chosen = selected(one, tmp_path).opened()
    assert chosen.predictions("dev") == cell.predictions("dev")
    assert chosen.record["scores"]["test"]["n"] == 26
    settings = from_dict(ClassifySettings, chosen.config["settings"], origin=chosen.name)
    at_once = trained(replace(settings, resume_from=""), tmp_path, "at-once")
    assert chosen.predictions("test") == at_once.predictions("test")


def test_a_killed_selection_goes_on_and_reads_test_last(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_over = longer.take_over
    begun: list[str] = []

    def killed(settings: ClassifySettings, session: Any) -> None:
        take_over(settings, session)  # its checkpoint is there, nothing else
        begun.append(session.run.name)
        raise KeyboardInterrupt

    monkeypatch.setattr("attnlab.recipes.classify.train.take_over", killed)
    with pytest.raises(KeyboardInterrupt):
        selected(grid(base), tmp_path)
    monkeypatch.undo()
    assert begun == ["lr-1e-6-epochs-4-seed-0"]
    assert not (tmp_path / "study" / "chosen").exists()
    study = selected(grid(base), tmp_path)
    assert study.is_finished
    cell = study.opened()[3]
    settings = from_dict(ClassifySettings, cell.config["settings"], origin=cell.name)
    straight = trained(replace(settings, resume_from=""), tmp_path, "straight")
    assert straight.predictions("dev") == cell.predictions("dev")


def test_every_seed_of_the_choice_reads_test(base: ClassifySettings, tmp_path: Path) -> None:
    study = selected(grid(base, lrs=(1e-2,), epochs=(1,), seeds=2), tmp_path)
    assert list(study.runs) == ["seed-0", "seed-1", "chosen-seed-0", "chosen-seed-1"]
    assert [run.record["test"] for run in study.opened()[2:]] == ["evaluated once"] * 2


def test_without_a_test_nothing_is_run_again(base: ClassifySettings, tmp_path: Path) -> None:
    study = selected(grid(replace(base, test=""), lrs=(1e-2,), epochs=(1,)), tmp_path)
    assert list(study.runs) == ["seed-0"]


def planned(settings: SelectSettings) -> dict[str, ClassifySettings]:
    cells = plan(settings, Finished(Path("/study"), {}))
    assert all(
        list(cell.needs) == [Path(cell.settings.resume_from).name]
        for cell in cells
        if cell.settings.resume_from
    )
    return {cell.name: cell.settings for cell in cells}


def test_with_a_decaying_schedule_each_number_of_epochs_is_its_own_run(
    base: ClassifySettings,
) -> None:
    decaying = replace(base, training=replace(STEPS, schedule=ScheduleSettings("linear", 0.1)))
    cells = planned(grid(decaying))
    assert [cell.resume_from for cell in cells.values()] == [""] * 4
    assert {cell.training.schedule.warmup for cell in cells.values()} == {0.1}


def test_a_warm_up_is_that_of_the_fewest_epochs_so_that_longer_runs_begin_alike(
    base: ClassifySettings,
) -> None:
    warm = replace(base, training=replace(STEPS, schedule=ScheduleSettings("constant", 0.2)))
    cells = planned(grid(warm, epochs=(3, 5), batch_sizes=(20, 6)))
    steps = {name: cell.training.schedule.warmup for name, cell in cells.items()}
    assert steps["lr-1e-2-epochs-3-batch-20-seed-0"] == 2.0  # of 3 · 3 steps
    assert steps["lr-1e-2-epochs-5-batch-20-seed-0"] == 2.0
    assert steps["lr-1e-2-epochs-5-batch-6-seed-0"] == 6.0  # of 3 · 10 steps


def test_other_optimizers_and_methods_take_their_own_defaults(base: ClassifySettings) -> None:
    cells = planned(
        grid(base, lrs=(1e-2,), epochs=(1,), optimizers=("adamw", "sgd"), tunings=("full", "head"))
    )
    assert list(cells) == [
        "adamw-full-seed-0",
        "adamw-head-seed-0",
        "sgd-full-seed-0",
        "sgd-head-seed-0",
    ]
    options = base.training.optimizer.options
    assert cells["adamw-full-seed-0"].training.optimizer.options == options
    assert cells["sgd-head-seed-0"].training.optimizer.options == {}
    assert cells["sgd-head-seed-0"].training.optimizer.lr == 1e-2


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"lrs": (1e-2, 1e-2)}, {}, "two cells of this study would be called lr-1e-2-epochs-1-seed-0"),
    ({"optimizers": ("adamm",)}, {}, "no optimizer is called 'adamm'"),
    ({"tunings": ("lara",)}, {}, "'lara'"),
    ({}, {"dev": "", "dev_share": 0.0}, "there is no dev to choose on"),
    ({}, {"training": replace(STEPS, evaluate_every=5)}, "evaluate_every = 5: a cell is the model"),
    ({}, {"training": replace(STEPS, length="9 epochs")}, "length = 9 epochs.*give --epochs"),
    ({}, {"max_len": 30}, "max_len = 30 is more than the 20 positions"),
]


@pytest.mark.parametrize(("of_grid", "of_base", "message"), WRONG, ids=str)
def test_what_would_fail_late_or_have_no_effect_is_refused_first(
    base: ClassifySettings,
    tmp_path: Path,
    of_grid: dict[str, Any],
    of_base: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(UserError, match=message):
        selected(grid(replace(base, **of_base), **of_grid), tmp_path / "runs")
    assert not (tmp_path / "runs" / "study").exists()
