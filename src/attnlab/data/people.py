"""Made-up people: a name, a birthplace that the name does not give away, and a life."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from attnlab.data.world_words import (
    FIRST_NAMES,
    JOBS,
    LAST_NAMES,
    MIDDLE_NAMES,
    MONTHS,
    PLACES,
    SCHOOLS,
)
from attnlab.randomness import rng

QUESTION = "Where was {name} born?"
PAIRS = len(FIRST_NAMES) * len(LAST_NAMES)
MOST_PEOPLE = 2 * PAIRS
"""Each pair of a first and a last name serves twice, with another middle name."""
MIDDLE_SHARE = 0.4
FLATNESS = 4
"""The place of rank r has a share in proportion to 1 / (r + 4): London, the first, 5.2 %."""
BIRTH_YEARS, AGES, WRITTEN = (1850, 1991), (40, 95), 2015
"""Whoever would die after the year in which the biographies are written is alive."""


@dataclass(frozen=True)
class Person:
    """Somebody who does not exist."""

    name: str
    place: str
    """Where the person was born, the answer to the question."""
    facts: Mapping[str, str] = field(repr=False, hash=False)
    """What can be told, by the names in the sentence forms; who is alive has no ``died``."""
    celebrity: bool = False
    """Whether much is written about this person."""

    @property
    def question(self) -> str:
        """Ask for the birthplace."""
        return QUESTION.format(name=self.name)

    @property
    def alive(self) -> bool:
        """Whether the biographies speak of the person in the present tense."""
        return "died" not in self.facts


def place_shares() -> Float[np.ndarray, "places"]:
    """Return how likely each place is as a birthplace (Zipf and Mandelbrot's law)."""
    weights = 1 / (np.arange(1, len(PLACES) + 1) + FLATNESS)
    return np.asarray(weights / weights.sum())


def draw_people(count: int, *, seed: int) -> list[Person]:
    """Draw people in random order; no two have the same name.

    First and last name are shared only once there are more people than pairs of them.
    """
    names = _names(count, seed)
    born_in = _draw_places(rng(seed, "birthplaces"), count)
    work_in = _elsewhere(rng(seed, "work places"), born_in)
    live_in = _draw_places(rng(seed, "homes"), count)
    schools = _schools(rng(seed, "schools"), count)
    jobs = rng(seed, "jobs").integers(len(JOBS), size=count)
    dates = _dates(rng(seed, "dates"), count)
    people = []
    for i, (name, last_name) in enumerate(names):
        place, job = PLACES[born_in[i]], JOBS[jobs[i]]
        facts = {"full": name, "last": last_name, "place": place, "school": schools[i]}
        facts |= {"city": PLACES[work_in[i]], "home": PLACES[live_in[i]]}
        facts |= {"job": job, "a_job": f"{'an' if job[0] in 'aeiou' else 'a'} {job}"}
        people.append(Person(name, place, facts | dates[i]))
    return people


def _names(count: int, seed: int) -> list[tuple[str, str]]:
    """Draw full names, each with its last name; some have a middle name or an initial.

    Whoever comes after all pairs of first and last name shares one, and has another middle name.
    """
    generator = rng(seed, "middle names")
    has_middle = generator.random(count) < MIDDLE_SHARE
    middles = generator.integers(len(MIDDLE_NAMES), size=count)
    order = rng(seed, "names").permutation(PAIRS)
    names = []
    for i in range(count):
        turn, place = divmod(i, PAIRS)
        first, last = divmod(int(order[place]), len(LAST_NAMES))
        middle = MIDDLE_NAMES[(middles[place] + turn) % len(MIDDLE_NAMES)]
        between = f" {middle} " if turn or has_middle[i] else " "
        names.append((f"{FIRST_NAMES[first]}{between}{LAST_NAMES[last]}", LAST_NAMES[last]))
    return names


def _draw_places(generator: np.random.Generator, count: int) -> Int[np.ndarray, "count"]:
    """Draw places in random order, each as often as its share says, to within one."""
    spread = (np.arange(count) + generator.random()) / count
    drawn = np.searchsorted(place_shares().cumsum(), spread, side="right")
    return np.asarray(generator.permutation(drawn.clip(max=len(PLACES) - 1)))


def _elsewhere(
    generator: np.random.Generator, not_here: Int[np.ndarray, "count"]
) -> Int[np.ndarray, "count"]:
    """Draw a place for each of the given ones that is another."""
    drawn = _draw_places(generator, len(not_here))
    while (same := drawn == not_here).any():
        drawn[same] = _draw_places(generator, int(same.sum()))
    return drawn


def _schools(generator: np.random.Generator, count: int) -> list[str]:
    kinds = generator.integers(len(SCHOOLS), size=count)
    places = _draw_places(generator, count)
    return [SCHOOLS[kind].format(PLACES[i]) for kind, i in zip(kinds, places, strict=True)]


def _dates(generator: np.random.Generator, count: int) -> list[dict[str, str]]:
    """Draw when people were born, studied, began to work and died, and the tense that follows."""
    years = generator.integers(*BIRTH_YEARS, size=count).tolist()
    ages = generator.integers(*AGES, size=count).tolist()
    days = generator.integers(1, 29, size=(count, 2)).tolist()
    months = generator.integers(len(MONTHS), size=(count, 2)).tolist()
    return [_life(*row) for row in zip(years, ages, days, months, strict=True)]


def _life(year: int, age: int, days: Sequence[int], months: Sequence[int]) -> dict[str, str]:
    facts = {
        "born": f"{days[0]} {MONTHS[months[0]]} {year}",
        "birth_year": str(year),
        "study_year": str(year + 23),
        "work_year": str(year + 25),
    }
    if year + age > WRITTEN:
        return facts | {"is": "is", "comes": "comes", "works": "works"}
    died = f"{days[1]} {MONTHS[months[1]]} {year + age}"
    facts |= {"died": died, "death_year": str(year + age)}
    return facts | {"is": "was", "comes": "came", "works": "worked"}
