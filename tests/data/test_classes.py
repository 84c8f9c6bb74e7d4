"""Classes are ordered, labels keep to them, and a few examples stand for all in their shares."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.data.classes import check_labels, class_names, set_aside, stratified
from attnlab.data.labelled_text import Example
from attnlab.errors import UserError


def examples(*labels: str | None) -> list[Example]:
    return [
        Example(f"a.csv:{line}", f"text {line}", None, label, f"a.csv, line {line}")
        for line, label in enumerate(labels, 1)
    ]


def draw(population: list[Example], count: int, seed: int = 0) -> list[Example]:
    return stratified(population, count, generator=np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["10", "9", "-1", "9"], ["-1", "9", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["5.0", "10", "5"], ["10", "5", "5.0"]),
        (["01", "1"], ["01", "1"]),
        (["true", "false", "Zebra"], ["Zebra", "false", "true"]),
        (["²", "1"], ["1", "²"]),
    ],
)
def test_classes_are_ordered_by_number_or_else_by_text(labels: list[str], names: list[str]) -> None:
    assert class_names(examples(*labels)) == names


def test_fewer_than_two_classes_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"there is only one class, '5', in 3 examples, .* at least two"
    ):
        class_names(examples("5", "5", "5"))
    with pytest.raises(UserError, match=r"there is no class in 0 examples"):
        class_names([])


def test_an_example_without_a_label_has_no_class() -> None:
    with pytest.raises(UserError, match=r"a\.csv, line 2: the label is missing\. Use a file whose"):
        class_names(examples("1", None, "2"))


def test_a_label_outside_the_classes_is_named_with_its_place() -> None:
    check_labels(examples("1", "2", None), ["1", "2", "3"])
    with pytest.raises(
        UserError,
        match=r"a\.csv, line 2: the label '6' is not one of the 3 classes: 1, 2, 3\. Correct it",
    ):
        check_labels(examples("1", "6"), ["1", "2", "3"])
    with pytest.raises(UserError, match=r"Did you mean 'positive'\?"):
        check_labels(examples("Positive"), ["negative", "positive"])
    with pytest.raises(UserError, match=r"77 classes: c0, .*, c19 and 57 more\."):
        check_labels(examples("none"), [f"c{i}" for i in range(77)])


@pytest.mark.parametrize(
    ("sizes", "count", "shares"),
    [
        ([10, 10, 10], 6, [2, 2, 2]),
        ([10, 10, 10], 7, [3, 2, 2]),
        ([60, 30, 10], 10, [6, 3, 1]),
        ([47, 16, 37], 10, [5, 1, 4]),  # 4.7, 1.6, 3.7: the two largest remainders
        ([97, 2, 1], 3, [1, 1, 1]),
        ([90, 9, 1], 10, [8, 1, 1]),  # 9.0, 0.9, 0.1: one for the rarest, from the richest
        ([50, 47, 1, 1, 1], 8, [3, 2, 1, 1, 1]),
        ([3, 2, 1], 6, [3, 2, 1]),
    ],
)
def test_classes_are_drawn_in_their_shares_and_each_at_least_once(
    sizes: list[int], count: int, shares: list[int]
) -> None:
    labels = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    drawn = draw(examples(*labels), count)
    assert Counter(e.label for e in drawn) == {str(i): n for i, n in enumerate(shares)}


@given(st.lists(st.integers(1, 40), min_size=2, max_size=6), st.data())
@settings(deadline=None)
def test_a_draw_has_its_size_its_order_and_nothing_twice(
    sizes: list[int], data: st.DataObject
) -> None:
    labels = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    population = examples(*data.draw(st.permutations(labels)))
    count = data.draw(st.integers(len(sizes), len(labels)))
    drawn = draw(population, count)
    places = [population.index(e) for e in drawn]
    assert len(drawn) == count
    assert places == sorted(set(places))
    found = Counter(e.label for e in drawn)
    for i, size in enumerate(sizes):
        share = count * size / len(labels)
        assert 1 <= found[str(i)] < max(1, share) + 1


def test_a_draw_depends_on_the_seed_alone() -> None:
    population = examples(*"12" * 50)
    assert draw(population, 20) == draw(population, 20)
    assert draw(population, 20) != draw(population, 20, seed=1)


def test_a_smaller_draw_is_part_of_a_larger_one() -> None:
    population = examples(*"12345" * 20)
    small, large = draw(population, 10), draw(population, 50)
    assert set(small) < set(large)


@pytest.mark.parametrize("count", [-1, 0, 1, 5])
def test_too_few_or_too_many_are_refused(count: int) -> None:
    message = rf"^{count} examples cannot be drawn from 4 of 2 classes\. Ask for 2 .* to 4 \(all\)"
    with pytest.raises(UserError, match=message):
        draw(examples("1", "2", "2", "1"), count)


def test_one_class_or_no_label_cannot_be_drawn_from() -> None:
    with pytest.raises(UserError, match="there is only one class"):
        draw(examples("1", "1"), 2)
    with pytest.raises(UserError, match="the label is missing"):
        draw(examples(None, None), 2)


def aside(population: list[Example], share: float) -> tuple[list[Example], list[Example]]:
    return set_aside(population, share, generator=np.random.default_rng(0))


def test_a_tenth_is_set_aside_of_every_class_its_part() -> None:
    population = examples(*(["a"] * 60 + ["b"] * 30 + ["c"] * 10))
    rest, taken = aside(population, 0.1)
    assert Counter(e.label for e in taken) == {"a": 6, "b": 3, "c": 1}
    assert sorted([*rest, *taken], key=population.index) == population
    assert rest == sorted(rest, key=population.index)
    assert aside(population, 0.1) == (rest, taken)


def test_a_class_of_one_example_is_not_set_aside_and_nor_is_any_other() -> None:
    population = examples(*(["a"] * 30 + ["b"]))
    assert aside(population, 0.1) == (population, [])


@given(st.lists(st.integers(2, 9), min_size=2, max_size=5), st.floats(0.01, 0.5))
@settings(deadline=None)
def test_no_class_is_set_aside_whole(sizes: list[int], share: float) -> None:
    population = examples(*(str(i) for i, size in enumerate(sizes) for _ in range(size)))
    rest, taken = aside(population, share)
    assert {e.label for e in rest} == {e.label for e in taken} == set(class_names(population))
