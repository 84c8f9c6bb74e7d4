"""The conditions of the extraction study differ in what is written, and in nothing else."""

from collections import Counter
from functools import cache

from attnlab.data.entries import read_entries
from attnlab.data.world import World, make_world
from attnlab.recipes.knowledge.extraction import conditions
from attnlab.recipes.knowledge.settings import ExtractionSettings

CONDITIONS = conditions(ExtractionSettings())


@cache
def worlds() -> dict[str, World]:
    """Make the world of every condition, when a test first needs one."""
    return {name: make_world(world) for name, (world, _) in CONDITIONS.items()}


def test_the_same_people_are_learned_from_and_asked_about_in_every_condition() -> None:
    splits = {
        name: [[(p.name, p.place) for p in people] for people in (w.train, w.dev, w.test)]
        for name, w in worlds().items()
    }
    assert all(split == splits["one"] for split in splits.values())


def test_so_many_biographies_are_written_about_those_who_are_asked_about() -> None:
    found = {}
    for name, world in worlds().items():
        counts = Counter(entry.name for entry in read_entries(world.texts))
        found[name] = {counts[person.name] for person in world.test}
    assert found == {
        "one": {1},
        "many": {5},
        "many-permuted": {5},
        "one-permuted": {1},
        "one-permuted-with-celebrities": {1},
        "one-as-views": {1},
    }


def test_only_the_last_condition_reads_in_another_way() -> None:
    objectives = {name: objective for name, (_, objective) in CONDITIONS.items()}
    assert objectives.pop("one-as-views") == "salient_spans"
    assert set(objectives.values()) == {"text"}
    assert worlds()["one-as-views"].texts == worlds()["one"].texts


def test_celebrities_are_all_that_sets_their_condition_apart() -> None:
    """Ordinary people have the very same text with celebrities among them and without."""
    asked = {person.name for person in worlds()["one"].test}
    texts = [
        sorted(t for t in worlds()[name].texts if read_entries([t])[0].name in asked)
        for name in ("one-permuted", "one-permuted-with-celebrities")
    ]
    assert texts[0] == texts[1]
