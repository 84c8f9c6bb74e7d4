"""Which rows of a scored file the model's run has seen before: a score on those is no test."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.evaluation.calibration import CALIBRATION, UNSEEN
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.recipes.files import HASHES
from attnlab.runs.directory import CONFIG, RECORD, Run
from attnlab.runs.files import sha256_of

UNLABELLED = "unlabelled"
RESERVED = (CALIBRATION, UNSEEN, HELD_OUT_TEXT, UNLABELLED)
"""Splits with a role of their own, which a file does not get by its name."""
LONGEST = 60


def split_named_after(path: Path) -> str:
    """Name a split after the file that is scored: ``train`` for train.csv."""
    name = re.sub(r"[^\w.-]+", "_", path.stem)[:LONGEST].strip("._-") or "file"
    return f"{name}_file" if name in RESERVED else name


@dataclass(frozen=True)
class SeenRows:
    """Hashes of the rows that made a model what it is."""

    trained: Collection[str]
    read: Collection[str]
    """Unlabelled text of masked training."""
    chose: Collection[str]
    """Rows of the split that chose the step."""
    lost: str = ""
    """The run that it started from, if that one is missing or another one by now."""

    @classmethod
    def of(cls, source: Run) -> "SeenRows":
        """Collect what a run saw, and what those saw that it started from."""
        trained, read, chose, lost = set[str](), set[str](), set[str](), ""
        for run in _lineage(source):
            lost = lost or _lost_start(run)
            trained |= set(run.rows("train"))
            read |= set(run.rows(UNLABELLED))
            chose |= set(run.rows(run.record.get("chosen_on", "")))
        return cls(trained, read, chose, lost)

    def warnings(self, split: str, hashes: Sequence[str]) -> list[str]:
        """Say what a score on these rows is not."""
        n = len(hashes)
        trained = sum(row in self.trained for row in hashes)
        read = sum(row in self.read and row not in self.trained for row in hashes)
        chose = sum(row in self.chose for row in hashes)
        found = []
        if trained:
            verdict = ": this is not a test score" if trained == n else ""
            found.append(f"{trained:,} of {n:,} rows were trained on{verdict}")
        if read:
            found.append(f"{read:,} of {n:,} rows were read in training, without labels")
        if chose:
            who = split if chose == n else f"{chose:,} of {n:,} rows"
            found.append(f"{who} chose the step: this score is optimistic")
        if self.lost:
            found.append(f"rows that {self.lost} was trained on are not counted: it is gone")
        return [f"{split}: {sentence}" for sentence in found]


def _lineage(run: Run) -> Iterator[Run]:
    """Give a run and, as far as they are still there, those whose weights it started from."""
    if not run.finished:
        return
    yield run
    settings = run.config["settings"]
    start, model = settings.get("start"), settings.get("model")
    earlier = Path(start) if start else Path(model).parent if isinstance(model, str) else None
    if earlier and (earlier / CONFIG).is_file() and not _lost_start(run):
        yield from _lineage(Run.open(earlier))


def _lost_start(run: Run) -> str:
    """Return the run that a run started from, if it is not there or not the same any more.

    A file of weights, which needs a corpus, has no rows that could be lost.
    """
    settings, data = run.config["settings"], run.config["resolved"].get(HASHES, {})
    start = settings.get("start") or ""
    if not start or (settings.get("corpus") and not Path(start).is_dir()):
        return ""
    record = Path(start) / RECORD
    return "" if record.is_file() and sha256_of(record) == data.get("start") else str(start)
