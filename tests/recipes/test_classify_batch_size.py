"""The largest batch: what is tried, what is trained with it, and that nothing is tried twice."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.cluster.process import Ended
from attnlab.cluster.watched import Watched
from attnlab.config import resolve
from attnlab.errors import RunError, UserError
from attnlab.recipes.classify import probe
from attnlab.recipes.classify.batch_size import next_batch
from attnlab.recipes.classify.settings import BatchSizeSettings, ClassifySettings, ProbeSettings
from attnlab.recipes.classify.two_steps import longest
from attnlab.recipes.jobs import find_job
from attnlab.recipes.planning import plan_of
from attnlab.recipes.reporting import report_on
from attnlab.report.document import Sentences, Table
from attnlab.report.sections.batch_size import BATCH_SIZE
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.machine import peak_memory_bytes
from attnlab.runs.study import Study
from small_bert import write_reviews, write_small_bert

QUIET = Console(quiet=True)
MB = 10**6


def search(limit: int, *, start: int = 32, most: int = 10_000) -> dict[int, bool]:
    """Try what the search asks for on a machine that takes batches up to a limit."""
    tried: dict[int, bool] = {}
    while (size := next_batch(tried, start=start, most=most)) is not None:
        assert size not in tried
        assert 1 <= size <= most
        tried[size] = size <= limit
    return tried


@pytest.mark.parametrize("limit", [*range(70), 100, 511, 512, 513, 4000, 9_999, 10_000, 10**6])
def test_the_search_ends_within_an_eighth_of_the_largest_that_fits(limit: int) -> None:
    tried = search(limit)
    found = max((size for size, fits in tried.items() if fits), default=0)
    assert found <= limit
    assert min(limit, 10_000) - found <= max(0, found // 8)
    assert len(tried) <= 15


def test_it_doubles_what_fits_and_halves_what_does_not_as_the_assignment_says() -> None:
    assert list(search(100)) == [32, 64, 128, 96, 112, 104]
    assert list(search(9)) == [32, 16, 8, 12, 10, 9]
    assert list(search(0)) == [32, 16, 8, 4, 2, 1]
    assert list(search(10**6, most=50)) == [32, 50], "no more than there are texts"


class Machine:
    """A machine that takes batches up to a limit, in the place of a watched process."""

    def __init__(self, limit: int) -> None:
        self.limit, self.tried, self.interrupted_at = limit, list[int](), 0

    def __call__(self, argv: list[str], *, most_bytes: int, log: Path) -> Watched:
        assert most_bytes > 0
        assert log.parent.is_dir()
        settings = resolve(ClassifySettings(), file=Path(argv[-2]))
        size = settings.batch_size
        if size == self.interrupted_at:
            raise KeyboardInterrupt
        self.tried.append(size)
        is_too_large = size > self.limit
        ended = Ended("probe", -9 if is_too_large else 0, "")
        return Watched(ended, size * MB, was_stopped=is_too_large)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(limit=45)
    monkeypatch.setattr(probe, "run_watched", found)
    return found


@pytest.fixture
def settings(tmp_path: Path) -> BatchSizeSettings:
    usual, data = BatchSizeSettings(), write_reviews(tmp_path / "reviews")
    base = replace(
        usual.base,
        model=str(write_small_bert(tmp_path / "bert", dropout=0.1)),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        test=str(data / "test.csv"),
        max_len=16,
        training=replace(
            usual.base.training,
            threads=1,
            optimizer=replace(usual.base.training.optimizer, lr=1e-2),
        ),
    )
    return replace(usual, memory="45MB", epochs=4, base=base)


def run_study(settings: BatchSizeSettings, folder: Path) -> Study:
    place = RunPlace(folder / "runs", "study")
    study: Study = find_job("classify-batch-size").run(settings, place=place, console=QUIET)
    return study


def lines(study: Study) -> Iterator[str]:
    for block in BATCH_SIZE.summary(study.opened()):
        if isinstance(block, Sentences):
            yield from block.lines


def test_what_fits_is_trained_with_and_nothing_is_tried_again(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    study = run_study(settings, tmp_path)
    assert machine.tried == [32, 60, 46, 39, 42]
    train = next(run for run in study.opened() if run.name == "train")
    assert train.setting("batch_size") == 42
    assert train.setting("training")["accumulate"] == 1
    assert train.record["steps"] == 8, "two steps an epoch"
    evaluated = [line["step"] for line in train.metrics() if "dev_accuracy" in line]
    assert evaluated == [2, 4, 6, 8]
    assert train.record["test"] == "not read"
    table = next(b for b in BATCH_SIZE.summary(study.opened()) if isinstance(b, Table))
    assert table.rows[0] == ["32", "32 MB", "fits"]
    assert table.rows[-1] == ["60", "60 MB", "stopped above 45 MB"]
    text = "\n".join(lines(study))
    assert "Largest batch size: 42 of up to 16 tokens, within 45 MB; the smallest that" in text
    assert "does not fit is 46." in text
    assert report_on([study.path], as_markdown=False).exists()
    assert run_study(settings, tmp_path) == study
    assert machine.tried == [32, 60, 46, 39, 42]


def test_the_last_epoch_is_kept_beside_the_best_one(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    """What is compared is what dev saw after the last step, row by row."""
    study = run_study(replace(settings, epochs=12), tmp_path)
    runs = {run.name: run for run in study.opened()}
    best, steps = runs["train"].record["best_step"], runs["train"].record["steps"]
    accuracies = {
        line["step"]: line["dev_accuracy"]
        for line in runs["train"].metrics()
        if "dev_accuracy" in line
    }
    assert runs["train"].record["scores"]["dev"]["value"] == accuracies[best]
    if best == steps:
        assert "last-epoch" not in runs
    else:
        assert runs["last-epoch"].record["scores"]["dev"]["value"] == accuracies[steps]
        assert runs["last-epoch"].record["steps"] == steps
    assert any(line.startswith("Dev ") for line in lines(study))
    assert machine.tried


def test_accumulation_keeps_the_effective_batch_and_steps_are_counted_for_it(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    machine.limit = 10
    study = run_study(replace(settings, effective_batch=50), tmp_path)
    train = next(run for run in study.opened() if run.name == "train")
    assert (train.setting("batch_size"), train.setting("training")["accumulate"]) == (50, 5)
    assert train.record["steps"] == 8
    whole = tmp_path / "whole"
    machine.limit = 60
    other = run_study(replace(settings, memory="1GB", effective_batch=50), whole)
    same = next(run for run in other.opened() if run.name == "train")
    assert (same.setting("batch_size"), same.setting("training")["accumulate"]) == (50, 1)
    steps = [[line["step"] for line in run.metrics()] for run in (train, same)]
    assert steps[0] == steps[1], "the schedule is that of the effective batch"
    assert "Trained in batches of 50, accumulated from 5 parts each: 2 steps per epoch." in (
        list(lines(study))
    )


def test_where_nothing_fits_the_model_scores_0_and_the_study_is_over(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    machine.limit = 0
    study = run_study(settings, tmp_path)
    assert study.is_finished
    assert machine.tried == [32, 16, 8, 4, 2, 1]
    assert next(lines(study)).startswith("Nothing fits, not even a single text at a time, so the")
    assert report_on([study.path], as_markdown=False).exists()


def test_an_interrupted_search_goes_on_where_it_was(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    machine.interrupted_at = 46
    with pytest.raises(KeyboardInterrupt):
        run_study(settings, tmp_path)
    machine.interrupted_at = 0
    run_study(settings, tmp_path)
    assert machine.tried == [32, 60, 46, 39, 42]


def test_what_is_free_at_first_is_the_budget_of_all_probes(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter([100 * MB, 7 * MB])
    monkeypatch.setattr(probe, "free_memory_bytes", lambda: next(left))
    study = run_study(replace(settings, memory=""), tmp_path)
    budgets = {run.record["probe"]["budget"] for run in study.opened() if "probe" in run.record}
    assert budgets == {90 * MB}
    assert len(machine.tried) == 5


def test_a_plan_probes_as_well_and_leaves_nothing_behind(
    settings: BatchSizeSettings, machine: Machine, tmp_path: Path
) -> None:
    plan = plan_of("classify-batch-size", settings, RunPlace(tmp_path / "runs", "study"))
    assert machine.tried == [32, 60, 46, 39, 42]
    steps = {cell.name: cell.steps for cell in plan.cells}
    assert steps == {f"batch-{size}": 0 for size in machine.tried} | {"train": 8}
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("ended", "peak", "said"),
    [
        (Ended("p", 0, ""), 40, "fits"),
        (Ended("p", 0, ""), 60, "more than 0 MB"),
        (Ended("p", -9, "the system killed it.", "memory"), 40, "out of memory: the system killed"),
        (Ended("p", 2, "too large.", "memory"), 0, "out of memory: too large."),
    ],
    ids=str,
)
def test_how_a_probe_ends(ended: Ended, peak: int, said: str) -> None:
    assert probe._how_it_ended(Watched(ended, peak, was_stopped=False), peak, 50).startswith(said)


def test_a_probe_that_says_nothing_about_memory_is_an_error() -> None:
    killed = Watched(Ended("p", -9, "it said nothing"), 40, was_stopped=False)
    with pytest.raises(RunError, match="ended with exit code -9, which says nothing about memory"):
        probe._how_it_ended(killed, 40, 50)
    mistake = Watched(Ended("p", 2, "max_len = 99 is too long."), 40, was_stopped=False)
    with pytest.raises(UserError, match="max_len = 99 is too long"):
        probe._how_it_ended(mistake, 40, 50)


def test_the_longest_rows_are_tried() -> None:
    assert longest(["ab", "a", "abcd", "abc"], 2) == [2, 3]


def probed(settings: BatchSizeSettings, folder: Path, memory: int) -> Run:
    place = RunPlace(folder / "runs", f"probe-{memory}")
    given = ProbeSettings(memory, settings.base)
    run: Run = find_job("classify-probe").run(given, place=place, console=QUIET)
    return run


@pytest.mark.skipif(peak_memory_bytes() is None, reason="this system does not say what is held")
@pytest.mark.slow
def test_a_real_probe_trains_in_another_process_and_is_ended_at_its_limit(
    settings: BatchSizeSettings, tmp_path: Path
) -> None:
    fits = probed(settings, tmp_path, 8_000 * MB)
    found = fits.record["probe"]
    assert (found["fits"], found["batch_size"], found["ended"]) == (True, 32, "fits")
    assert 50 * MB < found["peak"] < 3_000 * MB
    assert not (fits.path / "trial").exists()
    too_large = probed(settings, tmp_path, 60 * MB).record["probe"]
    assert (too_large["fits"], too_large["ended"]) == (False, "stopped above 60 MB")
    assert too_large["peak"] > 60 * MB


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"training": {"length": "9 epochs"}}, "base.training.length = 9 epochs .*: give --epochs"),
    ({"training": {"accumulate": 2}}, "training.accumulate = 2 .*: give --effective-batch"),
    ({"training": {"patience": 3}}, "training.patience = 3 has no effect here"),
    ({"training": {"device": "cuda"}}, "--memory limits the memory of the machine, but cuda"),
    ({"batch_size": 8}, "base.batch_size = 8 has no effect here: give --start"),
    ({"dev": "", "dev_share": 0.0}, "there is no dev to evaluate every epoch on"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=str)
def test_what_has_no_effect_is_refused_first(
    settings: BatchSizeSettings, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    training = replace(settings.base.training, **changes.get("training", {}))
    wrong = replace(settings, base=replace(settings.base, **changes | {"training": training}))
    with pytest.raises(UserError, match=message):
        run_study(wrong, tmp_path)
    assert not (tmp_path / "runs" / "study").exists()
