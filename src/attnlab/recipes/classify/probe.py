"""The job ``classify-probe``: does training with a batch of this size fit into memory?

Where memory runs out, a process on a CPU is killed; there is no exception to catch. So another
process trains, and is watched (``cluster/watched.py``, ``two_steps.py``).
"""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.cluster.process import MEMORY
from attnlab.cluster.watched import Watched, run_watched
from attnlab.config import to_dict, to_yaml
from attnlab.environment import world_size
from attnlab.errors import RunError, UserError
from attnlab.phases import phase
from attnlab.recipes.classify.settings import ProbeSettings
from attnlab.recipes.classify.texts import fetch_texts, files_of
from attnlab.recipes.classify.train import need_texts_and_model
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import naming_the_path, replace_file
from attnlab.runs.machine import free_memory_bytes
from attnlab.runs.memory import written_megabytes

TWO_STEPS = "attnlab.recipes.classify.two_steps"
FREE_SHARE = 0.9
"""Of the free memory; the system needs the rest, and a watcher sees a little too late."""
FITS = "fits"
SAYS_NOTHING = sys.maxsize
"""The budget where the system does not say how much is free: it ends what takes too much."""


def run_probe(job: str, settings: ProbeSettings, *, place: RunPlace, console: Console) -> Run:
    """Train two steps on the longest rows in another process, and write down how that ended."""
    done = Run.find(job, to_dict(settings), place)
    if done and done.finished:
        return done  # what it read may be gone
    if world_size() > 1:
        raise UserError("a batch is probed in a process of its own: leave torchrun out.")
    need_texts_and_model(settings.base)
    fetch_texts(settings.base)

    def work(run: Run) -> None:
        with _trial_folder(run) as folder:
            probe = _probed(settings, folder)
        console.print(probe_line(probe), highlight=False, soft_wrap=True)
        close_run(run, {}, splits=Splits({}, inputs=[]), probe=probe)

    return run_without_training(job, settings, work, place=place, files=files_of(settings.base))


def probe_line(probe: dict[str, Any]) -> str:
    """Say on a line what came out of a probe."""
    return f"batch {probe['batch_size']}: {written_peak(probe)}, {probe['ended']}"


def written_peak(probe: dict[str, Any]) -> str:
    """Write how much memory a probe held."""
    return written_megabytes(probe["peak"]) if probe["peak"] else "memory unknown"


@contextmanager
def _trial_folder(run: Run) -> Iterator[Path]:
    """Give a folder to train in: on the run's disk, since a temporary one may itself be memory."""
    folder = run.path / "trial"
    shutil.rmtree(folder, ignore_errors=True)  # a kill may have left it
    with naming_the_path(folder):
        folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _probed(settings: ProbeSettings, folder: Path) -> dict[str, Any]:
    batch_size, budget = settings.base.batch_size, settings.memory_bytes or _free()
    config, result = folder / "settings.yaml", folder / "peak.json"
    replace_file(config, to_yaml(settings.base).encode())
    argv = [sys.executable, "-m", TWO_STEPS, str(config), str(result)]
    with phase(f"trying batches of {batch_size}"):
        watched = run_watched(argv, most_bytes=budget, log=folder / "probe.log")
    said = json.loads(result.read_text()) if result.exists() else None
    peak = max(watched.peak, said or 0)
    ended = _how_it_ended(watched, peak, budget)
    return {
        "batch_size": batch_size,
        "fits": ended == FITS,
        "ended": ended,
        "peak": peak,
        "budget": budget,
    }


def _how_it_ended(watched: Watched, peak: int, budget: int) -> str:
    """Say whether it fits, or how it did not; what says nothing about memory is an error."""
    ended, most = watched.ended, written_megabytes(budget)
    if watched.was_stopped:
        return f"stopped above {most}"
    if ended.code == 0:
        return FITS if peak <= budget else f"more than {most}"
    if ended.in_a_word == MEMORY:
        return f"out of memory: {ended.said}"
    if ended.code == UserError.exit_code:
        raise UserError(ended.said)
    raise RunError(
        f"a probe ended with exit code {ended.code}, which says nothing about memory."
        f" Its last words: {ended.said.removesuffix('.')}. The same command tries again."
    )


def _free() -> int:
    free = free_memory_bytes()
    return SAYS_NOTHING if free is None else int(FREE_SHARE * free)
