"""From run directories to a document; every number and sentence comes from the records."""

from collections.abc import Iterator, Sequence

from attnlab.config import flatten
from attnlab.errors import UserError
from attnlab.evaluation.comparison import FEW
from attnlab.evaluation.metrics import check_answers, metric_called
from attnlab.report.document import Block, Document, Heading, Sentences, Table
from attnlab.report.sections import Section
from attnlab.runs.directory import Run

INSTEAD_OF_SCORES = {"failed", "linear_probes", "probe"}
"""What the record of a study's cell may hold where others have scores."""


def build_report(
    runs: Sequence[Run], section: Section, *, title: str | None = None, notes: Sequence[str] = ()
) -> Document:
    """Put together what a page says about runs; ``notes`` come first."""
    for run in runs:
        _refuse_unfinished_or_damaged(run)
    blocks: list[Block] = [Sentences(notes)] if notes else []
    blocks += [Heading("Results"), *section.summary(runs), *section.details(runs)]
    for run in runs if section.lists_settings else ():
        if run.record["scores"]:
            blocks += how_it_was_made(run)
    names = [run.name for run in runs]
    by_name = " vs ".join(names) if len(names) <= FEW else f"{len(names)} runs"
    return Document(title or by_name, blocks)


def _refuse_unfinished_or_damaged(run: Run) -> None:
    if not run.finished:
        raise UserError(f"the run {run.name} is not finished; repeat its command to resume it.")
    scored = [split for split in run.record["scores"] if run.has_predictions(split)]
    if not scored and not run.record.keys() & INSTEAD_OF_SCORES:
        raise UserError(f"the run {run.name} has no score with stored predictions to report on.")
    for split in scored:
        score = run.record["scores"][split]
        place = f"{run.name}/predictions/{split}.jsonl"
        metric = metric_called(score["metric"])
        check_answers(run.predictions(split), metric, n=score["n"], place=place)


def how_it_was_made(run: Run) -> Iterator[Block]:
    """Show the settings of a run, what they came to and, if it is finished, where it ran."""
    record, config = run.record if run.finished else {}, run.config
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
    yield Table(["what", "value"], [[k, str(v)] for k, v in facts.items() if v not in (None, "")])
