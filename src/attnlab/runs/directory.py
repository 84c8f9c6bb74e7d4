"""One run, one folder: naming, opening, reading and finishing it.

    config.json         job, settings as layered, and every `auto` as it was resolved
    metrics.jsonl       one line per logged step or evaluation
    checkpoints/        see training/checkpoint.py
    predictions/        SPLIT.jsonl: one row per example, see runs/predictions.py
    rows/               SPLIT.txt: one hash per row of every split, of what the model sees of it
    record.json         scores with n and interval, versions, seconds; its presence means finished

A run without a name is called after its job and the hash of its settings, so that the same command
finds the same folder: unfinished it goes on, finished it shows its result.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from attnlab.errors import BusyError, DamagedFileError, UserError
from attnlab.runs.files import (
    naming_the_path,
    read_json,
    read_json_lines,
    replace_file,
    to_json,
    write_synced,
)

FORMAT = 2
"""How runs are kept; 1 had no hashes of rows, and other names in predictions and records."""
LONGEST_NAME = 200
SCORE = {"metric", "value", "n", "interval"}
CONFIG, METRICS, RECORD, LOCK = "config.json", "metrics.jsonl", "record.json", ".lock"


@dataclass(frozen=True)
class RunPlace:
    """Where a run is to live: the folder of all runs and, if the user chose one, its name."""

    root: Path
    name: str | None = None


class Run:
    """A run directory that exists. ``Run.begin`` makes or continues one, ``Run.open`` reads one."""

    def __init__(self, path: Path, *, is_new: bool = False) -> None:
        self.path = path
        self.is_new = is_new
        self._lock: BinaryIO | None = None

    @classmethod
    def begin(cls, job: str, settings: Mapping[str, Any], place: RunPlace) -> "Run":
        """Make the directory for these settings, or go on with the one that has them."""
        path = place.root / run_name(job, settings, place.name)
        if not path.exists() or is_empty_folder(path):
            _refuse_a_file_on_the_way(path)
            config = {"format": FORMAT, "job": job, "settings": settings, "resolved": {}}
            if make_folder(path, CONFIG, config):
                return cls(path, is_new=True)
        run = cls.find(job, settings, place)
        assert run is not None, f"{path} is gone"
        return run

    @classmethod
    def find(cls, job: str, settings: Mapping[str, Any], place: RunPlace) -> "Run | None":
        """Open the run of these settings, if there is one; one of other settings is refused."""
        path = place.root / run_name(job, settings, place.name)
        if not path.exists() or is_empty_folder(path):
            return None
        run = cls.open(path)
        _refuse_other_settings(run, job, settings)
        return run

    @classmethod
    def open(cls, path: Path) -> "Run":
        """Open a run that exists, to read it."""
        if not path.exists():
            raise UserError(f"there is no run {path}. `attnlab runs list` shows those there are.")
        if not (path / CONFIG).exists():
            raise UserError(f"{path} is no run directory: it holds no {CONFIG}.")
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
        """What the run was asked: job, settings, resolved."""
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
                raise DamagedFileError(f"{self.path / RECORD}: {place} lacks some of {wanted}.")
        return record

    def check(self) -> None:
        """Read everything once, so that damage is found here and not while it is shown."""
        self.metrics()
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
            f"{what} has changed since {self.name} was begun, so the run cannot go on with it. Put"
            " it back, or begin another run with --name."
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
        """Store the answers on one split, one example a line."""
        text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        path = self.path / "predictions" / f"{split}.jsonl"
        with naming_the_path(path):
            path.parent.mkdir(exist_ok=True)
        replace_file(path, text.encode())

    def has_predictions(self, split: str) -> bool:
        """Whether answers on that split are stored."""
        return (self.path / "predictions" / f"{split}.jsonl").exists()

    def predictions(self, split: str) -> list[dict[str, Any]]:
        """Read the stored answers on one split."""
        path = self.path / "predictions" / f"{split}.jsonl"
        if not self.has_predictions(split):
            raise UserError(f"the run {self.name} has no predictions on {split!r} ({path}).")
        return read_json_lines(path)

    def write_rows(self, split: str, hashes: Sequence[str]) -> None:
        """Store one hash per row of a split."""
        path = self.path / "rows" / f"{split}.txt"
        with naming_the_path(path):
            path.parent.mkdir(exist_ok=True)
        replace_file(path, "".join(f"{digest}\n" for digest in hashes).encode())

    def rows(self, split: str) -> list[str]:
        """Read the hashes of a split's rows; a split that the run did not have has none."""
        path = self.path / "rows" / f"{split}.txt"
        return path.read_text(encoding="ascii").split() if path.exists() else []

    def discard_if_untouched(self) -> None:
        """Take back a directory that this object made and that holds nothing but the request."""
        if self.is_new and self.is_untouched:
            shutil.rmtree(self.path)

    @property
    def is_untouched(self) -> bool:
        """Whether the directory holds nothing but the request."""
        return {entry.name for entry in self.path.iterdir()} <= {CONFIG, LOCK}

    def finish(self, record: Mapping[str, Any]) -> None:
        """Write the record, which marks the run as finished."""
        replace_file(self.path / RECORD, to_json(record))

    def __enter__(self) -> "Run":
        """Hold the run for this process; a second one at the same time is refused."""
        with naming_the_path(self.path / LOCK):
            lock = (self.path / LOCK).open("a+b")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().decode() or "unknown"
            lock.close()
            raise BusyError(
                f"process {holder} is working on {self.path}. Wait for it, stop it, or give this"
                " run another --name."
            ) from None
        except OSError:
            pass  # some cluster file systems have no locks; there the user takes care
        lock.truncate(0)
        lock.write(str(os.getpid()).encode())
        lock.flush()
        self._lock = lock
        return self

    def __exit__(self, *_: object) -> None:
        """Let the run go; the operating system does the same for a killed process."""
        if self._lock:
            self._lock.close()
            self._lock = None


def _is_score(score: Any) -> bool:
    if not isinstance(score, dict) or not score.keys() >= SCORE:
        return False
    numbers = score["interval"] if isinstance(score["interval"], list) else []
    return len(numbers) == 2 and all(
        isinstance(number, int | float) for number in (*numbers, score["value"], score["n"])
    )


def refuse_other_format(path: Path, content: Mapping[str, Any]) -> None:
    """Refuse what another version of attnlab has kept in another way."""
    there = content.get("format", 1)
    if there != FORMAT:
        version = "an earlier" if there in range(1, FORMAT) else "another"
        raise UserError(
            f"{path} was made by {version} version of attnlab, which kept runs differently (format"
            f" {there}, now {FORMAT}). Run its command again with another --name, or delete that"
            " folder first."
        )


def is_empty_folder(path: Path) -> bool:
    """Say whether there is a folder with nothing in it."""
    return path.is_dir() and not any(path.iterdir())


def make_folder(path: Path, name: str, content: Mapping[str, Any]) -> bool:
    """Make a folder with one JSON file in it at once; return False if another process was quicker.

    An empty folder in its place is replaced.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with naming_the_path(path):
        beside.mkdir(parents=True, exist_ok=True)
        write_synced(beside / name, to_json(content))
        try:
            beside.rename(path)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not path.exists():
                raise
            return False
    return True


def _refuse_a_file_on_the_way(path: Path) -> None:
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise UserError(f"--runs {path.parent} is not possible: {parent} is no folder.")


def run_name(job: str, settings: Mapping[str, Any], name: str | None = None) -> str:
    """Return the chosen name, or the job and eight hex digits of its settings."""
    if name is None:
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return f"{job}-{hashlib.sha256(canonical.encode()).hexdigest()[:8]}"
    plain = name and name.isprintable() and not name.startswith(".") and "/" not in name
    if not plain or len(name.encode()) > LONGEST_NAME:
        raise UserError(
            f"--name {name!r} is not possible: it must be a plain folder name of at most"
            f" {LONGEST_NAME} bytes."
        )
    return name


def list_runs(root: Path) -> tuple[list[Run], list[str]]:
    """Return the runs below ``root``, newest first, and what could not be read there."""
    if not root.is_dir():
        return [], []
    runs, problems = [], []
    files = [*root.glob(f"*/{CONFIG}"), *root.glob(f"*/*/{CONFIG}")]  # the latter in studies
    inside_runs = {file.parent for file in files if (file.parent.parent / CONFIG).exists()}
    folders = [
        file.parent
        for file in files
        if not file.parent.name.startswith(".") and file.parent not in inside_runs
    ]
    for path in sorted(folders, key=lambda p: p.stat().st_mtime, reverse=True):
        try:
            run = Run.open(path)
            run.check()
            runs.append(run)
        except UserError as error:
            problems.append(str(error))
    return runs, problems


def _refuse_other_settings(run: Run, job: str, settings: Mapping[str, Any]) -> None:
    config = run.config
    wanted = json.loads(json.dumps({"job": job, "settings": settings}))
    there = {"job": config["job"], "settings": config["settings"]}
    if there == wanted:
        return
    changes = [f"{key}: {old!r} there, {new!r} now" for key, old, new in differences(there, wanted)]
    raise UserError(
        f"the run {run.path} exists with other settings ({'; '.join(changes)})."
        " Choose another --name, or delete that folder."
    )


def differences(old: Any, new: Any, path: str = "") -> Iterable[tuple[str, Any, Any]]:
    """Yield the dotted key and both values wherever two nested mappings differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield path.removeprefix("settings."), old, new
