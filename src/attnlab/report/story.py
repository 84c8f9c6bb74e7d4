"""From run directories to a document: every number and sentence comes from the records."""

from collections.abc import Iterator, Sequence
from typing import Any

from attnlab.config import flatten
from attnlab.errors import UserError
from attnlab.evaluation.comparable import SPLITS
from attnlab.evaluation.comparison import Comparison, compare
from attnlab.evaluation.guessing import against_guessing
from attnlab.evaluation.ledger import ledger_notes
from attnlab.evaluation.metrics import check_answers, metric_called
from attnlab.report import figures
from attnlab.report.document import Block, Document, Grid, Heading, Picture, Sentences
from attnlab.report.doubt import doubt_blocks
from attnlab.report.grids import comparison_grid, doubts, scores_grid
from attnlab.report.label_budget import budget_blocks, is_label_budget
from attnlab.runs.directory import Run

SAMPLES, LONGEST = 5, 300


def tell(runs: Sequence[Run], *, title: str | None = None, notes: Sequence[str] = ()) -> Document:
    """Tell the story of one run, or of several side by side, after what a reader should know."""
    for run in runs:
        if not run.finished:
            raise UserError(f"the run {run.name} is not finished; its command goes on with it.")
        scored = [split for split in run.record["scores"] if run.has_predictions(split)]
        if not scored:
            raise UserError(
                f"the run {run.name} has no score with stored predictions to report on."
            )
        for split in scored:
            score = run.record["scores"][split]
            place = f"{run.name}/predictions/{split}.jsonl"
            metric = metric_called(score["metric"])
            check_answers(run.predictions(split), metric, n=score["n"], place=place)
    before: list[Block] = [Sentences(notes)] if notes else []
    several = _budgets if is_label_budget(runs) else _several
    blocks = before + list(_one(runs[0]) if len(runs) == 1 else several(runs))
    return Document(title or (runs[0].name if len(runs) == 1 else f"{len(runs)} runs"), blocks)


def _one(run: Run) -> Iterator[Block]:
    yield Heading("What came out")
    yield from _scores(run)
    yield from _curves([run])
    yield from _samples(run)
    yield from doubt_blocks(run)
    yield from _ledger(run)
    yield from _how(run)


def _several(runs: Sequence[Run]) -> Iterator[Block]:
    comparison = compare(runs)
    yield Heading("What came out")
    yield comparison_grid(comparison)
    yield Sentences([pair.verdict for pair in comparison.pairs])
    if comparison.notes:
        yield Sentences(comparison.notes, warning=True)
    caption = (
        f"{comparison.metric.name.capitalize()} on {comparison.split} with 95 % intervals;"
        " dots are seeds, the red mark is what guessing gives."
    )
    yield Picture("scores", caption, figures.score_bars(comparison))
    yield from _curves(runs)
    yield from _disagreements(runs, comparison)
    for run in runs:
        if run.has_predictions("unseen"):
            yield from doubt_blocks(run)
    for run in runs:
        yield from _how(run)


def _budgets(runs: Sequence[Run]) -> Iterator[Block]:
    """Tell of runs with different numbers of labels, each number by itself."""
    yield Heading("What came out")
    yield from budget_blocks(runs)
    yield from _curves(runs)
    for run in runs:
        yield from _how(run)


def _scores(run: Run) -> Iterator[Block]:
    yield scores_grid(run)
    told = [
        against_guessing(split, score, run.predictions(split))
        for split, score in run.record["scores"].items()
        if run.has_predictions(split)
    ]
    best, split = run.record.get("best_step"), run.record.get("chosen_on", "dev")
    if best is not None and split in run.record["scores"]:
        told.append(
            f"The weights are those of step {best:,}, chosen on {split}: its score flatters."
        )
    yield Sentences([sentence for sentence in told if sentence])
    if doubts(run):
        yield Sentences(doubts(run), warning=True)


def _curves(runs: Sequence[Run]) -> Iterator[Block]:
    logs = {run.name: run.metrics() for run in runs}
    if any("loss" in line for lines in logs.values() for line in lines):
        rates = {run.record.get("steps_per_epoch") for run in runs}
        per_epoch = rates.pop() if len(rates) == 1 else None
        yield Heading("On the way")
        caption = "Training loss; loss and accuracy on train and dev where they were evaluated."
        yield Picture("curves", caption, figures.curves(logs, per_epoch=per_epoch))


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
    yield Grid(["", "question", "answer", "truth", "confidence"], rows_shown)


def _sample(row: dict[str, Any]) -> list[str]:
    sure = row.get("confidence")
    told = f"{100 * sure:.0f} %" if isinstance(sure, float) else "–"
    return [_question(row), _short(row["prediction"]), _short(row["gold"]), told]


def _question(row: dict[str, Any]) -> str:
    return _short(row.get("question", row["id"]))


def _short(text: Any) -> str:
    """Cut a long text, so that a page stays a page."""
    text = str(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _disagreements(runs: Sequence[Run], comparison: Comparison) -> Iterator[Block]:
    tables = [run.predictions(comparison.split) for run in runs]
    if "prediction" not in tables[0][0]:
        return
    by_id = [{row["id"]: row for row in table} for table in tables]
    together = ([rows[name] for rows in by_id] for name in by_id[0])
    apart = [rows for rows in together if len({row["prediction"] for row in rows}) > 1]
    yield Heading("Where the answers differ")
    yield Sentences([f"{len(apart):,} of {comparison.n:,} examples are answered differently."])
    if apart:
        yield Grid(
            ["question", "truth", *(run.name for run in runs)],
            [
                [_question(rows[0]), _short(rows[0]["gold"])]
                + [_short(row["prediction"]) for row in rows]
                for rows in apart[: 2 * SAMPLES]
            ],
        )


def _ledger(run: Run) -> Iterator[Block]:
    ledger = run.record.get("ledger")
    if not ledger:
        return
    yield Heading("The splits")
    yield Grid(
        ["split", "n", "SHA-256"],
        [[n, f"{s['n']:,}", s["sha256"][:16]] for n, s in ledger["splits"].items()],
    )
    notes = ledger_notes(ledger)
    yield Sentences(
        [f"{note}." for note in notes] or ["No row stands in two splits."], warning=bool(notes)
    )


def _how(run: Run) -> Iterator[Block]:
    record, config = run.record, run.config
    yield Heading(f"How {run.name} was made")
    facts = {
        "command": record.get("command"),
        "commit": record.get("commit"),
        "processor": (record.get("cpu") or {}).get("name"),
        "versions": ", ".join(f"{k} {v}" for k, v in record.get("versions", {}).items()),
        "seconds of training": record.get("training_seconds"),
        **dict(flatten(config["resolved"])),
        **dict(flatten(config["settings"])),
    }
    yield Grid(["what", "value"], [[k, str(v)] for k, v in facts.items() if v not in (None, "")])
