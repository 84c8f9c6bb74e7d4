"""A cell that cannot be run to its end is a result as well: memory, nan or failed, and why."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attnlab.config import to_dict
from attnlab.runs import machine
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.distributed import join_processes


def close_as_failed(
    job: str, settings: Any, place: RunPlace, *, in_a_word: str, message: str
) -> Run:
    """Finish the run of a cell without a score; its record says in a word and in full why.

    Repeating the study's command does not run it again. Removing its folder does.
    """

    def close() -> str:
        run = Run.begin(job, to_dict(settings), place)
        if not run.finished:  # by an earlier command
            now = datetime.now(UTC).isoformat(timespec="seconds")
            failed = {"kind": in_a_word, "message": message, "time": now}
            resolved = run.config["resolved"]
            with run:
                run.finish(
                    {"job": job, "scores": {}, "failed": failed, "resolved": resolved}
                    | machine.describe()
                )
        return str(run.path)

    with join_processes() as processes:
        return Run(Path(processes.from_lead(close)))
