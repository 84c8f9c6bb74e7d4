"""Cells side by side: what a pool runs, what it leaves to others, and what a failure says."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from attnlab.cluster.pool import Pool
from attnlab.cluster.process import Ended
from attnlab.config import resolve
from attnlab.errors import RunError, StoppedError, UserError
from attnlab.recipes import cells
from attnlab.recipes.classify.settings import GRID_TRAINING, ClassifySettings, SelectSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RunPlace
from attnlab.runs.lock import hold
from small_bert import write_reviews, write_small_bert

QUIET = Console(quiet=True)


@pytest.fixture
def settings(tmp_path: Path) -> SelectSettings:
    data = write_reviews(tmp_path / "reviews")
    base = ClassifySettings(
        model=str(write_small_bert(tmp_path / "bert")),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        max_len=16,
        training=replace(GRID_TRAINING, threads=1),
    )
    return SelectSettings((1e-3, 1e-2), (1,), base=base)


class InThisProcess(Pool):
    """A pool whose processes are calls: quick, and watched."""

    def __init__(self, size: int, environment: dict[str, str]) -> None:
        super().__init__(size, environment)
        self.ended: list[Ended] = []
        self.begun: list[str] = []
        self.before: Callable[[str], Ended | None] = lambda _: None

    def start(self, name: str, argv: list[str], *, log: Path) -> None:
        assert argv[1:4] == ["-m", "attnlab", "run"]
        self.begun.append(name)
        if instead := self.before(name):
            self.ended.append(instead)
            return
        options = dict(zip(argv[5::2], argv[6::2], strict=True))
        job = find_job(argv[4])
        given = resolve(job.settings(), file=Path(options["--config"]), flags={}, sets=())
        place = RunPlace(Path(options["--runs"]), options["--name"])
        job.run(given, place=place, console=QUIET)
        log.write_text("done\n")
        self.ended.append(Ended(name, 0, "done"))

    def wait(self) -> list[Ended]:
        ended, self.ended = self.ended, []
        return ended


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> list[InThisProcess]:
    made: list[InThisProcess] = []

    def make(size: int, environment: dict[str, str]) -> InThisProcess:
        made.append(InThisProcess(size, environment))
        return made[-1]

    monkeypatch.setattr(cells, "Pool", make)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 6)
    return made


NAMES = ["lr-1e-3-seed-0", "lr-1e-2-seed-0"]


def run_study(settings: SelectSettings, folder: Path, parallel: int) -> list[str]:
    place = RunPlace(folder, "study")
    job = find_job("classify-select")
    return list(job.run(settings, place=place, console=QUIET, parallel=parallel).runs)


def test_a_pool_runs_each_cell_once_and_shares_the_cores(
    settings: SelectSettings, tmp_path: Path, pool: list[InThisProcess]
) -> None:
    assert run_study(settings, tmp_path, 2) == NAMES
    (used,) = pool
    assert used.begun == NAMES
    assert used.environment == {"OMP_NUM_THREADS": "3"}
    assert run_study(settings, tmp_path, 2) == NAMES
    assert pool[1].begun == [], "what is finished is not begun again"


def test_a_cell_that_another_command_works_on_is_waited_for(
    settings: SelectSettings,
    tmp_path: Path,
    pool: list[InThisProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two launchers: the second leaves the first one's cell alone, then finds it finished."""
    folder = tmp_path / "study" / NAMES[0]
    held = []
    begin, wait = InThisProcess.__init__, InThisProcess.wait

    def other_has_begun(self: InThisProcess, *given: object) -> None:
        begin(self, *given)  # type: ignore[arg-type]
        folder.mkdir()
        held.append(hold(folder))

    def other_finishes(self: InThisProcess) -> list[Ended]:
        if held and NAMES[1] in self.begun:
            held.pop().close()
        return wait(self)

    monkeypatch.setattr(InThisProcess, "__init__", other_has_begun)
    monkeypatch.setattr(InThisProcess, "wait", other_finishes)
    assert run_study(settings, tmp_path, 2) == NAMES
    assert pool[0].begun == [NAMES[1], NAMES[0]]


def test_a_cell_that_fails_is_named_with_its_last_words_and_goes_on_later(
    settings: SelectSettings,
    tmp_path: Path,
    pool: list[InThisProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = Ended(NAMES[1], -9, "step 3 of 9.")
    original = InThisProcess.__init__

    def one_fails(self: InThisProcess, *given: object) -> None:
        original(self, *given)  # type: ignore[arg-type]
        self.before = lambda name: failing if name == NAMES[1] else None

    monkeypatch.setattr(InThisProcess, "__init__", one_fails)
    with pytest.raises(RunError, match=f"the cell {NAMES[1]} ended with exit code -9: step 3 of 9"):
        run_study(settings, tmp_path, 2)
    monkeypatch.setattr(InThisProcess, "__init__", original)
    assert run_study(settings, tmp_path, 2) == NAMES
    assert pool[1].begun == [NAMES[1]]


def test_a_signal_stops_the_study_which_goes_on_later(
    settings: SelectSettings,
    tmp_path: Path,
    pool: list[InThisProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = cells.StopRequest()
    asked.signal_number = 15
    monkeypatch.setattr(cells.StopRequest, "__enter__", lambda _: asked)
    with pytest.raises(StoppedError, match="The same command goes on") as stopped:
        run_study(settings, tmp_path, 2)
    assert stopped.value.exit_code == 143
    assert pool[0].begun == []
    planned = json.loads((tmp_path / "study" / "study.json").read_text())["cells"]
    assert [cell["name"] for cell in planned] == NAMES


def test_processes_of_torchrun_start_no_others(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match="--parallel 3 starts processes of its own: leave it out"),
        cells.workers(tmp_path, 3, QUIET, processes=2),
    ):
        pass


@pytest.mark.slow
def test_real_processes_run_the_cells(settings: SelectSettings, tmp_path: Path) -> None:
    assert run_study(settings, tmp_path, 2) == NAMES
    logs = [tmp_path / "study" / "cells" / f"{name}.log" for name in NAMES]
    assert all("dev" in log.read_text() for log in logs)
