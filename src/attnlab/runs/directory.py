"""One run, one folder: beginning, opening, reading and finishing it.

    config.json         job, settings as layered, and every `auto` as it was resolved
    metrics.jsonl       one line per logged step or evaluation
    checkpoints/        see training/checkpoint.py
    predictions/        SPLIT.jsonl: one row per example, see runs/predictions.py
    rows/               SPLIT.txt: one hash per row of every split, of what the model sees of it
    record.json         scores with n and interval, versions, seconds; its presence means finished
    failure.json        kind, message and time of the error that ended the last attempt, if one did

A run without a name is called after its job and the hash of its settings, so that the same command
finds the same folder: it resumes an unfinished run, and shows the result of a finished one.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from attnlab.errors import AttnlabError, DamagedFileError, StoppedError, UserError
from attnlab.runs.files import naming_the_path, read_json, read_json_lines, replace_file, to_json
from attnlab.runs.folders import (
    FORMAT,
    folders_in,
    is_free,
    make_folder,
    no_such_run,
    refuse_other_format,
    refuse_other_settings,
    remove_folder,
    run_name,
)
from attnlab.runs.lock import LOCK, hold

SCORE = {"metric", "value", "n", "interval"}
SHARES = ("accuracy", "f1")
"""Metrics from 0 to 1; any other is at least 0."""
CONFIG, METRICS, RECORD = "config.json", "metrics.jsonl", "record.json"
FAILURE = "failure.json"


@dataclass(frozen=True)
class RunPlace:
    """Where a run is to live: the folder of all runs and, if the user chose one, its name."""

    root: Path
    name: str | None = None

    def path(self, job: str, settings: Mapping[str, Any]) -> Path:
        """Return the folder of the run or study of these settings."""
        return self.root / run_name(job, settings, self.name)


class Run:
    """A run directory that exists. ``Run.begin`` makes or continues one, ``Run.open`` reads one."""

    def __init__(self, path: Path, *, is_new: bool = False) -> None:
        self.path = path
        self.is_new = is_new
        self._lock: BinaryIO | None = None

    @classmethod
    def begin(cls, job: str, settings: Mapping[str, Any], place: RunPlace) -> "Run":
        """Make the directory for these settings, or continue the one that has them."""
        path = place.path(job, settings)
        config = {"format": FORMAT, "job": job, "settings": settings, "resolved": {}}
        if is_free(path) and make_folder(path, CONFIG, config):
            return cls(path, is_new=True)
        run = cls.find(job, settings, place)
        assert run is not None, f"{path} is gone"
        return run

    @classmethod
    def find(cls, job: str, settings: Mapping[str, Any], place: RunPlace) -> "Run | None":
        """Open the run of these settings, if there is one; one of other settings is refused."""
        path = place.path(job, settings)
        if is_free(path):
            return None
        run = cls.open(path)
        refuse_other_settings(f"run {path}", run.config, {"job": job, "settings": settings})
        return run

    @classmethod
    def open(cls, path: Path) -> "Run":
        """Open a run that exists, to read it."""
        if not path.exists():
            known = [folder.name for folder in folders_in(path.parent)]
            raise no_such_run(path.name, path.parent, known)
        if not (path / CONFIG).exists():
            raise UserError(f"{path} is not a run directory: it has no {CONFIG}.")
        config = read_json(path / CONFIG)
        kinds = {"job": str, "settings": dict, "resolved": dict}
        missing = [key for key, kind in kinds.items() if not isinstance(config.get(key), kind)]
        if missing:
            raise DamagedFileError(f"{path / CONFIG} lacks {', '.join(missing)}.")
        refuse_other_format(path, config)
        return cls(path)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def config(self) -> dict[str, Any]:
        """The request: job, settings, and every auto as it was resolved."""
        return read_json(self.path / CONFIG)

    @property
    def finished(self) -> bool:
        """Whether the run has its record."""
        return (self.path / RECORD).exists()

    @property
    def record(self) -> dict[str, Any]:
        """What came out of a finished run."""
        record = read_json(self.path / RECORD)
        scores = record.get("scores")
        for split, score in scores.items() if isinstance(scores, dict) else [("", None)]:
            if not _is_score(score):
                wanted = ", ".join(sorted(SCORE))
                place = f"scores.{split}" if split else "scores"
                raise DamagedFileError(
                    f"{self.path / RECORD}: {place} lacks some of {wanted}, or one is impossible."
                )
        return record

    @property
    def failure(self) -> dict[str, Any] | None:
        """The error that ended the last attempt; None if it was stopped, runs, or is finished."""
        path = self.path / FAILURE
        return read_json(path) if path.exists() and not self.finished else None

    def check(self) -> None:
        """Read everything once, so that damage is found here and not while it is shown."""
        self.metrics()
        _ = self.failure
        if self.finished:
            _ = self.record

    def resolve_once(self, key: str, decide: Callable[[], Any]) -> Any:
        """Return the value decided for an `auto`, deciding and writing it down the first time."""
        config = self.config
        if key not in config["resolved"]:
            config["resolved"][key] = decide()
            replace_file(self.path / CONFIG, to_json(config))
        return config["resolved"][key]

    def has_changed(self, what: str) -> UserError:
        """Build the error for something that is not what it was when the run was begun."""
        return UserError(
            f"{what} has changed since {self.name} was begun, so the run cannot resume with it."
            " Restore it, or start another run with --name."
        )

    def metrics(self) -> list[dict[str, Any]]:
        """Read the logged lines; a run that logged nothing yet has none."""
        path = self.path / METRICS
        lines = read_json_lines(path) if path.exists() else []
        for number, line in enumerate(lines, 1):
            if not isinstance(line.get("step"), int):
                raise DamagedFileError(f"{path}:{number} has no step.")
        return lines

    def write_predictions(self, split: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store the answers on one split, one example per line."""
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
        _write_lines(self._predictions(split), lines)

    def has_predictions(self, split: str) -> bool:
        """Whether answers on that split are stored."""
        return self._predictions(split).exists()

    def predictions(self, split: str) -> list[dict[str, Any]]:
        """Read the stored answers on one split."""
        path = self._predictions(split)
        if not path.exists():
            raise UserError(f"the run {self.name} has no predictions on {split!r} ({path}).")
        return read_json_lines(path)

    def _predictions(self, split: str) -> Path:
        return self.path / "predictions" / f"{split}.jsonl"

    def write_rows(self, split: str, hashes: Sequence[str]) -> None:
        """Store one hash per row of a split."""
        _write_lines(self.path / "rows" / f"{split}.txt", hashes)

    def rows(self, split: str) -> list[str]:
        """Read the hashes of a split's rows; a split that the run did not have has none."""
        path = self.path / "rows" / f"{split}.txt"
        return path.read_text(encoding="ascii").split() if path.exists() else []

    def discard_if_untouched(self) -> None:
        """Remove a directory that this object made and that holds nothing but the request."""
        if self.is_new and self.is_untouched:
            remove_folder(self.path)

    @property
    def is_untouched(self) -> bool:
        """Whether the directory holds nothing but the request."""
        return {entry.name for entry in self.path.iterdir()} <= {CONFIG, FAILURE, LOCK}

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record, which marks the run as finished."""
        replace_file(self.path / RECORD, to_json(record))

    def __enter__(self) -> "Run":
        """Hold the run for this process; a second one at the same time is refused."""
        with ExitStack() as stack:  # a lock that cannot be used is let go
            lock = stack.enter_context(hold(self.path))
            (self.path / FAILURE).unlink(missing_ok=True)
            stack.pop_all()
        self._lock = lock
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Let the run go; note what ended it, if that was a failure."""
        if _is_failure(error) and self.path.exists():
            self._note_failure(error)
        if self._lock:
            self._lock.close()
            self._lock = None

    def _note_failure(self, error: Exception) -> None:
        kind, now = type(error).__name__, datetime.now(UTC).isoformat(timespec="seconds")
        # our errors are sentences; of another, the kind is half of what it says
        message = str(error) if isinstance(error, AttnlabError) else f"{kind}: {error}"
        failure = {"kind": kind, "message": message, "time": now}
        with suppress(AttnlabError):  # a full disk: the error that ended the run is the one to show
            replace_file(self.path / FAILURE, to_json(failure))


def _is_failure(error: BaseException | None) -> TypeGuard[Exception]:
    """Say whether a run failed: a signal stops it, and a user's mistake changes nothing."""
    return isinstance(error, Exception) and not isinstance(error, StoppedError | UserError)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with naming_the_path(path):
        path.parent.mkdir(exist_ok=True)
    replace_file(path, "".join(f"{line}\n" for line in lines).encode())


def _is_score(score: Any) -> bool:
    if not isinstance(score, dict) or not score.keys() >= SCORE:
        return False
    numbers = score["interval"] if isinstance(score["interval"], list) else []
    numbers = [*numbers, score["value"]]
    most = 1 if score["metric"] in SHARES else math.inf
    return (
        len(numbers) == 3
        and all(isinstance(number, int | float) and 0 <= number <= most for number in numbers)
        and isinstance(score["n"], int)
        and score["n"] >= 0
    )
