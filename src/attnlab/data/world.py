"""A made-up world: people, where they were born, and biographies that say so.

Its dials are those of Allen-Zhu and Li, "Physics of Language Models: Part 3.1" (2023,
arXiv:2309.14316): how often and in how many ways a fact is told decides whether a model that has
read it can answer a question about it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attnlab.data.biographies import MOST_BIOGRAPHIES, write_biographies
from attnlab.data.people import MOST_PEOPLE, Person, draw_people
from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError
from attnlab.randomness import rng


@dataclass(frozen=True)
class World:
    """Texts about everybody but the unseen; questions to learn from, and questions to be asked."""

    texts: Sequence[str]
    """The biographies, one line each, in random order."""
    train: Sequence[Person]
    dev: Sequence[Person]
    test: Sequence[Person]
    unseen: Sequence[Person]
    """People about whom nothing is written."""

    @property
    def everybody(self) -> list[Person]:
        """All the people there are."""
        return [*self.train, *self.dev, *self.test, *self.unseen]

    def commonest_place(self) -> tuple[str, float]:
        """Return where most people were born, and their share: what a constant answer is worth."""
        people = self.everybody
        ((place, count),) = Counter(person.place for person in people).most_common(1)
        return place, count / len(people)


def make_world(settings: WorldSettings) -> World:
    """Draw people and write about them; the same settings give the same world.

    Nobody's birthplace depends on the name: it can only be known from the texts. A dial moves
    alone: people and birthplaces stay as they are while the texts about them change.
    """
    _refuse_too_many(settings)
    asked, unseen = _sizes(settings)
    people = draw_people(settings.people, seed=settings.seed)
    first = 2 * asked + unseen
    train = _with_celebrities(people[first:], settings)
    others = [
        replace(person, celebrity=settings.celebrities == 1) for person in people[: 2 * asked]
    ]
    written = [*train, *others]
    texts = write_biographies(
        written,
        [settings.biographies if person.celebrity else 1 for person in written],
        settings,
    )
    rng(settings.seed, "documents").shuffle(texts)
    return World(texts, train, others[:asked], others[asked:], people[2 * asked : first])


def _refuse_too_many(settings: WorldSettings) -> None:
    if settings.people > MOST_PEOPLE:
        raise UserError(
            f"people = {settings.people} is not possible: there are {MOST_PEOPLE} names."
            " Choose fewer people."
        )
    if settings.biographies > MOST_BIOGRAPHIES:
        raise UserError(
            f"biographies = {settings.biographies} is not possible: a birthplace can be told in"
            f" {MOST_BIOGRAPHIES} ways. Choose at most that many."
        )


def _sizes(settings: WorldSettings) -> tuple[int, int]:
    """Return how many people are in dev, and in test, and how many are unseen."""
    asked = max(1, round(settings.asked_share * settings.people))
    unseen = max(1, round(settings.unwritten * settings.people)) if settings.unwritten else 0
    if 2 * asked + unseen >= settings.people:
        raise UserError(
            f"asked_share = {settings.asked_share} (dev, and as many again test) and unwritten ="
            f" {settings.unwritten} leave none of {settings.people} people for train. Lower one."
        )
    return asked, unseen


def _with_celebrities(train: Sequence[Person], settings: WorldSettings) -> list[Person]:
    """Make the wanted number of people of train celebrities, or all of them at a share of 1."""
    wanted = round(settings.celebrities * settings.people)
    if settings.celebrities == 1:
        wanted = len(train)
    if wanted > len(train):
        raise UserError(
            f"celebrities = {settings.celebrities} is {wanted} people, but train, where they all"
            f" are, has {len(train)}. Lower it, asked_share or unwritten; or give 1 for everybody."
        )
    chosen = set(rng(settings.seed, "celebrities").permutation(len(train))[:wanted].tolist())
    return [replace(person, celebrity=i in chosen) for i, person in enumerate(train)]
