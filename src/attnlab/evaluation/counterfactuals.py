"""Which part of a name drives an answer that the model cannot know?

A person of whom nothing was read gets an answer all the same. One part of the name is replaced by
that of another such name: the more often the answer changes, the more it hung on that part.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from attnlab.evaluation.resampling import Bootstrap

PARTS = ("first", "middle", "last", "all")


def names_asked(questions: Sequence[str]) -> list[str]:
    """Return what differs between questions of one form: the words after what all begin with,
    and before what all end with.
    """
    words = [question.split() for question in questions]
    before = len(_shared(words))
    after = len(_shared([list(reversed(rest[before:])) for rest in words]))
    return [" ".join(rest[before : len(rest) - after]) for rest in words]


def replaced(
    names: Sequence[str], part: str, *, count: int, generator: np.random.Generator
) -> list[list[str]]:
    """Replace a part of every name by those of others, so often; a name may not have that part."""
    given = [_part(name.split(), part) for name in names]
    pool = sorted({words for words in given if words})
    return [
        [_with(name.split(), part, other) for other in _draw(pool, words, count, generator)]
        if words
        else []
        for name, words in zip(names, given, strict=True)
    ]


def driven_by(changed: Mapping[str, Sequence[Sequence[bool]]]) -> dict[str, Any]:
    """Say for every part how often the answer changed, a mean over people with its interval."""
    told = {}
    for part, people in changed.items():
        shares = np.array([[np.mean(one) for one in people if len(one)]])
        if shares.size:
            estimate = Bootstrap.of_means([shares]).score(0)
            told[part] = {
                "changed": estimate.value,
                "interval": list(estimate.interval()),
                "n": shares.size,
            }
    return told


def _shared(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that all begin with; of one row alone, none."""
    columns = zip(*rows, strict=False)
    return [column[0] for column in takewhile(lambda c: len(set(c)) == 1 < len(c), columns)]


def _part(words: Sequence[str], part: str) -> tuple[str, ...]:
    parts = {"first": words[:1], "middle": words[1:-1], "last": words[1:][-1:], "all": words}
    return tuple(parts[part])


def _with(words: Sequence[str], part: str, other: Sequence[str]) -> str:
    parts = {
        "first": [*other, *words[1:]],
        "middle": [*words[:1], *other, *words[-1:]],
        "last": [*words[:-1], *other],
        "all": other,
    }
    return " ".join(parts[part])


def _draw(
    pool: Sequence[tuple[str, ...]],
    own: tuple[str, ...],
    count: int,
    generator: np.random.Generator,
) -> list[tuple[str, ...]]:
    others = [words for words in pool if words != own]
    chosen = generator.permutation(len(others))[:count]
    return [others[index] for index in chosen.tolist()]
