"""Topics of experiments with attention, one file of data each. Loads no torch.

A topic says what is asked, what is compared, and what is expected of every condition, before
anything is trained; its note says what was added later. A report compares the expectations with
what was found. The reasons are marked as a reading of the result, and are printed only where it
came out as expected, and where what they point to was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from attnlab.attention.conditions import CONTROL
from attnlab.errors import unknown_name

ALL = "all"
Outcome = Literal["better", "worse", "alike"]
Evidence = Literal["without_future", "weight_on_itself", "symmetric_scores"]
"""without_future: what a model loses without one, and what it saves on coin flips;
weight_on_itself: more than the control's; symmetric_scores: the same in both directions."""
Beyond = Literal["reads on", "fails beyond"]


@dataclass(frozen=True)
class Expectation:
    """How a condition should compare with the control, and the reason."""

    condition: str
    outcome: Outcome
    because: str
    shown_by: tuple[Evidence, ...] = ()
    """What else must have been measured for the reason to be believed."""


@dataclass(frozen=True)
class Topic:
    """One question about attention, and the experiment that answers it."""

    name: str
    title: str
    question: str
    background: str
    hypothesis: str
    expectations: tuple[Expectation, ...]
    """One per condition."""
    meaning: str
    """What the result means for the design of attention if it comes out as expected."""
    order: tuple[tuple[str, str], ...] = ()
    """Pairs of conditions that the hypothesis ranks; the first should need fewer bits."""
    note: str = ""
    """What a reader should know of how the topic came about, such as what was added later."""
    control: str = CONTROL
    figures: tuple[str, ...] = ("scores", "perplexity")
    """Which figures and tables of the report it needs."""
    read_to: int = 0
    """Tokens of the longest text that the trained models read; 0 for those of training alone."""
    beyond: Mapping[str, Beyond] = field(default_factory=dict)
    """What is expected of conditions on texts longer than those of training."""
    coins: tuple[str, ...] = ()
    """Conditions that are also trained on coin flips, which no causal model can predict."""
    costs: tuple[str, ...] = ()
    """Layers whose time and memory are measured against the length of the text."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is trained, the control first."""
        return tuple(dict.fromkeys([self.control, *(one.condition for one in self.expectations)]))


def topic_names() -> list[str]:
    """List the topics by looking at the files."""
    return sorted(file.stem for file in Path(__file__).parent.glob("*.yaml"))


def find_topic(name: str) -> Topic:
    """Read the topic of that name."""
    if name not in topic_names():
        raise unknown_name("topic", name, [*topic_names(), ALL])
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    values: dict[str, Any] = yaml.safe_load(text)
    expectations = tuple(
        Expectation(**one | {"shown_by": tuple(one.get("shown_by", ()))})
        for one in values.pop("expectations")
    )
    values["order"] = [tuple(pair) for pair in values.get("order", ())]
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Topic(name, expectations=expectations, **(values | lists))
