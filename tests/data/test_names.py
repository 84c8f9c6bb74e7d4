"""Whose name stands in a question."""

import pytest

from attnlab.data.names import Names

NAMES = Names.of(
    ["John Lee. John Lee was born in Hull.", "John Lee Hooker. A singer.", "'Abd Ali. A poet."]
)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where was John Lee born?", "John Lee"),
        ("Where was John Lee Hooker born?", "John Lee Hooker"),
        ("Where was John Leeson born?", None),
        ("Where was Elton-John Lee?", "John Lee"),
        ("Where was 'Abd Ali born?", "'Abd Ali"),
        ("Where was Ann born?", None),
    ],
)
def test_a_name_is_found_as_whole_words(question: str, name: str | None) -> None:
    assert NAMES.in_question(question) == name


def test_a_name_is_looked_up_whole() -> None:
    assert "John Lee" in NAMES
    assert "John" not in NAMES
    assert "" not in Names.of([". A line without a name."])
