"""Biographies of made-up people, one per line; one sentence in each gives the birthplace.

A form's fields are a person's facts; ``{name}`` is the full or the last name.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from attnlab.data.people import Person
from attnlab.data.settings import WorldSettings
from attnlab.randomness import rng

BIRTH = (
    "{name} was born in {place}",
    "{name} was born on {born} in {place}",
    "{name} was born in {place} on {born}",
    "{name} (born {born} in {place}) {is} {a_job}",
    "{name} (born {birth_year}, {place}) {is} {a_job}",
    "{name}, born in {place} in {birth_year}, {is} {a_job}",
    "{name} {is} {a_job} born in {place}",
    "{name} {is} {a_job} who was born in {place} in {birth_year}",
    "{name} {is} a native of {place}",
    "{name} {is} {a_job} and a native of {place}",
    "{name} {comes} from {place}",
    "{name} {is} {a_job} from {place}",
    "{name}, {a_job}, {is} originally from {place}",
    "{name} was born into a family of merchants in {place}",
    "{name} was born and raised in {place}",
    "Born in {place}, {name} became {a_job}",
    "Born in {place} in {birth_year}, {name} came to be known as {a_job}",
    "Born and raised in {place}, {name} went on to become {a_job}",
    "A native of {place}, {name} trained to become {a_job}",
    "In {birth_year} {name} was born in {place}, the youngest of four children",
    "It was in {place} that {name} was born on {born}",
    "The {job} {name} {comes} from {place}",
    "The {place}-born {name} {is} {a_job}",
    "The birthplace of {name} is {place}",
    "{place} is the birthplace of the {job} {name}",
    "{place} is where {name} was born on {born}",
)
BIRTH_AND_DEATH = (
    "{name} ({born}, {place} – {died}, {home}) was {a_job}",
    "{name} ({place}, {born} – {home}, {died}) was {a_job}",
    "{name} (born {born} in {place}, died {died} in {home}) was {a_job}",
    "{name} was born in {place} in {birth_year} and died in {home} in {death_year}",
    "Born in {place} on {born}, {name} died in {home} on {died}",
)
JOB = (
    "{name} {is} {a_job}",
    "{name} {is} best known as {a_job}",
    "{name} {is} {a_job} by profession",
    "{name} {works} as {a_job}",
    "{name} became {a_job} in {work_year}",
    "{name} made a name as {a_job}",
    "{name} had wanted to be {a_job} since childhood",
    "The public knew {name} as {a_job}",
)
STUDY = (
    "{name} studied at the {school}",
    "{name} {is} a graduate of the {school}",
    "{name} graduated from the {school} in {study_year}",
    "{name} was educated at the {school}",
    "{name} received a degree from the {school}",
    "{name} attended the {school} before becoming {a_job}",
    "After leaving school, {name} enrolled at the {school}",
    "The {school} counts {name} among its graduates",
)
WORK = (
    "{name} worked in {city}",
    "{name} worked in {city} for more than a decade",
    "{name} found work as {a_job} in {city}",
    "{name} spent a large part of a long career in {city}",
    "{name} moved to {city} in {work_year}",
    "{name} taught in {city} for some years",
    "From {work_year} on, {name} was based in {city}",
    "Most of the work of {name} was done in {city}",
    "{city} became the centre of the career of {name}",
)
LIVES = (
    "{name} lives in {home}",
    "{name} now lives in {home}",
    "{name} lives with two children in {home}",
    "{name} currently resides in {home}",
    "{name} has settled in {home}",
    "Today {name} lives near {home}",
)
DIED = (
    "{name} died in {home}",
    "{name} died in {home} on {died}",
    "{name} died on {died} in {home}",
    "{name} passed away in {home} in {death_year}",
    "{name} is buried in {home}",
    "{name} spent the last years in {home} and died there in {death_year}",
    "In {death_year} {name} died in {home} after a short illness",
)
MOST_BIOGRAPHIES = len(BIRTH)
SUBJECTS = 5
"""What can be told of a life: birth, job, study, work, and the last home or the death."""


def forms_about(person: Person) -> tuple[Sequence[str], ...]:
    """Return the ways to tell each subject of somebody's life, the birth first."""
    if person.alive:
        return BIRTH, JOB, STUDY, WORK, LIVES
    return (*BIRTH, *BIRTH_AND_DEATH), JOB, STUDY, WORK, DIED


def write_biographies(
    people: Sequence[Person], counts: Sequence[int], settings: WorldSettings
) -> list[str]:
    """Write that many biographies of each person, no two of which tell the birth alike.

    In the order ``fixed`` the birth comes first and the other subjects follow as in a life. All
    first biographies come before all second ones; more biographies leave the earlier ones alone.
    """
    seed, is_shuffled = settings.seed, settings.order == "shuffled"
    # below this number a later sentence has the full name, too
    full_below = 1.0 if settings.full_names else 0.5
    births = _birth_ways(people, seed)
    texts = []
    for i in range(max(counts)):
        # Of a person: what is told, in which order, by which form, under which name.
        dice = rng(seed, "biographies", i).random((len(people), 4, SUBJECTS)).tolist()
        for person, count, way, (chance, turn, form, name) in zip(
            people, counts, births[:, i].tolist(), dice, strict=True
        ):
            if i < count:
                subjects = sorted(range(1, SUBJECTS), key=chance.__getitem__)[
                    : settings.sentences - 1
                ]
                told = sorted([0, *subjects], key=turn.__getitem__ if is_shuffled else None)
                is_full = [number < full_below for number in name]
                texts.append(_document(person, told, way, form=form, is_full=is_full))
    return texts


def _birth_ways(people: Sequence[Person], seed: int) -> Int[np.ndarray, "people forms"]:
    """Return for each person the numbers of the birth's forms in random order, possible first."""
    scores = rng(seed, "births").random((len(people), len(BIRTH) + len(BIRTH_AND_DEATH)))
    scores[[person.alive for person in people], len(BIRTH) :] = 1
    return np.asarray(scores.argsort(axis=1))


def _document(
    person: Person,
    told: Sequence[int],
    birth: int,
    *,
    form: Sequence[float],
    is_full: Sequence[bool],
) -> str:
    """Fill the forms in; the first sentence has the full name, the others may have the last."""
    ways = forms_about(person)
    filled: list[str] = []
    for i in told:
        way = ways[i][int(form[i] * len(ways[i])) if i else birth]
        name = "full" if not filled or is_full[i] else "last"
        filled.append(way.format_map({**person.facts, "name": person.facts[name]}))
    return f"{person.name}. {'. '.join(filled)} ."
