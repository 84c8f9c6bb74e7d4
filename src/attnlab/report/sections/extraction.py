"""Studies that choose how to fine-tune: accuracy by condition, the choices, and linear probes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from attnlab.evaluation.comparison import Comparison, compare
from attnlab.evaluation.intervals import percent
from attnlab.report import figures
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.report.probe_figure import PLACES, Probes, probe_figure
from attnlab.report.sections import Section
from attnlab.report.tables import comparison_table
from attnlab.runs.directory import Run

PROBES, HELD_OUT = "linear_probes", "held_out"
ALONE, AMONG = "one-permuted", "one-permuted-with-celebrities"
"""The same people and texts, without and with celebrities among those read about."""


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Say what every condition scores, and how each compares with the first."""
    scored = _answering(runs)
    comparison = compare(scored, against=scored[0].name)
    yield Heading(f"Accuracy on {comparison.split}, n = {comparison.n:,}")
    yield comparison_table(comparison)
    yield Sentences([pair.verdict for pair in comparison.pairs])
    yield Sentences(list(_lift(scored)))
    if comparison.notes:
        yield Sentences(comparison.notes, warning=True)
    caption = (
        "Accuracy about people whose question was never trained on, with 95 % intervals; dots are"
        " seeds, the red mark is what always giving the most common answer scores."
    )
    yield Figure("scores", caption, figures.score_bars(comparison))
    yield from _ways(scored, comparison)


def _answering(runs: Sequence[Run]) -> list[Run]:
    """Leave out probes, and the trials that only held-out questions were asked of."""
    scored = [run for run in runs if run.record["scores"]]
    return [run for run in scored if HELD_OUT not in run.record["scores"]] or scored


def _lift(scored: Sequence[Run]) -> Iterator[str]:
    """Compare ordinary people with and without celebrities among those read about."""
    pair = [run for run in scored if run.name in (ALONE, AMONG)]
    if len(pair) == 2:
        yield f"Celebrities' lift: {compare(pair).pairs[0].verdict}"


def _ways(scored: Sequence[Run], comparison: Comparison) -> Iterator[Block]:
    """Show which way of fine-tuning held-out questions chose, where the runs are still there."""
    by_name = {run.name: run for run in scored}
    rows = []
    for condition in comparison.conditions:
        tuned = Path(by_name[condition.runs[0]].config["settings"].get("run", "-"))
        if not (tuned / "record.json").is_file():
            continue
        run = Run.open(tuned)
        optimizer, held_out = run.setting("training")["optimizer"], run.record["scores"][HELD_OUT]
        rows.append(
            [
                condition.name,
                run.setting("tuning")["name"],
                f"{optimizer['name']} {optimizer['lr']:g}",
                run.setting("training")["length"],
                f"{percent(held_out['value'], 1)} of {held_out['n']}",
                percent(condition.score, 1),
            ]
        )
    if rows:
        yield Heading("Fine-tuning, chosen on held-out training questions")
        columns = ["condition", "tuning", "optimizer", "length", "held out, first seed", "test"]
        yield Table(columns, rows)


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Show what linear probes find in the models that have only read."""
    probes: Probes = {
        run.name.removesuffix("-probe"): run.record[PROBES] for run in runs if PROBES in run.record
    }
    if not probes:
        return
    yield Heading("Where the knowledge sits")
    yield Sentences(
        [
            "A linear probe predicts the birthplace from a hidden state of the model that has only"
            " read. It learns from people of train and is tested on people of test. name: the last"
            " token of the name alone; before: the token before the birthplace in the biography;"
            " end: the end of the biography, after the birthplace has been read."
        ]
    )
    yield _best_layers(probes)
    yield Figure(
        "probes",
        "Accuracy of linear probes by layer; layer 0 is the embedding. Dotted: the most common"
        " birthplace.",
        probe_figure(probes),
    )


def _best_layers(probes: Probes) -> Table:
    """List what the layer that dev prefers scores on test, place by place."""
    rows = []
    for condition, found in probes.items():
        row = [condition]
        for place in PLACES:
            best = max((one for one in found if one["place"] == place), key=lambda one: one["dev"])
            low, high = (f"{100 * bound:.0f}" for bound in best["interval"])
            row.append(f"{100 * best['value']:.1f} [{low}, {high}], layer {best['layer']}")
        rows.append(row)
    return Table(["% of the birthplaces", *PLACES], rows)


EXTRACTION = Section(summary, details)
