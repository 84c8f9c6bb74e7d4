"""The batch-size study: what fits, accuracy by epoch, and whether dev turned down."""

from collections.abc import Iterator, Sequence

from attnlab.evaluation.intervals import percent
from attnlab.evaluation.turning import Turn, turn_of
from attnlab.report.document import Block, Heading, Sentences, Table
from attnlab.report.epochs import Epoch, epoch_blocks, epochs_of
from attnlab.report.sections import Section
from attnlab.report.sections.one_run import curves
from attnlab.report.tables import warnings_of
from attnlab.runs.directory import Run
from attnlab.runs.memory import written_megabytes

NOTHING = (
    "Nothing fits, not even a single text at a time, so the model scores 0 here. Choose a smaller"
    " model, a smaller --max-len or more --memory."
)


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Show every probe, the epochs, and what they come to."""
    probes = [run for run in runs if "probe" in run.record]
    yield Heading("The largest batch that fits")
    yield _probes_table(probes)
    trained = [run for run in runs if run not in probes]
    if not trained:
        yield Sentences([NOTHING], warning=True)
        return
    best, last = trained[0], trained[1] if len(trained) > 1 else None
    yield Sentences(list(_largest(probes, best)))
    yield from epoch_blocks(best)
    epochs = epochs_of(best.metrics(), best.recorded("steps_per_epoch"))
    yield Heading("Did dev turn down?")
    yield Sentences(list(_verdict(turn_of(best, last, epochs=len(epochs)), epochs)))
    if warnings := warnings_of(best):
        yield Sentences(warnings, warning=True)


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Draw accuracy and loss on train and dev by epoch."""
    yield from curves([run for run in runs if run.record["scores"]][:1])


def _probes_table(probes: Sequence[Run]) -> Table:
    found = sorted((run.recorded("probe") for run in probes), key=lambda probe: probe["batch_size"])
    rows = [
        [
            f"{probe['batch_size']:,}",
            written_megabytes(probe["peak"]) if probe["peak"] else "–",
            probe["ended"],
        ]
        for probe in found
    ]
    return Table(["batch size", "peak memory", "result"], rows)


def _largest(probes: Sequence[Run], trained: Run) -> Iterator[str]:
    """Name the largest batch, what it was held against, and how training used it."""
    found = [run.recorded("probe") for run in probes]
    largest = max(
        (probe for probe in found if probe["fits"]), key=lambda probe: probe["batch_size"]
    )
    too_large = [probe["batch_size"] for probe in found if not probe["fits"]]
    above = (
        f"the smallest that was tried and does not fit is {min(too_large):,}"
        if too_large
        else "that is every training text"
    )
    yield (
        f"Largest batch size: {largest['batch_size']:,} of up to {trained.setting('max_len')}"
        f" tokens, within {written_megabytes(largest['budget'])}; {above}."
    )
    size, parts = trained.setting("batch_size"), trained.setting("training")["accumulate"]
    steps = trained.recorded("steps_per_epoch")
    how = f"accumulated from {parts} parts each" if parts > 1 else "each in one piece"
    counted = "1 step" if steps == 1 else f"{steps:,} steps"
    yield f"Trained in batches of {size:,}, {how}: {counted} per epoch."


def _verdict(turn: Turn, epochs: Sequence[Epoch]) -> Iterator[str]:
    """Say whether and when dev turned down, and no more than the rows can show."""
    measured = [epoch for epoch in epochs if "dev_accuracy" in epoch.values]
    top = max(measured, key=lambda epoch: epoch.values["dev_accuracy"]).number
    best, last = percent(turn.best.score, 1), percent(turn.last.score, 1)
    low, high = (percent(bound, 1) for bound in turn.best.interval)
    final = epochs[-1].number
    match turn.verdict:
        case "not learned":
            guessing = turn.best.baseline["value"] if turn.best.baseline else 0.0
            yield (
                f"Dev has not been shown to be above guessing ({percent(guessing, 1)}) after any"
                f" epoch: the best, {top}, has {best} [{low}, {high}]. Whether it turned down"
                " cannot be said."
            )
        case "still best":
            yield f"Dev did not turn down: of {final} epochs the last is the best, {best}."
        case "down":
            yield (
                f"Dev turned down after epoch {top}: from {best} [{low}, {high}] to {last} in"
                f" epoch {final}. {_test(turn)}"
            )
        case "unclear":
            yield (
                f"Dev has not been shown to turn down: it was highest after epoch {top} with"
                f" {best} [{low}, {high}] and ended with {last} in epoch {final}, which chance"
                f" alone may do. {_test(turn)}"
            )
    yield from _both_ends("Accuracy on train", "train_accuracy", epochs)
    yield from _lowest_loss(measured)


def _test(turn: Turn) -> str:
    return (
        f"Paired test on the {turn.n:,} rows of dev, corrected for the {turn.n_others} other epochs"
        f" that could have been the best: p = {turn.p_value:.2g}."
    )


def _both_ends(what: str, key: str, epochs: Sequence[Epoch]) -> Iterator[str]:
    values = [epoch.values[key] for epoch in epochs if key in epoch.values]
    if len(values) > 1:
        first, last = percent(values[0], 1), percent(values[-1], 1)
        yield f"{what} went from {first} in the first epoch to {last} in the last."


def _lowest_loss(epochs: Sequence[Epoch]) -> Iterator[str]:
    losses = {epoch.number: epoch.values["dev_loss"] for epoch in epochs}
    lowest = min(losses, key=lambda number: losses[number])
    yield (
        f"The loss on dev was lowest after epoch {lowest}, {losses[lowest]:.3f}, and ended with"
        f" {list(losses.values())[-1]:.3f}."
    )


BATCH_SIZE = Section(summary, details)
