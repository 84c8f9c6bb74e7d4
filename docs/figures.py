"""Draws the figures of the course pages from results/, as small SVG files in docs/figures/.

python docs/figures.py          # write them
python docs/figures.py check    # fail if one is out of date

Plain SVG: a file depends on nothing but its numbers.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "figures"
STYLE = (
    "<style>text{font:13px sans-serif;fill:#222}.line{stroke:#ccc}.red{stroke:#c0392b;fill:none}"
    ".a{stroke:#2f6fb5;fill:none;stroke-width:2}.b{stroke:#d9772b;fill:none;stroke-width:2}"
    ".dot{fill:#2f6fb5}.ta{fill:#2f6fb5}.tb{fill:#d9772b}.tred{fill:#c0392b}</style>"
)
WIDTH, LEFT, RIGHT, ROW = 640, 250, 90, 30


class Score(NamedTuple):
    """One line of a figure of scores: a share with its interval."""

    label: str
    value: float
    interval: Sequence[float]


def result(name: str) -> dict[str, Any]:
    """Read one result."""
    read: dict[str, Any] = json.loads((ROOT / "results" / f"{name}.json").read_text("utf-8"))
    return read


def scores(rows: Sequence[Score], *, guessing: tuple[str, float] | None = None) -> str:
    """Draw scores with their intervals, one per line; a red line shows what guessing scores."""
    ends = [end for row in rows for end in (*row.interval, row.value)]
    ends += [guessing[1]] if guessing else []
    low, high = _rounded(min(ends), max(ends))
    height = 44 + ROW * len(rows) + (22 if guessing else 0)

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    bottom = 14 + ROW * len(rows)
    parts = [
        f'<line class="line" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="8" y2="{bottom}"/>'
        f'<text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:.0%}</text>'
        for tick in _ticks(low, high)
    ]
    if guessing:
        label, value = guessing
        parts.append(
            f'<line class="red" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="8" y2="{bottom}"/>'
        )
        parts.append(f'<text class="tred" x="{LEFT}" y="{bottom + 40}">{escape(label)}</text>')
    for place, row in enumerate(rows):
        y = 14 + ROW * (place + 0.5)
        first, last = (x(end) for end in row.interval)
        parts.append(
            f'<text x="{LEFT - 12}" y="{y + 4:.0f}" text-anchor="end">{escape(row.label)}</text>'
            f'<line class="a" x1="{first:.1f}" x2="{last:.1f}" y1="{y:.0f}" y2="{y:.0f}"/>'
            f'<circle class="dot" cx="{x(row.value):.1f}" cy="{y:.0f}" r="5"/>'
            f'<text x="{WIDTH - 8}" y="{y + 4:.0f}" text-anchor="end">{row.value:.1%}</text>'
        )
    return _svg(height, parts)


def curves(lines: dict[str, Sequence[float]], *, below: str) -> str:
    """Draw one or two lines over 1, 2, 3, …"""
    low, high = _rounded(min(map(min, lines.values())), max(map(max, lines.values())))
    count = max(map(len, lines.values()))

    def point(place: int, value: float) -> str:
        across = 50 + place / (count - 1) * (WIDTH - 150)
        return f"{across:.1f},{200 - (value - low) / (high - low) * 180:.1f}"

    parts = []
    for tick in _ticks(low, high):
        y = point(0, tick).split(",")[1]
        parts.append(f'<line class="line" x1="50" x2="{WIDTH - 100}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="42" y="{float(y) + 4:.0f}" text-anchor="end">{tick:.0%}</text>')
    for kind, (label, values) in zip("ab", lines.items(), strict=False):
        points = " ".join(point(place, value) for place, value in enumerate(values))
        end = float(points.rpartition(",")[2])
        parts.append(f'<polyline class="{kind}" points="{points}"/>')
        parts.append(f'<text class="t{kind}" x="{WIDTH - 92}" y="{end + 4:.0f}">{label}</text>')
    parts.append(f'<text x="{WIDTH / 2 - 50}" y="228" text-anchor="middle">{below}</text>')
    return _svg(236, parts)


class Point(NamedTuple):
    """One point of a curve over seconds: a share with its interval."""

    seconds: float
    value: float
    interval: Sequence[float]


def over_seconds(lines: dict[str, Sequence[Point]], *, below: str, limit: tuple[str, float]) -> str:
    """Draw one or two curves with their intervals over seconds; a red line shows a limit."""
    longest = max(point.seconds for line in lines.values() for point in line)
    step = next(step for step in (10, 20, 30, 60, 120, 300, 600) if longest / step <= 8)
    end = (longest // step + 1) * step

    def x(seconds: float) -> str:
        return f"{50 + seconds / end * (WIDTH - 150):.1f}"

    def y(value: float) -> str:
        return f"{240 - value * 220:.1f}"

    label, value = limit
    parts = [
        f'<line class="line" x1="50" x2="{x(end)}" y1="{y(tick)}" y2="{y(tick)}"/>'
        f'<text x="42" y="{float(y(tick)) + 4:.0f}" text-anchor="end">{tick:.0%}</text>'
        for tick in _ticks(0.0, 1.0)
    ]
    parts += [
        f'<text x="{x(tick * step)}" y="258" text-anchor="middle">{tick * step}</text>'
        for tick in range(round(end / step) + 1)
    ]
    parts += [
        f'<line class="red" x1="50" x2="{x(end)}" y1="{y(value)}" y2="{y(value)}"/>',
        f'<text class="tred" x="50" y="298">{escape(label)}</text>',
    ]
    names = _apart({name: float(y(points[-1].value)) + 4 for name, points in lines.items()})
    for kind, (name, points) in zip("ab", lines.items(), strict=False):
        path = " ".join(f"{x(point.seconds)},{y(point.value)}" for point in points)
        parts.append(f'<polyline class="{kind}" points="{path}"/>')
        parts += [
            f'<line class="{kind}" x1="{x(point.seconds)}" x2="{x(point.seconds)}"'
            f' y1="{y(point.interval[0])}" y2="{y(point.interval[1])}"/>'
            for point in points
        ]
        parts.append(f'<text class="t{kind}" x="{WIDTH - 92}" y="{names[name]:.0f}">{name}</text>')
    parts.append(f'<text x="{WIDTH / 2 - 50}" y="278" text-anchor="middle">{below}</text>')
    return _svg(306, parts)


def _apart(heights: dict[str, float]) -> dict[str, float]:
    """Move names down until none stands on another."""
    placed: dict[str, float] = {}
    for name in sorted(heights, key=heights.__getitem__):
        placed[name] = max([heights[name], *(height + 15 for height in placed.values())])
    return placed


def _rounded(low: float, high: float) -> tuple[float, float]:
    step = 0.1 if high - low > 0.2 else 0.05
    return max(0.0, low // step * step), min(1.0, (high // step + 1) * step)


def _ticks(low: float, high: float) -> Iterable[float]:
    step = 0.2 if high - low > 0.6 else 0.1 if high - low > 0.2 else 0.05
    count = round((high - low) / step)
    return [low + step * place for place in range(count + 1) if low + step * place <= high + 1e-9]


def _svg(height: int, parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{STYLE}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _score(label: str, name: str, *path: str) -> Score:
    found = result(name)
    for step in path:
        found = found[step]
    return Score(label, found["value"], found["interval"])


def knowledge() -> str:
    """Draw the dev scores of the knowledge course's models."""
    recall = result("knowledge_recall")["details"]["curve"]["3M"]
    rows = [
        _score("2(d) without pretraining", "knowledge_printed_alone"),
        _score("2(f) vanilla", "knowledge_course_vanilla"),
        _score("2(g) synthesizer", "knowledge_course_synthesizer"),
        Score("our own recipe, recall", recall["accuracy"], recall["interval"]),
    ]
    london = result("knowledge_baselines")["details"]["always_London"]
    return scores(rows, guessing=("red: always answering London", london))


def knowledge_curves() -> str:
    """Draw the dev scores of both recipes against the seconds that whole runs take."""
    lines = {
        recipe: [
            Point(one["whole_seconds"], one["accuracy"], one["interval"])
            for one in result(f"knowledge_{recipe}")["details"]["curve"].values()
        ]
        for recipe in ("synthetic", "recall")
    }
    reader = result("knowledge_recall")["details"]["reader"]["value"]
    said = f"red: the reader, on training questions held out from it ({reader:.1%})"
    return over_seconds(lines, below="seconds of the whole run", limit=(said, reader))


def by_epoch(name: str) -> str:
    """Draw accuracy by epoch on training and dev."""
    epochs = result(name)["details"]["epochs"]
    lines = {
        "training": [epoch["train_accuracy"] for epoch in epochs],
        "validation": [epoch["dev_accuracy"] for epoch in epochs],
    }
    return curves(lines, below=f"epoch 1 to {len(epochs)}")


def sst2_optimizers() -> str:
    """Draw the test scores of three optimizers, at one rate and each at its own."""
    cells = {"AdamW": "adamw", "Adagrad": "adagrad", "SGD": "sgd"}
    rates = {
        "comparison_optimizers_as_given": "AdamW's rate",
        "comparison_optimizers": "its own rate",
    }
    return scores(
        [
            _score(f"{label}, {rate}", name, "details", "test", f"all_MiniLM_L6_v2_{cell}_chosen")
            for name, rate in rates.items()
            for label, cell in cells.items()
        ]
    )


def yelp() -> str:
    """Draw the test scores of the yelp course's four commands as printed."""
    details = result("yelp_printed")["details"]
    labels = {
        "cls": "5,500 labels",
        "cls_mlm": "5,500 labels, masked text",
        "cls_50": "50 labels",
        "cls_mlm_50": "50 labels, masked text",
    }
    rows = [Score(labels[key], one["test"], one["test_interval"]) for key, one in details.items()]
    return scores(rows, guessing=("red: guessing among five classes", 0.2))


def boolq_grid() -> str:
    """Draw the dev scores of the BoolQ assignment's grid."""
    rows = [
        _score(f"{rate}, {epochs} epochs", "selection_boolq", "details", "cells", cell)
        for rate in ("1e-4", "5e-4", "1e-3")
        for epochs in (5, 7, 9)
        for cell in [f"lr_{rate.replace('-', '_')}_epochs_{epochs}_seed_0"]
    ]
    return scores(rows, guessing=("red: always Yes", result("tuning_boolq")["details"]["majority"]))


def boolq_methods() -> str:
    """Draw the dev scores of full fine-tuning and of methods that train few parameters."""
    methods = result("tuning_boolq")["details"]["methods"]
    rows = [
        Score(f"{name} ({one['trained']:,} trained)", one["value"], one["interval"])
        for name, one in methods.items()
    ]
    return scores(rows, guessing=("red: always Yes", result("tuning_boolq")["details"]["majority"]))


FIGURES: dict[str, Callable[[], str]] = {
    "knowledge_course": knowledge,
    "knowledge_curves": knowledge_curves,
    "sst2_curves": partial(by_epoch, "sst2_document"),
    "sst2_optimizers": sst2_optimizers,
    "yelp_printed": yelp,
    "boolq_curves": partial(by_epoch, "boolq_30_epochs"),
    "boolq_grid": boolq_grid,
    "boolq_methods": boolq_methods,
}


def main() -> None:
    """Write the figures, or check them."""
    for name, draw in FIGURES.items():
        path, text = FOLDER / f"{name}.svg", draw()
        if sys.argv[1:] != ["check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"docs/figures/{name}.svg is out of date: python docs/figures.py")


if __name__ == "__main__":
    main()
