"""What can be set about data. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval


@dataclass(frozen=True)
class WorldSettings:
    """A made-up world: its people, and what is written about them."""

    people: Annotated[int, Ge(10)] = 1000
    """How many people there are, those about whom nothing is written among them."""
    biographies: Annotated[int, Ge(1)] = 5
    """How many biographies a celebrity has; they tell the birthplace in different words."""
    sentences: Annotated[int, Interval(ge=1, le=5)] = 3
    """Sentences a biography. One tells the birthplace, the others job, study, work or last home."""
    order: Literal["fixed", "shuffled"] = "shuffled"
    """Whether a biography's sentences come in any order, or always the birthplace first."""
    celebrities: Annotated[float, Interval(ge=0, le=1)] = 1.0
    """Share of the people who are celebrities; everybody else has one biography. Below 1 they are
    all in train: dev and test ask about ordinary people. At 1 everybody is one, at 0 nobody."""
    unwritten: Annotated[float, Interval(ge=0, lt=1)] = 0.05
    """Share of the people about whom nothing is written, at least one of them unless it is 0. To
    ask about them shows what guessing is worth."""
    asked_share: Annotated[float, Interval(gt=0, le=0.4)] = 0.2
    """Share of the people who are dev, and as many again test: their questions are never trained
    on. Dev is for looking, test is asked once at the end."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the world; training has its own."""
