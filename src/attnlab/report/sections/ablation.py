"""Experiments with attention: all conditions in one table, or the mini-report of one topic."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attnlab.attention.topics import ALL, Topic, find_topic
from attnlab.checks.cost import Cost
from attnlab.report.ablation import figures, sentences, tables
from attnlab.report.ablation.entries import Ablation, read_ablation
from attnlab.report.attention import costs_figure
from attnlab.report.document import Block, Figure, Heading, Sentences
from attnlab.report.sections import Section
from attnlab.runs.directory import Run
from attnlab.runs.study import STUDY, read_study

EVERYTHING = ("scores", "perplexity")
"""What the report on several topics shows besides the table."""


def summary(runs: Sequence[Run], topic: Topic | None = None) -> Iterator[Block]:
    """Show the table of all conditions, and say what it shows."""
    topic = topic or _only_topic(runs)
    ablation = _read(runs, topic)
    yield Sentences([sentences.computed_on(ablation)])
    yield from tables.ledger(ablation)
    for name in topic.figures if topic else EVERYTHING:
        yield from _PARTS[name](ablation)
    yield Heading("What was found")
    yield Sentences(list(sentences.findings(ablation)))
    if ablation.comparison.notes:
        yield Sentences(ablation.comparison.notes, warning=True)


def details(runs: Sequence[Run], topic: Topic | None = None) -> Iterator[Block]:
    """Say what it means, and show what the models write."""
    topic = topic or _only_topic(runs)
    ablation = _read(runs, topic)
    if topic:
        yield Heading("What it means for the design of attention")
        yield Sentences(list(sentences.interpretation(topic, ablation)))
    yield from tables.samples(ablation.entries)


def section_of_topic(topic: Topic) -> Section:
    """Return the section that reports on one topic of a study, whatever else the study has."""
    return Section(partial(summary, topic=topic), partial(details, topic=topic), False)


def _only_topic(runs: Sequence[Run]) -> Topic | None:
    """Return the topic of a study that has one; None if it has several or was put together."""
    folder = runs[0].path.parent
    settings: Mapping[str, Any] = (
        read_study(folder).get("settings", {}) if (folder / STUDY).exists() else {}
    )
    names = settings.get("topics", [])
    return find_topic(names[0]) if len(names) == 1 and names[0] != ALL else None


def _read(runs: Sequence[Run], topic: Topic | None) -> Ablation:
    return read_ablation(runs, control=topic.control).about(topic) if topic else read_ablation(runs)


def _scores(ablation: Ablation) -> Iterator[Block]:
    caption = (
        "Bits per character with 95 % intervals over seeds and windows; ticks are seeds, the dotted"
        " line is the control, and red conditions see the future."
    )
    yield Figure("scores", caption, figures.score_dots(ablation))


def _perplexity(ablation: Ablation) -> Iterator[Block]:
    caption = (
        "Loss and perplexity over the training, averaged over the seeds: the control and the best"
        " of the others."
    )
    yield Figure("perplexity", caption, figures.perplexity_curves(ablation))


def _by_position(ablation: Ablation) -> Iterator[Block]:
    if not any(entry.by_position() for entry in ablation.entries):
        return
    block = int(ablation.control.runs[0].setting("objective")["options"]["block"])
    yield Heading(f"Perplexity by position; trained on {block} tokens")
    yield tables.by_position(ablation.entries)
    caption = f"Perplexity by position. Training ended at position {block}, the dotted line."
    yield Figure("by-position", caption, figures.position_curves(ablation, block=block))


def _directions(ablation: Ablation) -> Iterator[Block]:
    yield from tables.directions(ablation.entries)


def _cost(ablation: Ablation) -> Iterator[Block]:
    yield from tables.crossovers(ablation)
    if ablation.costs.get("costs"):
        costs = [
            Cost(**{**cost, "rounds": tuple(cost["rounds"])}) for cost in ablation.costs["costs"]
        ]
        caption = (
            "Time and memory of one layer, forward and back, against the length: one text, causal,"
            " in float32."
        )
        yield Figure("cost", caption, costs_figure(costs))


_PARTS = {
    "scores": _scores,
    "perplexity": _perplexity,
    "by_position": _by_position,
    "directions": _directions,
    "leak": tables.leaks,
    "cost": _cost,
}
FIGURES = frozenset(_PARTS)
"""What a topic may ask for."""
ABLATION = Section(summary, details, lists_settings=False)
