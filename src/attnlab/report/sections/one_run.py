"""One run: its score, its training, some of its answers, its splits."""

from collections.abc import Iterator, Sequence
from typing import Any

from attnlab.evaluation.accuracy import against_guessing
from attnlab.evaluation.common_splits import SPLITS
from attnlab.evaluation.held_out_text import text_sentence
from attnlab.evaluation.ledger import ledger_notes
from attnlab.report import training_curves
from attnlab.report.calibration import calibration_blocks, sentences
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.epochs import epoch_blocks
from attnlab.report.sections import Section
from attnlab.report.sections.classifier import classifier_blocks, short_blocks
from attnlab.report.tables import scores_table, short, split_title, warnings_of
from attnlab.runs.directory import Run

SAMPLES = 5


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Say what a run scored, and what makes that doubtful."""
    (run,) = runs
    scores = run.record["scores"]
    yield scores_table(run)
    lines = [
        against_guessing(split, score, run.predictions(split))
        for split, score in scores.items()
        if run.has_predictions(split)
    ]
    lines += [text_sentence(split, score) for split, score in scores.items()]
    best, split = run.record.get("best_step"), run.record.get("chosen_on", "dev")
    if best is not None and split in scores:
        lines.append(
            f"The weights are those of step {best:,}, chosen on {split}: that score is optimistic."
        )
    yield Sentences([line for line in lines if line])
    if warnings := warnings_of(run):
        yield Sentences(warnings, warning=True)


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Show how the run went, some answers, what confidence is worth, and the splits."""
    (run,) = runs
    yield from classifier_blocks(run)
    yield from curves(runs)
    yield from epoch_blocks(run)
    yield from _samples(run)
    yield from calibration_blocks(run)
    yield from _ledger(run)


def tables(run: Run) -> Iterator[Block]:
    """Show those details that need no figure."""
    yield from short_blocks(run)
    yield from epoch_blocks(run)
    if said := sentences(run.record.get("confidence") or {"splits": {}}):
        yield Heading("What its confidence is worth")
        yield Sentences(said)
    yield from _ledger(run)


def curves(runs: Sequence[Run]) -> Iterator[Block]:
    """Draw losses and accuracies over the steps; nothing for runs that logged none."""
    logs = {run.name: run.metrics() for run in runs}
    if any("loss" in line for lines in logs.values() for line in lines):
        rates = {run.record.get("steps_per_epoch") for run in runs}
        per_epoch = rates.pop() if len(rates) == 1 else None
        yield Heading("Training curves")
        caption = "Training loss, and loss and accuracy where they were evaluated on the way."
        yield Figure("curves", caption, training_curves.curves(logs, per_epoch=per_epoch))


def _samples(run: Run) -> Iterator[Block]:
    scores = run.record["scores"]
    split = next((s for s in (*SPLITS, *scores) if s in scores and run.has_predictions(s)), None)
    rows = run.predictions(split) if split else []
    if not rows or "prediction" not in rows[0]:
        return
    right = [row for row in rows if row["prediction"] == row["gold"]][:SAMPLES]
    wrong = [row for row in rows if row["prediction"] != row["gold"]][:SAMPLES]
    yield Heading(f"Answers on {split}")
    marked = [("right", row) for row in right] + [("wrong", row) for row in wrong]
    rows_shown = [[mark, *_sample(row)] for mark, row in marked]
    yield Table(["", "input", "answer", "truth", "confidence"], rows_shown)


def _sample(row: dict[str, Any]) -> list[str]:
    sure = row.get("confidence")
    confidence = f"{100 * sure:.0f} %" if isinstance(sure, float) else "–"
    return [short(row["input"]), short(row["prediction"]), short(row["gold"]), confidence]


def _ledger(run: Run) -> Iterator[Block]:
    ledger = run.record.get("ledger")
    if not ledger:
        return
    yield Heading("The splits")
    yield Table(
        ["split", "n", "SHA-256"],
        [
            [split_title(run, name), f"{split['n']:,}", split["sha256"][:16]]
            for name, split in ledger["splits"].items()
        ],
    )
    notes = ledger_notes(ledger)
    if len(ledger["splits"]) > 1:
        yield Sentences(
            [f"{note}." for note in notes] or ["No row stands in two splits."], warning=bool(notes)
        )


ONE_RUN = Section(summary, details)
