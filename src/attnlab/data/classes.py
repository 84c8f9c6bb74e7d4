"""The classes of labelled texts: their names, checking a file, drawing a stratified sample."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from attnlab.data.bad_records import BadRecordError, BadRecords
from attnlab.data.example_fields import WHOLE_NUMBER
from attnlab.data.labelled_text import Example
from attnlab.errors import UserError, did_you_mean

MOST_LISTED = 20


def class_names(examples: Sequence[Example]) -> list[str]:
    """Return the classes in order: by number if all are whole numbers, else by text."""
    names = set(_labels(examples))
    if len(names) < 2:
        found = f"there is only one class, {names.pop()!r}," if names else "there is no class"
        raise UserError(
            f"{found} in {len(examples):,} examples, but a classifier needs at least two."
            " Add examples of another class, or check which column holds the label."
        )
    if all(map(WHOLE_NUMBER.fullmatch, names)):
        return sorted(names, key=lambda name: (int(name), name))
    return sorted(names)


def check_labels(examples: Sequence[Example], classes: Sequence[str]) -> None:
    """Refuse labels that are not among the classes; examples without a label pass."""
    known, bad = {None, *classes}, BadRecords()
    for example in examples:
        if example.label not in known:
            with bad.collected():
                raise _unknown_label(example, classes)
    bad.refuse(len(examples))


def _unknown_label(example: Example, classes: Sequence[str]) -> BadRecordError:
    return BadRecordError(
        example.place,
        f"the label {example.label!r} is not one of the {len(classes)} classes",
        f": {_listed(classes)}.{did_you_mean(str(example.label), classes)}"
        " Correct it, or train on a file that has this class.",
    )


def stratified(
    examples: Sequence[Example], count: int, *, generator: np.random.Generator
) -> list[Example]:
    """Draw ``count`` examples, in file order, with each class in proportion to its size.

    Each class gives at least one. Draws with the same generator state order each class alike, so
    that of two draws from balanced classes the smaller is part of the larger.
    """
    classes = class_names(examples)
    if not len(classes) <= count <= len(examples):
        raise UserError(
            f"{count:,} examples cannot be drawn from {len(examples):,} of {len(classes)} classes."
            f" Ask for {len(classes)} (one per class) to {len(examples):,} (all)."
        )
    labels = np.array(_labels(examples), dtype=object)
    members = [np.flatnonzero(labels == name) for name in classes]
    shares = _shares([len(of_class) for of_class in members], count)
    chosen = [
        generator.permutation(of_class)[:n] for of_class, n in zip(members, shares, strict=True)
    ]
    return [examples[i] for i in sorted(np.concatenate(chosen).tolist())]


def set_aside(
    examples: Sequence[Example], share: float, *, generator: np.random.Generator
) -> tuple[list[Example], list[Example]]:
    """Split off a share of the examples, of every class its part; return the rest and the share.

    A class with a single example could only be learned or only be asked: then nothing is split off.
    """
    assert 0 < share <= 0.5, share  # or a small class could go whole
    classes = class_names(examples)
    if min(Counter(_labels(examples)).values()) < 2:
        return list(examples), []
    count = max(len(classes), round(share * len(examples)))
    aside = stratified(examples, count, generator=generator)
    taken = {example.place for example in aside}
    return [example for example in examples if example.place not in taken], aside


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """Divide ``count`` by largest remainder, with at least one for each; ties go to the first.

    If guaranteeing one for each gives out too many, the classes furthest above their fair share
    lose one.
    """
    total = sum(sizes)
    shares = [max(1, count * size // total) for size in sizes]
    while (left := count - sum(shares)) != 0:
        lacks = [count * size - total * share for size, share in zip(sizes, shares, strict=True)]
        if left > 0:
            shares[lacks.index(max(lacks))] += 1
        else:
            rich = [i for i, share in enumerate(shares) if share > 1]
            shares[min(rich, key=lambda i: (lacks[i], -i))] -= 1
    return shares


def _labels(examples: Sequence[Example]) -> list[str]:
    labels = [example.label for example in examples if example.label is not None]
    if len(labels) < len(examples):
        place = next(example.place for example in examples if example.label is None)
        raise UserError(f"{place}: the label is missing. Use a file whose examples have labels.")
    return labels


def _listed(classes: Sequence[str]) -> str:
    more = len(classes) - MOST_LISTED
    return ", ".join(classes[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
