"""The made-up world: nobody is asked in test what was answered in train."""

from dataclasses import astuple

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.world import PLACES, World, make_world
from attnlab.errors import UserError


def small(
    *, people: int = 50, sentences: int = 3, asked_share: float = 0.2, seed: int = 0
) -> World:
    return make_world(people=people, sentences=sentences, asked_share=asked_share, seed=seed)


@hypothesis.settings(deadline=None, max_examples=40)
@given(st.integers(10, 780), st.integers(1, 8), st.floats(1e-6, 0.4), st.integers(0, 2**32))
def test_everybody_is_there_once_and_in_one_split(
    people: int, sentences: int, asked_share: float, seed: int
) -> None:
    world = small(people=people, sentences=sentences, asked_share=asked_share, seed=seed)
    everybody = [*world.train, *world.dev, *world.test]
    assert len(everybody) == people
    assert len({person.name for person in everybody}) == people
    assert len({person.question for person in everybody}) == people
    assert len(world.dev) == len(world.test) == max(1, round(asked_share * people))
    assert world.train


def test_each_person_has_that_many_different_sentences_that_tell_the_place() -> None:
    world = small()
    assert len(world.sentences) == len(set(world.sentences)) == 50 * 3
    for person in (*world.train, *world.dev, *world.test):
        about = [text for text in world.sentences if person.name in text]
        assert len(about) == 3
        assert all(person.place in text for text in about)


def test_no_sentence_is_a_question() -> None:
    world = small(people=200, sentences=8)
    assert not [text for text in world.sentences if "?" in text]


def test_the_world_is_pure_in_the_seed() -> None:
    assert astuple(small(seed=3)) == astuple(small(seed=3))


def test_another_seed_is_another_world() -> None:
    one, other = small(people=780, seed=3), small(people=780, seed=4)
    places = [
        {p.name: p.place for p in (*world.train, *world.dev, *world.test)} for world in (one, other)
    ]
    assert places[0].keys() == places[1].keys()
    same = sum(places[0][name] == places[1][name] for name in places[0])
    assert same < 780 * 0.1
    assert [p.name for p in one.test] != [p.name for p in other.test]


def test_the_place_does_not_follow_from_a_name() -> None:
    """Thirty people share a last name; if it gave the place away, they would share few places."""
    world = small(people=780)
    everybody = [*world.train, *world.dev, *world.test]
    assert {person.place for person in everybody} == set(PLACES)
    by_last_name: dict[str, set[str]] = {}
    for person in everybody:
        by_last_name.setdefault(person.name.split()[1], set()).add(person.place)
    assert min(len(places) for places in by_last_name.values()) >= 8


def test_more_people_than_names_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"^world.people = 781 is not possible: there are 780 names\.$"
    ):
        small(people=781)


def test_more_sentences_than_forms_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"^world.sentences = 9 is not possible: there are 8 forms\.$"
    ):
        small(sentences=9)
