"""The label-budget study: accuracy against the number of labels, and the effect of alpha."""

from collections.abc import Iterator, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure as MatplotlibFigure

from attnlab.evaluation.common_splits import common_splits
from attnlab.evaluation.comparable import aligned_answers, common_metric
from attnlab.evaluation.comparison import Comparison, compare
from attnlab.report.document import Block, Figure, Heading
from attnlab.report.figures import COLORS, STYLE, legend_below
from attnlab.report.sections import Section
from attnlab.report.sections.comparison import comparison_blocks
from attnlab.report.sections.one_run import curves
from attnlab.runs.directory import Run

ALL = "all"


def by_budget(runs: Sequence[Run]) -> dict[str, Comparison]:
    """Compare the runs that had as many labels, budget by budget."""
    splits = common_splits(runs)
    # the budgets stand on one axis: all runs must have answered the same examples
    aligned_answers(runs, common_metric(runs, splits), splits)
    groups: dict[int, list[Run]] = {}
    for run in runs:
        groups.setdefault(int(run.setting("labels")), []).append(run)
    split = splits[runs[0].name]
    order = sorted(groups, key=lambda labels: (labels == 0, labels))
    return {
        f"{labels:,}" if labels else ALL: compare(groups[labels], split=split, all_pairs=False)
        for labels in order
    }


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Say what came out at every budget, and draw it."""
    comparisons = by_budget(runs)
    yield Figure(
        "label-budget",
        "Accuracy with 95 % intervals against the number of labelled training texts.",
        budget_figure(comparisons, runs),
    )
    for labels, comparison in comparisons.items():
        yield Heading(f"{labels} labels")
        yield from comparison_blocks(comparison)


def budget_figure(comparisons: dict[str, Comparison], runs: Sequence[Run]) -> MatplotlibFigure:
    """Draw one line per alpha, shifted a little so that the intervals do not overlap."""
    alphas = {run.name: _alpha(run) for run in runs}
    lines: dict[float, list[tuple[int, float, float, float]]] = {}
    for place, comparison in enumerate(comparisons.values()):
        for condition in comparison.conditions:
            point = (place, condition.score, *condition.interval)
            lines.setdefault(alphas[condition.runs[0]], []).append(point)
    with mpl.rc_context(STYLE):
        figure = MatplotlibFigure(figsize=(7.5, 3.8), layout="constrained")
        axis = figure.subplots()
        for number, alpha in enumerate(sorted(lines)):
            places, scores, lows, highs = zip(*lines[alpha], strict=True)
            shifted = [place + 0.06 * (number - (len(lines) - 1) / 2) for place in places]
            errors = [
                [100 * (s - low) for s, low in zip(scores, lows, strict=True)],
                [100 * (high - s) for s, high in zip(scores, highs, strict=True)],
            ]
            label = f"alpha = {alpha:g}" if alpha else "classifier alone"
            axis.errorbar(
                shifted,
                [100 * score for score in scores],
                yerr=errors,
                color=COLORS[number % len(COLORS)],
                marker="o",
                capsize=4,
                label=label,
            )
        first = next(iter(comparisons.values()))
        baseline = first.conditions[0].baseline
        if baseline:
            axis.axhline(100 * baseline["value"], color=COLORS[5], linewidth=1, label="guessing")
        axis.set_xticks(range(len(comparisons)), list(comparisons))
        axis.set_xlabel("labelled training texts")
        axis.set_xlim(-0.5, len(comparisons) - 0.5)
        axis.set_title(f"Accuracy on {first.split} (%)")
        legend_below(figure, *axis.get_legend_handles_labels())
    return figure


def _alpha(run: Run) -> float:
    """Return the weight of masked text in a run; without such text it is 0, whatever was set."""
    masked = run.setting("masked")
    return float(masked["alpha"]) if masked["text"] else 0.0


LABEL_BUDGET = Section(summary, curves)
