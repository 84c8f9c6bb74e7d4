"""One run, one folder: beginning, opening, reading and finishing it.

    config.json         job, settings as layered, and every `auto` as it was resolved
    metrics.jsonl       one line per logged step or evaluation
    checkpoints/        see training/checkpoint.py
    predictions/        SPLIT.jsonl: one row per example, see runs/predictions.py
    rows/               SPLIT.txt: one hash per row of every split, of what the model sees of it
    manifest.json       SHA-256 of all of these, and of what else the job wrote
    record.json         scores with n and interval, versions, seconds; its presence means finished
    failure.json        kind, message and time of the error that ended the last attempt, if one did

A finished run does not change any more: each of its files must hold what the manifest says. What is
read, of a finished run or not, has the fields of runs/fields.py, or the field is named.

A run without a name is called after its job and the hash of its settings, so that the same command
finds the same folder: it resumes an unfinished run, and shows the result of a finished one.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from attnlab.errors import AttnlabError, DamagedFileError, StoppedError, UserError
from attnlab.runs.fields import AnswerRow, Config, Failure, LoggedStep, LossRow, Record
from attnlab.runs.files import (
    naming_the_path,
    parse_lines,
    parse_object,
    read_json,
    replace_file,
    to_json,
)
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
from attnlab.runs.manifest import RECORD as RECORD
from attnlab.runs.manifest import (
    hashes_of,
    is_listed,
    missing,
    read_manifest,
    read_sealed,
    write_manifest,
)
from attnlab.runs.shapes import ADVICE, check_shape

SCORE = {"metric", "value", "n", "interval"}
SHARES = ("accuracy", "f1")
"""Metrics from 0 to 1; any other is at least 0."""
CONFIG, METRICS, FAILURE = "config.json", "metrics.jsonl", "failure.json"
SEALED = (
    *(CONFIG, METRICS, "predictions/*.jsonl", "rows/*.txt"),
    "checkpoints/step-*/manifest.json",  # which has the hashes of that checkpoint's files
)
"""What every job writes, as far as answers come from it."""


@dataclass(frozen=True)
class RunPlace:
    """Where a run is to live: the folder of all runs and, if the user chose one, its name."""

    root: Path
    name: str | None = None
    is_trial: bool = False
    """Whether it is only to be timed: training then ends with a forecast before its first step."""

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
        refuse_other_format(path, read_json(path / CONFIG))
        run = cls(path)
        if run.finished:
            read_manifest(path)
        _ = run.config
        return run

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def config(self) -> dict[str, Any]:
        """The request: job, settings, and every auto as it was resolved."""
        config = parse_object(read_sealed(self.path / CONFIG), self.path / CONFIG)
        check_shape(config, Config, self.path / CONFIG)
        return config

    def setting(self, name: str) -> Any:
        """Return a setting that runs of this job must have."""
        return self._configured("settings", name)

    def resolved(self, name: str) -> Any:
        """Return what an `auto` was resolved to, which must have been."""
        return self._configured("resolved", name)

    def _configured(self, part: str, name: str) -> Any:
        values = self.config[part]
        if name not in values:
            raise DamagedFileError(f"{self.path / CONFIG} lacks {part}.{name}. {ADVICE}")
        return values[name]

    @property
    def finished(self) -> bool:
        """Whether the run has its record."""
        return (self.path / RECORD).exists()

    @property
    def record(self) -> dict[str, Any]:
        """What came out of a finished run."""
        record = parse_object(read_sealed(self.path / RECORD), self.path / RECORD)
        check_shape(record, Record, self.path / RECORD)
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
        """The error that ended the last attempt; None if it was stopped, runs, or has a result.

        A cell of a study may be finished by its failure: then it is not tried again.
        """
        path = self.path / FAILURE
        if self.finished:
            failed: dict[str, Any] | None = self.record.get("failed")
            return failed
        if not path.exists():
            return None
        failure = read_json(path)
        check_shape(failure, Failure, path)
        return failure

    def recorded(self, name: str) -> Any:
        """Return something from the record of a run whose job must have written it there."""
        record = self.record
        if name not in record:
            raise DamagedFileError(f"{self.path / RECORD} lacks {name}. {ADVICE}")
        return record[name]

    def refuse_missing(self, prefix: str) -> None:
        """Refuse a finished run that lacks files which it wrote, such as those of ``model/``."""
        for name in read_manifest(self.path):
            if name.startswith(prefix) and not (self.path / name).exists():
                raise DamagedFileError(missing(self.path / name))

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
            if self.finished:
                return self.resolved(key)  # says that it is missing
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
        lines = parse_lines(read_sealed(path), path) if _is_there(path) else []
        for number, line in enumerate(lines, 1):
            check_shape(line, LoggedStep, f"{path}:{number}")
            check_shape(line, dict[str, float], f"{path}:{number}")
        return lines

    def write_predictions(self, split: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Store the answers on one split, one example per line."""
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
        _write_lines(self._predictions(split), lines)

    def has_predictions(self, split: str) -> bool:
        """Whether answers on that split are stored."""
        return _is_there(self._predictions(split))

    def predictions(self, split: str) -> list[dict[str, Any]]:
        """Read the stored answers on one split."""
        path = self._predictions(split)
        if not _is_there(path):
            raise UserError(f"the run {self.name} has no predictions on {split!r} ({path}).")
        rows = parse_lines(read_sealed(path), path)
        is_answered = any(row.keys() & {"prediction", "confidence", "gold"} for row in rows)
        for number, row in enumerate(rows, 1):
            check_shape(row, AnswerRow if is_answered else LossRow, f"{path}:{number}")
            if odd := row.keys() ^ rows[0].keys():
                names = ", ".join(sorted(odd))
                raise DamagedFileError(
                    f"{path}:{number} has other columns than line 1 ({names}). {ADVICE}"
                )
        return rows

    def _predictions(self, split: str) -> Path:
        return self.path / "predictions" / f"{split}.jsonl"

    def write_rows(self, split: str, hashes: Sequence[str]) -> None:
        """Store one hash per row of a split."""
        _write_lines(self.path / "rows" / f"{split}.txt", hashes)

    def rows(self, split: str) -> list[str]:
        """Read the hashes of a split's rows; a split that the run did not have has none."""
        path = self.path / "rows" / f"{split}.txt"
        return read_sealed(path).decode("ascii", "replace").split() if _is_there(path) else []

    def discard_if_untouched(self) -> None:
        """Remove a directory that this object made and that holds nothing but the request."""
        if self.is_new and self.is_untouched:
            remove_folder(self.path)

    @property
    def is_untouched(self) -> bool:
        """Whether the directory holds nothing but the request."""
        return {entry.name for entry in self.path.iterdir()} <= {CONFIG, FAILURE, LOCK}

    def finish(self, record: Mapping[str, Any], files: Iterable[str] = ()) -> None:
        """Write the manifest, then the record, which marks the run as finished.

        ``files`` are patterns of what the job wrote beyond ``SEALED``, such as ``model/*``.
        """
        content = to_json(record)
        hashes = hashes_of(self.path, (*SEALED, *files))
        write_manifest(self.path, {**hashes, RECORD: hashlib.sha256(content).hexdigest()})
        replace_file(self.path / RECORD, content)

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


def _is_there(path: Path) -> bool:
    """Whether a file exists, or did when its run finished: then reading it says what is wrong."""
    return path.exists() or is_listed(path)


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
