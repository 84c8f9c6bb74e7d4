"""Jobs that train nothing: one process does the work, and torch is not loaded for it."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attnlab.config import to_dict
from attnlab.errors import UserError
from attnlab.recipes.files import refuse_changed_files
from attnlab.runs.directory import Run, RunPlace


def run_without_training(
    job: str,
    settings: Any,
    work: Callable[[Run], None],
    *,
    place: RunPlace,
    files: Mapping[str, Path],
) -> Run:
    """Begin or continue a run and do its work, finished or not; other processes wait for it."""

    def begin_and_work() -> str:
        run = Run.begin(job, to_dict(settings), place)
        try:
            with run:
                refuse_changed_files(run, files)
                work(run)
        except UserError:
            run.discard_if_untouched()
            raise
        return str(run.path)

    if os.environ.get("WORLD_SIZE", "1") == "1":
        return Run(Path(begin_and_work()))
    from attnlab.training.distributed import join_processes  # loads torch

    with join_processes() as processes:
        return Run(Path(processes.from_lead(begin_and_work)))
