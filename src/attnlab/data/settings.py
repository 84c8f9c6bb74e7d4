"""Settings of the made-up world. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval


@dataclass(frozen=True)
class WorldSettings:
    """A made-up world: its people, and what is written about them."""

    people: Annotated[int, Ge(10)] = 1000
    """Number of people, including those about whom nothing is written."""
    biographies: Annotated[int, Ge(1)] = 5
    """Number of biographies per celebrity; each gives the birthplace in different words."""
    sentences: Annotated[int, Interval(ge=1, le=5)] = 3
    """Sentences per biography: one on the birthplace, others on job, study, work or last home."""
    order: Literal["fixed", "shuffled"] = "shuffled"
    """Order of a biography's sentences: shuffled, or fixed with the birthplace first."""
    full_names: bool = False
    """Give the full name in every sentence, instead of the last name in half of the later ones."""
    celebrities: Annotated[float, Interval(ge=0, le=1)] = 1.0
    """Share of the people who are celebrities; everyone else has one biography. Below 1, all
    celebrities are in train, and dev and test ask about ordinary people. At 1 everyone is a
    celebrity, at 0 no one."""
    unwritten: Annotated[float, Interval(ge=0, lt=1)] = 0.05
    """Share of the people about whom nothing is written; at least one person unless it is 0.
    Questions about them show what guessing is worth."""
    asked_share: Annotated[float, Interval(gt=0, le=0.4)] = 0.2
    """Share of the people in dev; as many again are in test. Their questions are never trained on.
    Dev is for looking at, test is evaluated once, at the end."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of the world; training has its own seed."""
