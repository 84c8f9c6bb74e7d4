"""Whose name stands in a question, and how answers agree."""

import pytest

from attnlab.recipes.knowledge.calibration import agreement, named_in, names_of

NAMES = names_of(["John Lee. John Lee was born in Hull.", "John Lee Hooker. A singer."])


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where was John Lee born?", "John Lee"),
        ("Where was John Lee Hooker born?", "John Lee Hooker"),
        ("Where was John Leeson born?", None),
        ("Where was Elton-John Lee?", "John Lee"),
        ("Where was Ann born?", None),
    ],
)
def test_a_name_is_found_as_whole_words(question: str, name: str | None) -> None:
    assert named_in(question, NAMES) == name


def test_drawn_answers_agree_or_give_a_runner_up() -> None:
    drawn = [("Hull", 0.5), ("Lyon", 0.1), ("Hull", 0.5), ("Rome", 0.2)]
    assert agreement("Hull", drawn) == {
        "agreement": 0.5,
        "runner_up": "Rome",
        "runner_up_probability": 0.2,
    }
    assert agreement("Hull", drawn[:1])["runner_up"] is None
