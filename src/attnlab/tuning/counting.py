"""How many parameters a method trains, as a formula in a model's sizes: 2·L·P·d + 2·d + 2."""

import re
from collections import Counter
from collections.abc import Mapping
from math import prod

POWERS = {1: "", 2: "²", 3: "³"}


class Count:
    """A sum of products of sizes, such as ``4·L·r·d + d²``; like terms are put together."""

    def __init__(self, text: str = "") -> None:
        self._terms: Counter[tuple[str, ...]] = Counter()
        for term in filter(None, text.split(" + ")):
            numbers, symbols = _factors(term)
            self._terms[symbols] += prod(numbers)

    def __add__(self, other: "Count") -> "Count":
        total = Count()
        total._terms = self._terms + other._terms
        return total

    def __str__(self) -> str:
        """Write it as a text that makes an equal count again."""
        return " + ".join(_written(n, symbols) for symbols, n in self._terms.items()) or "0"

    def value(self, sizes: Mapping[str, int]) -> int:
        """Work it out for a model of these sizes."""
        return sum(n * prod(sizes[s] for s in symbols) for symbols, n in self._terms.items())

    def symbols(self) -> list[str]:
        """List the sizes it depends on, in order of appearance."""
        return list(dict.fromkeys(s for symbols in self._terms for s in symbols))


def head_count(n_classes: int, *, dense: bool) -> Count:
    """Count a classifier: a linear layer, with a dense layer of full width before it or without.

    The dense layer is BERT's pooler, or the first layer of the head of RoBERTa, DistilBERT and T5.
    """
    linear = Count(f"{n_classes}·d + {n_classes}")
    return Count("d² + d") + linear if dense else linear


def _factors(term: str) -> tuple[list[int], tuple[str, ...]]:
    """Split a product into its numbers and its sizes, one for each power."""
    numbers, symbols = [], []
    for factor in term.split("·"):
        if factor.isdecimal():
            numbers.append(int(factor))
            continue
        found = re.fullmatch(r"([A-Za-z]+)([²³]?)", factor)
        assert found, f"{factor!r} in the count {term!r} is neither a number nor a size"
        power = next(n for n, sign in POWERS.items() if sign == found[2])
        symbols += [found[1]] * power
    return numbers, tuple(symbols)


def _written(number: int, symbols: tuple[str, ...]) -> str:
    factors = [f"{symbol}{POWERS[power]}" for symbol, power in Counter(symbols).items()]
    return "·".join([*([str(number)] if number != 1 or not factors else []), *factors])
