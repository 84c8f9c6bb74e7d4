"""Studies: cells in the order of their needs, gone on with after a kill, and planned as they go."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from rich.console import Console

from attnlab.errors import UserError
from attnlab.recipes import jobs
from attnlab.recipes.jobs import Job, find_job
from attnlab.recipes.opening import run_without_training
from attnlab.recipes.studies import Cell, Finished, StudyPlan, ready, refuse_wrong_cells
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.references import FileReference
from attnlab.runs.study import StudyOutcome

QUIET = Console(quiet=True)

JOB_FILE = '''
"""A job of a user's: it adds a number to what the cell before it has found."""
import os, signal
from dataclasses import dataclass
from pathlib import Path

from attnlab.recipes.studies import Cell, StudyPlan
from attnlab.recipes.opening import run_without_training
from attnlab.runs.study import StudyOutcome


@dataclass(frozen=True)
class AddSettings:
    before: str = ""
    """File with a number."""
    plus: int = 0
    """What to add."""


def run_add(job, settings, *, place, console):
    def work(run):
        if run.finished:
            return
        console.print(f"working on {run.name}", highlight=False)
        if os.environ.get("KILL") == run.name:
            os.kill(os.getpid(), signal.SIGKILL)
        number = int(Path(settings.before).read_text()) if settings.before else 0
        (run.path / "number").write_text(str(number + settings.plus))
        run.finish({"scores": {}})

    files = {"before": Path(settings.before)} if settings.before else {}
    return run_without_training(job, settings, work, place=place, files=files)


@dataclass(frozen=True)
class ChainSettings:
    steps: int = 3
    """How many cells there are."""


def plan(settings, finished):
    names = [f"cell-{i}" for i in range(settings.steps)]
    return [
        Cell(
            name,
            "add",
            AddSettings(finished.path(names[i - 1], "number") if i else "", 2 ** i),
            needs=tuple(names[i - 1 : i]),
        )
        for i, name in reversed(list(enumerate(names)))  # in no helpful order
    ]


def close(settings, finished):
    (finished.folder / "sum").write_text((finished.folder / "cell-2" / "number").read_text())
    return StudyOutcome(list(finished.runs))


CHAIN = StudyPlan("One after the other", plan, close)
'''
DRIVER = """
import sys
sys.path.insert(0, ".")
from attnlab.recipes import jobs
from attnlab.recipes.jobs import Job
jobs.JOBS["add"] = Job("add", "adds", "my_jobs:AddSettings", "my_jobs:run_add")
jobs.JOBS["chain"] = Job("chain", "adds often", "my_jobs:ChainSettings", "my_jobs:CHAIN")
from rich.console import Console
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RunPlace
from pathlib import Path
place = RunPlace(Path("runs"), "chain")
find_job("chain").run(find_job("chain").settings(), place=place, console=Console(width=80))
"""


@pytest.mark.slow
def test_a_study_of_a_new_job_is_killed_in_its_second_cell_and_goes_on(tmp_path: Path) -> None:
    """A job is one file and one line of the table; nothing else knows of it."""
    (tmp_path / "my_jobs.py").write_text(JOB_FILE, encoding="utf-8")

    def start(kill: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", DRIVER],
            cwd=tmp_path,
            env=os.environ | {"KILL": kill},
            capture_output=True,
            text=True,
        )

    killed = start("cell-1")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    study = tmp_path / "runs" / "chain"
    assert (study / "cell-0" / "record.json").exists()
    assert not (study / "cell-1" / "record.json").exists()
    planned = {cell["name"] for cell in json.loads((study / "study.json").read_text())["cells"]}
    assert planned == {"cell-0", "cell-1", "cell-2"}, "those to come are there for others to run"
    written = (study / "cell-0" / "record.json").stat().st_mtime_ns

    done = start("")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["working on cell-1", "working on cell-2"]
    assert (study / "sum").read_text() == "7"
    assert (study / "cell-0" / "record.json").stat().st_mtime_ns == written
    cells = json.loads((study / "study.json").read_text())["cells"]
    assert [cell["name"] for cell in cells] == ["cell-2", "cell-1", "cell-0"], "as planned"
    assert start("").stdout == "", "what is finished is not done again"


@dataclass(frozen=True)
class GuessSettings:
    number: int = 0
    """What is tried."""


@dataclass(frozen=True)
class SearchSettings:
    limit: int = 37
    """What is to be found: the largest number that fits."""


def run_guess(job: str, settings: GuessSettings, *, place: RunPlace, console: Console) -> Run:  # noqa: ARG001
    def work(run: Run) -> None:
        if not run.finished:
            if settings.number < 0:
                raise UserError("a number below 0 cannot be tried.")
            run.finish({"scores": {}, "fits": settings.number <= SearchSettings().limit})

    return run_without_training(job, settings, work, place=place, files={})


def double_then_halve(settings: SearchSettings, finished: Finished) -> Sequence[Cell]:  # noqa: ARG001
    """Plan one cell more for as long as the largest number that fits is not known."""
    fits = {int(name): run.record["fits"] for name, run in finished.runs.items()}
    low = max([number for number, good in fits.items() if good], default=0)
    high = min([number for number, good in fits.items() if not good], default=None)
    following = max(1, 2 * low) if high is None else (low + high) // 2
    done = high is not None and high - low == 1
    names = [*fits, *([] if done else [following])]
    return [Cell(str(name), "guess", GuessSettings(name)) for name in names]


def largest(settings: SearchSettings, finished: Finished) -> StudyOutcome:  # noqa: ARG001
    found = max(int(name) for name, run in finished.runs.items() if run.record["fits"])
    return StudyOutcome([str(found)])


SEARCH = StudyPlan("How many fit?", double_then_halve, largest)


@pytest.fixture
def guessing(monkeypatch: pytest.MonkeyPatch) -> None:
    here = __name__
    table = {
        "guess": Job("guess", "tries", f"{here}:GuessSettings", f"{here}:run_guess"),
        "search": Job("search", "finds", f"{here}:SearchSettings", f"{here}:SEARCH"),
    }
    monkeypatch.setattr(jobs, "JOBS", {**jobs.JOBS, **table})


@pytest.mark.usefixtures("guessing")
def test_a_plan_may_depend_on_what_was_found(tmp_path: Path) -> None:
    place = RunPlace(tmp_path, "search")
    study = find_job("search").run(SearchSettings(), place=place, console=QUIET)
    assert study.runs == ["37"]
    tried = [run.name for run in study.begun()]
    assert tried == "1 2 4 8 16 32 64 48 40 36 38 37".split()
    assert find_job("search").run(SearchSettings(), place=place, console=QUIET) == study


@dataclass(frozen=True)
class FileSettings:
    file: Annotated[str, FileReference()] = "numbers.txt"


def test_a_plan_gets_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planned: list[str] = []

    def plan(settings: FileSettings, finished: Finished) -> Sequence[Cell]:  # noqa: ARG001
        planned.append(settings.file)
        raise UserError("planned")

    study, place = StudyPlan("Files", plan, largest), RunPlace(tmp_path, "study")
    with pytest.raises(UserError, match="planned"):
        study("files", FileSettings(), place=place, console=QUIET)
    assert planned == [str(tmp_path / "numbers.txt")]


@pytest.mark.usefixtures("guessing")
def test_a_plan_is_made_again_only_when_its_cells_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan may read large files to know its cells."""
    known: list[int] = []

    def plan(settings: SearchSettings, finished: Finished) -> Sequence[Cell]:  # noqa: ARG001
        known.append(len(finished.runs))
        return [Cell(str(number), "guess", GuessSettings(number)) for number in (1, 2, 3)]

    monkeypatch.setattr(sys.modules[__name__], "SEARCH", StudyPlan("Three", plan, largest))
    find_job("search").run(SearchSettings(), place=RunPlace(tmp_path, "s"), console=QUIET)
    assert known == [0, 3]


@pytest.mark.usefixtures("guessing")
def test_a_mistake_in_the_first_cell_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = StudyPlan("Wrong", lambda *_: [Cell("a", "guess", GuessSettings(-1))], largest)
    monkeypatch.setattr(sys.modules[__name__], "SEARCH", wrong)
    with pytest.raises(UserError, match="a number below 0"):
        find_job("search").run(SearchSettings(), place=RunPlace(tmp_path, "s"), console=QUIET)
    assert list(tmp_path.iterdir()) == []


def test_a_cell_waits_for_what_it_needs_and_for_nothing_that_nobody_plans() -> None:
    first, second = Cell("a", "job", None), Cell("b", "job", None, needs=("a",))
    run = Run(Path("anywhere"))
    assert ready([second, first], {}) == [first]
    assert ready([second, first], {"a": run}) == [second]
    assert ready([second, first], {"a": run, "b": run}) == []
    with pytest.raises(AssertionError, match=r"wait for cells that are not planned: \['b'\]"):
        ready([second], {})


@pytest.mark.parametrize("name", ["a", "A"], ids=["the same", "on some disks the same"])
def test_cells_that_would_share_a_folder_are_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"^two cells of this study would be called a: give every"):
        refuse_wrong_cells([Cell("a", "job", None), Cell(name, "other", None)])
