"""Whom a corpus is about, and which of them a question names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from attnlab.data.entries import RUN, split_name

FIRST_WORD = re.compile(r"\w+")


class Names:
    """The names that the lines of a corpus begin with, found by their first word."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name for name in names if FIRST_WORD.search(name))
        self._by_first_word = defaultdict[str, list[str]](list)
        for name in self._names:
            self._by_first_word[FIRST_WORD.findall(name)[0]].append(name)

    @classmethod
    def of(cls, corpus: Iterable[str]) -> "Names":
        """Return whom a corpus is about."""
        return cls(split_name(line)[0] for line in corpus)

    def __contains__(self, name: object) -> bool:
        """Say whether a name is among them."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """Give them in the order of the alphabet."""
        return iter(sorted(self._names))

    def in_question(self, question: str) -> str | None:
        """Return the longest of the names that stands in a question, as whole words."""
        words = set(FIRST_WORD.findall(question))
        found = (
            name
            for word in words
            for name in self._by_first_word.get(word, ())
            if name in question and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question)
        )
        return max(found, key=lambda name: (len(name), name), default=None)


def capitalised_name(question: str) -> str | None:
    """Return what looks like a name, whether anybody has it: the longest run of capitalised words.

    The word that a question begins with has a capital anyway.
    """
    found = [match[0] for match in RUN.finditer(question) if match.start()]
    return max(found, key=lambda name: len(name.split()), default=None)
