"""How every job ends: it writes predictions, row hashes, manifest and record, in this order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.evaluation.accuracy import score_answers
from attnlab.evaluation.ledger import Row, row_hashes, split_ledger
from attnlab.phases import phase
from attnlab.recipes.seen_rows import SeenRows
from attnlab.runs import machine
from attnlab.runs.directory import Run
from attnlab.runs.predictions import Predictions, column, is_labelled

LAST_STEP = "nothing: the last step is kept"
"""What chose the step that is kept, where nothing did."""


@dataclass(frozen=True)
class Splits:
    """The rows of every split as the ledger compares them, training first."""

    rows: Mapping[str, Sequence[Row]]
    inputs: Sequence[str]
    """Fields that a model sees; the others are the truth."""
    source: Run | None = None
    """The finished run whose model is evaluated, if it is another one."""

    def ledger(self) -> dict[str, Any]:
        """Say what each split holds, and which rows stand in two of them."""
        return split_ledger(self.rows, inputs=self.inputs)

    def hashes(self) -> dict[str, list[str]]:
        """Return one hash per row of every split."""
        return {name: row_hashes(rows, inputs=self.inputs) for name, rows in self.rows.items()}


@phase("scoring")
def close_run(
    run: Run,
    predictions: Mapping[str, Predictions],
    *,
    splits: Splits,
    train_gold: Sequence[str | None] = (),
    scores: Mapping[str, Mapping[str, Any]] | None = None,
    warnings: Sequence[str] = (),
    files: Sequence[str] = (),
    **found: Any,
) -> None:
    """Write down what a run predicted and found; the record comes last and means finished.

    ``train_gold`` are the training answers; always giving the most common one is the baseline.
    Where none are known, the most common right answer is, which no constant answer can beat.
    ``scores`` are those of splits whose rows are not answered right or wrong; ``warnings`` come
    before what is found out here about the rows. ``files`` are patterns of what else the job has
    written, such as ``model/*``, for the manifest.
    """
    for split, rows in predictions.items():
        run.write_predictions(split, rows)
    hashes = splits.hashes()
    for split, of_rows in hashes.items():
        run.write_rows(split, of_rows)
    config, seen = run.config, SeenRows.of(splits.source) if splits.source else None
    labelled = {split: rows for split, rows in predictions.items() if is_labelled(rows)}
    run.finish(
        {
            "job": config["job"],
            "scores": {split: _score(rows, train_gold) for split, rows in labelled.items()}
            | dict(scores or {}),
            "warnings": [
                *warnings,
                *(
                    warning
                    for split in labelled
                    for warning in (seen.warnings(split, hashes[split]) if seen else ())
                ),
            ],
            "test": "evaluated once" if "test" in predictions else "none",
            "ledger": splits.ledger(),
            **found,
            "resolved": config["resolved"],
            **machine.describe(),
        },
        files,
    )


def _score(rows: Predictions, train_gold: Sequence[str | None]) -> dict[str, Any]:
    gold = column(rows, "gold")
    known = [answer for answer in train_gold if answer is not None]
    return score_answers(gold, column(rows, "prediction"), train_gold=known or gold)
