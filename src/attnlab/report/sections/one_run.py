"""One run: its score, its training, some of its answers, its splits."""

from collections.abc import Iterator, Sequence
from typing import Any

from attnlab.evaluation.comparable import SPLITS
from attnlab.evaluation.guessing import against_guessing
from attnlab.evaluation.held_out_text import text_sentence
from attnlab.evaluation.ledger import ledger_notes
from attnlab.report.calibration import calibration_blocks
from attnlab.report.document import Block, Heading, Sentences, Table
from attnlab.report.sections.curves import curves
from attnlab.report.tables import scores_table, short, warnings_of
from attnlab.runs.directory import Run

SAMPLES = 5


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Say what a run scored, and what makes that doubtful."""
    (run,) = runs
    yield from _scores(run)


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Show how the run went, some answers, what confidence is worth, and the splits."""
    (run,) = runs
    yield from curves(runs)
    yield from _samples(run)
    yield from calibration_blocks(run)
    yield from _ledger(run)


def _scores(run: Run) -> Iterator[Block]:
    yield scores_table(run)
    told = [
        against_guessing(split, score, run.predictions(split))
        for split, score in run.record["scores"].items()
        if run.has_predictions(split)
    ]
    told += [text_sentence(split, score) for split, score in run.record["scores"].items()]
    best, split = run.record.get("best_step"), run.record.get("chosen_on", "dev")
    if best is not None and split in run.record["scores"]:
        told.append(
            f"The weights are those of step {best:,}, chosen on {split}: its score flatters."
        )
    yield Sentences([sentence for sentence in told if sentence])
    if warnings_of(run):
        yield Sentences(warnings_of(run), warning=True)


def _samples(run: Run) -> Iterator[Block]:
    split = next((s for s in SPLITS if s in run.record["scores"] and run.has_predictions(s)), None)
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
    told = f"{100 * sure:.0f} %" if isinstance(sure, float) else "–"
    return [short(row["input"]), short(row["prediction"]), short(row["gold"]), told]


def _ledger(run: Run) -> Iterator[Block]:
    ledger = run.record.get("ledger")
    if not ledger:
        return
    yield Heading("The splits")
    yield Table(
        ["split", "n", "SHA-256"],
        [[n, f"{s['n']:,}", s["sha256"][:16]] for n, s in ledger["splits"].items()],
    )
    notes = ledger_notes(ledger)
    yield Sentences(
        [f"{note}." for note in notes] or ["No row stands in two splits."], warning=bool(notes)
    )
