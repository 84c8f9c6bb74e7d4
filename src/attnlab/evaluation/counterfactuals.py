"""Which part of a name drives an answer that the model cannot know?

Asked about a person it has read nothing about, the model answers all the same. One part of the name
is replaced by that of another such name: the more often the answer changes, the more that part
matters.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from attnlab.evaluation.bootstrap import Bootstrap

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
    """Replace a part of every name that has it by that of up to ``count`` other names."""
    split = [name.split() for name in names]
    own = [tuple(words[_place(words, part)]) for words in split]
    pool = sorted({words for words in own if words})
    variants: list[list[str]] = []
    for words, given in zip(split, own, strict=True):
        others = [other for other in pool if other != given] if given else []
        chosen = generator.permutation(len(others))[:count].tolist() if given else []
        place = _place(words, part)
        before, after = words[: place.start], words[place.stop :]
        variants.append([" ".join([*before, *others[i], *after]) for i in chosen])
    return variants


def driven_by(changed: Mapping[str, Sequence[Sequence[bool]]]) -> dict[str, Any]:
    """Return for every part how often the answer changed: the mean over people, with interval."""
    found = {}
    for part, people in changed.items():
        shares = np.array([[np.mean(one) for one in people if len(one)]])
        if shares.size:
            estimate = Bootstrap.of_means([shares]).score(0)
            found[part] = {
                "changed": estimate.value,
                "interval": list(estimate.interval()),
                "n": shares.size,
            }
    return found


def _shared(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that all begin with; of one row alone, none."""
    columns = zip(*rows, strict=False)
    return [column[0] for column in takewhile(lambda c: len(set(c)) == 1 < len(c), columns)]


def _place(words: Sequence[str], part: str) -> slice:
    """Return where a part of a name stands; a single word is a first name."""
    n = len(words)
    places = {"first": (0, 1), "middle": (1, n - 1), "last": (max(1, n - 1), n), "all": (0, n)}
    return slice(*places[part])
