"""Which rows of a scored file the model's run has seen before: a score on those is no test."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.evaluation.calibration import CALIBRATION, INVENTED, UNSEEN
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.recipes.files import HASHES
from attnlab.runs.directory import CONFIG, RECORD, Run
from attnlab.runs.files import sha256_of

START_RECORD = "start_record"
"""Where a classifier's run keeps the hash of the record of the run that it started from."""
UNLABELLED = "unlabelled"
SYNTHETIC = "synthetic"
RESERVED = (CALIBRATION, INVENTED, UNSEEN, HELD_OUT_TEXT, UNLABELLED, SYNTHETIC)
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
    asked: Collection[str] = ()
    """Synthetic questions, with a reader's answers instead of labels."""
    lost: str = ""
    """The run that it started from, if that one is missing or another one by now."""

    @classmethod
    def of(cls, source: Run) -> "SeenRows":
        """Collect what a run saw, and what those saw that it started from."""
        trained, read, asked, chose, lost = set[str](), set[str](), set[str](), set[str](), ""
        for run in lineage(source):
            lost = lost or _lost_start(run)
            trained |= set(run.rows("train"))
            read |= set(run.rows(UNLABELLED))
            asked |= set(run.rows(SYNTHETIC))
            chose |= set(run.rows(run.record.get("chosen_on", "")))
        return cls(trained, read, chose, asked, lost)

    def warnings(self, split: str, hashes: Sequence[str]) -> list[str]:
        """Say what a score on these rows is not."""
        n = len(hashes)
        trained = sum(row in self.trained for row in hashes)
        read = sum(row in self.read and row not in self.trained for row in hashes)
        asked = sum(row in self.asked and row not in self.trained for row in hashes)
        chose = sum(row in self.chose for row in hashes)
        found = []
        if trained:
            verdict = ": this is not a test score" if trained == n else ""
            found.append(f"{trained:,} of {n:,} rows were trained on{verdict}")
        if read:
            found.append(f"{read:,} of {n:,} rows were read in training, without labels")
        if asked:
            found.append(
                f"{asked:,} of {n:,} questions were asked in training, with the answers of a reader"
                " instead of labels"
            )
        if chose:
            who = split if chose == n else f"{chose:,} of {n:,} rows"
            found.append(f"{who} chose the step: this score is optimistic")
        if self.lost:
            found.append(f"rows that {self.lost} was trained on are not counted: it is gone")
        return [f"{split}: {sentence}" for sentence in found]


def lineage(run: Run) -> Iterator[Run]:
    """Give a run and, as far as they are still there, those whose weights it started from."""
    if not run.finished:
        return
    yield run
    settings = run.config["settings"]
    start, model = settings.get("start"), settings.get("model")
    earlier = Path(start) if start else Path(model).parent if isinstance(model, str) else None
    if earlier and (earlier / CONFIG).is_file() and not _lost_start(run):
        yield from lineage(Run.open(earlier))


def _lost_start(run: Run) -> str:
    """Return the run that a run started from, if it is not there or not the same any more.

    A file of weights, which needs a corpus, has no rows that could be lost.
    """
    settings, resolved = run.config["settings"], run.config["resolved"]
    start, sha256 = settings.get("start") or "", resolved.get(HASHES, {}).get("start")
    if START_RECORD in resolved:
        start, sha256 = str(Path(settings["model"]).parent), resolved[START_RECORD]
    if not start or (settings.get("corpus") and not Path(start).is_dir()):
        return ""
    record = Path(start) / RECORD
    return "" if record.is_file() and sha256_of(record) == sha256 else start
