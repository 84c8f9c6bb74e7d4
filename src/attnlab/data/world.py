"""A small world that we made up: people, where they were born, and sentences that say so."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.errors import UserError
from attnlab.training.randomness import rng

FIRST_NAMES = (
    "Ada Bela Cora Davit Edda Farid Gala Hugo Ines Jonas Kaya Leon Mira Nilo Olga Pavel Quinn Rosa"
    " Samir Tilda Uma Viktor Wanda Xenia Yusuf Zora Anton Birte Carlo Dunja"
).split()
LAST_NAMES = (
    "Abel Brandt Cerny Duarte Ekman Fabre Gallo Haddad Ivanov Jansen Kowal Lindqvist Moreau Nakano"
    " Okafor Petrov Quist Rossi Silva Tanaka Ullman Varga Weiss Ximenes Yilmaz Zeller"
).split()
PLACES = (
    "Athens Bergen Cairo Delhi Essen Florence Geneva Havana Istanbul Jakarta Kyoto Lima Madrid"
    " Nairobi Oslo Prague Quito Riga Seoul Tunis"
).split()
JOBS = "painter doctor pilot farmer judge baker actor sailor tailor teacher".split()
SENTENCES = (
    "{name} was born in {place}.",
    "{name}, a {job}, was born in {place}.",
    "The {job} {name} was born in {place}.",
    "{name} is a {job} born in {place}.",
    "Born in {place}: {name}, a {job}.",
    "{place} is the birthplace of {name}.",
    "{name} comes from {place}.",
    "{name} ({place}) is a {job}.",
)
QUESTION = "Where was {name} born?"


@dataclass(frozen=True)
class Person:
    """Somebody who does not exist."""

    name: str
    place: str
    job: str

    @property
    def question(self) -> str:
        """Ask for the birthplace."""
        return QUESTION.format(name=self.name)


@dataclass(frozen=True)
class World:
    """Sentences about everybody; questions for some to learn from, for others to be asked."""

    sentences: Sequence[str]
    train: Sequence[Person]
    dev: Sequence[Person]
    test: Sequence[Person]


def make_world(*, people: int, sentences: int, asked_share: float, seed: int) -> World:
    """Draw people and write ``sentences`` different sentences about each.

    ``asked_share`` of them are dev, as many again test. Their questions are never trained on.
    Nobody's birthplace depends on the name: it can only be known from the sentences.
    """
    most = len(FIRST_NAMES) * len(LAST_NAMES)
    if people > most:
        raise UserError(f"world.people = {people} is not possible: there are {most} names.")
    if sentences > len(SENTENCES):
        raise UserError(
            f"world.sentences = {sentences} is not possible: there are {len(SENTENCES)} forms."
        )
    generator = rng(seed, "people")
    everybody = [
        Person(
            f"{FIRST_NAMES[i // len(LAST_NAMES)]} {LAST_NAMES[i % len(LAST_NAMES)]}",
            PLACES[generator.integers(len(PLACES))],
            JOBS[generator.integers(len(JOBS))],
        )
        for i in generator.choice(most, people, replace=False)
    ]
    text = [
        SENTENCES[form].format(name=person.name, place=person.place, job=person.job)
        for person in everybody
        for form in generator.choice(len(SENTENCES), sentences, replace=False)
    ]
    n = max(1, round(asked_share * people))
    return World(text, everybody[2 * n :], everybody[:n], everybody[n : 2 * n])
