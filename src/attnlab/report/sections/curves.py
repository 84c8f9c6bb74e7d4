"""Training curves, which every section shows."""

from collections.abc import Iterator, Sequence

from attnlab.report import figures
from attnlab.report.document import Block, Figure, Heading
from attnlab.runs.directory import Run


def curves(runs: Sequence[Run]) -> Iterator[Block]:
    """Draw losses and accuracies over the steps; nothing for runs that logged none."""
    logs = {run.name: run.metrics() for run in runs}
    if any("loss" in line for lines in logs.values() for line in lines):
        rates = {run.record.get("steps_per_epoch") for run in runs}
        per_epoch = rates.pop() if len(rates) == 1 else None
        yield Heading("Training curves")
        caption = "Training loss; loss and accuracy on train and dev where they were evaluated."
        yield Figure("curves", caption, figures.curves(logs, per_epoch=per_epoch))
