"""The figures of the report: accuracy by epoch, and all tests compared.

    python figures.py test1 test2 test3 test4 --figure figures/all_tests.png

Draws the runs of several experiments side by side: accuracy on dev by epoch, and the scores on dev
and test with their intervals. The runs must have answered the same questions.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("figures.py")  # what follows takes a while to load

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from attnlab.cli.course import run_command
from attnlab.errors import UserError
from attnlab.report.epochs import epochs_of
from attnlab.report.figure_output import as_png
from attnlab.report.figures import COLORS, INK, STYLE
from attnlab.runs.directory import Run
from attnlab.runs.files import replace_file
from attnlab.runs.lookup import find_run

STROKES = {"train": "--", "dev": "-"}


def learned_by_heart(run: Run) -> bool:
    """Say whether a run was evaluated on what it was trained on."""
    return bool(run.config["settings"]["overfit"])


def draw_epochs(runs: Sequence[Run], path: Path) -> None:
    """Draw accuracy by epoch, on train and on dev."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.4), layout="constrained")
        axis = figure.subplots()
        for run, color in zip(runs, COLORS, strict=False):
            _draw_run(axis, run, color, splits=("train", "dev"), label="")
        _name_epochs(axis)
        axis.set_title(f"{', '.join(run.name for run in runs)}: accuracy by epoch (%)")
        axis.legend()
    _write(figure, path)


def draw_tests(runs: Sequence[Run], path: Path) -> None:
    """Draw several runs: dev by epoch, and the final scores with their 95 % intervals."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.8), layout="constrained")
        curves, bars = figure.subplots(1, 2)
        for run, color in zip(runs, COLORS, strict=False):
            _draw_run(curves, run, color, splits=("dev",), label=run.name)
        _name_epochs(curves)
        curves.set_title("Accuracy on dev by epoch (%)")
        curves.legend()
        _draw_scores(bars, runs)
    _write(figure, path)


def _draw_run(axis: Axes, run: Run, color: str, *, splits: Sequence[str], label: str) -> None:
    epochs = epochs_of(run.metrics(), run.record["steps_per_epoch"])
    for split in splits:
        points = [
            (epoch.number, 100 * epoch.values[f"{split}_accuracy"])
            for epoch in epochs
            if f"{split}_accuracy" in epoch.values
        ]
        if points:
            x, y = zip(*points, strict=True)
            name = label or _split_of(run, split)
            axis.plot(x, y, STROKES[split], marker=".", color=color, label=name)


def _split_of(run: Run, split: str) -> str:
    if not learned_by_heart(run):
        return split
    return "train, after the epoch" if split == "dev" else "train, before each step"


def _name_epochs(axis: Axes) -> None:
    axis.set_xlabel("epoch")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_ylim(0, 102)


def _draw_scores(axis: Axes, runs: Sequence[Run]) -> None:
    """Draw the bars of dev and test, and the score of always giving the more frequent answer."""
    splits = [
        split for split in ("dev", "test") if all(split in run.record["scores"] for run in runs)
    ]
    width = 0.8 / len(splits)
    for number, split in enumerate(splits):
        for place, (run, color) in enumerate(zip(runs, COLORS, strict=False)):
            score = run.record["scores"][split]
            value, guess = 100 * score["value"], 100 * score["baseline"]["value"]
            low, high = (100 * end for end in score["interval"])
            x = place + width * (number - (len(splits) - 1) / 2)
            axis.bar(x, value, 0.9 * width, color=color, alpha=1 if split == "test" else 0.5)
            axis.errorbar(x, value, [[value - low], [high - value]], color=INK, capsize=3)
            always = axis.hlines(guess, x - width / 2, x + width / 2, color=INK, linestyle=":")
    axis.set_xticks(range(len(runs)), [run.name for run in runs], rotation=20)
    axis.set_ylim(0, 118)
    axis.set_yticks(range(0, 101, 20))
    axis.legend([always], ["always the more frequent answer"], loc="upper left")
    axis.set_title(f"Accuracy on {' (light) and '.join(splits)} (%)")


def _write(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, as_png(figure))


def parser_of() -> argparse.ArgumentParser:
    """Return a parser."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="+", metavar="EXPERIMENT")
    parser.add_argument("--figure", type=Path, default=Path("figures/all_tests.png"))
    return parser


def draw(options: argparse.Namespace) -> None:
    """Draw the tests that are finished; one that is not is refused."""
    runs = [Run.open(find_run(name, Path("runs"))) for name in options.experiments]
    for run in runs:
        if not run.finished:
            raise UserError(f"{run.name} is not finished: give its command again.")
    if len(runs) > len(COLORS):
        raise UserError(
            f"{len(runs)} experiments are too many for one figure: at most {len(COLORS)}."
        )
    draw_tests(runs, options.figure)
    print(f"the figure is {options.figure}")


def main() -> None:
    """Draw the figure."""
    run_command(parser_of(), draw, folder=Path(__file__).resolve().parent)


if __name__ == "__main__":
    main()
