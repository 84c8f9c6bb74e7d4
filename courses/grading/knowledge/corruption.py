"""2(e): does CharCorruptionDataset return what the assignment describes?

The checks look at draws from documents that we made. Those here look at every draw, and a correct
dataset always passes them; those in ``chance`` look at many draws together and could fail a correct
one by chance. The report gives a bound on that probability.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grading.findings import Finding, Part, judge, not_judged
from grading.knowledge import chance
from grading.knowledge.examples import (
    IS_MARK,
    IS_PAD,
    Draws,
    all_draws,
    content_length,
    cut_up,
    in_words,
    rebuilt,
)
from grading.probing import NOT_WRITTEN, Answer

BLOCKS = (128, 37)
"""The course's, and another one, so that a hard-coded number is noticed."""
LENGTHS = (1, 2, 3, 4, 5, 8, 32, 33, 60, 112, 113, 126, 128, 300)
"""Characters of our documents; distributions are judged by the last."""
FEW, MANY = 40, 6000
POINTS = 10
RUNS = "src/dataset.py builds a CharCorruptionDataset and gives examples of every document"

READABLE = ("shift", "padding", "marks", "order")
"""What must hold before a row's parts mean anything."""

Check = Callable[[Sequence[Draws]], str | None]


def documents() -> list[str]:
    """Make documents in which every character is unique, within a document and across them."""
    starts = np.cumsum([0, *LENGTHS]).tolist()
    return [
        "".join(chr(0x4E00 + place) for place in range(start, start + length))
        for start, length in zip(starts, LENGTHS, strict=False)
    ]


def request(
    *, seed: int = 0, blocks: Sequence[int] = BLOCKS, few: int = FEW, many: int = MANY
) -> dict[str, Any]:
    """Say what the probe is to draw: few examples of each document, many of the last."""
    draws = [few] * (len(LENGTHS) - 1) + [many]
    texts = documents()
    return {"kind": "dataset", "documents": texts, "blocks": blocks, "draws": draws, "seed": seed}


def grade(answer: Answer, *, blocks: Sequence[int] = BLOCKS) -> Part:
    """Judge what the probe drew."""
    said, arrays = answer
    problem = said.get("fatal") or _failures(said)
    findings = [judge("runs", RUNS, problem, f"{sum(a.shape[1] for a in arrays.values()):,} draws")]
    draws = all_draws(said, arrays, documents()) if arrays else []
    findings += _certain(draws)
    judged = {d.block for d in draws if d.n_characters == LENGTHS[-1]} == set(blocks)
    readable = judged and all(f.passed for f in findings if f.check in READABLE)
    findings += chance.grade(draws, LENGTHS[-1], readable=readable)
    bound = chance.false_failure(draws, LENGTHS[-1]) if readable else None
    notes = [] if bound is None else [f"a right data set fails by chance below {bound:.1g}."]
    return Part("2(e)", "span corruption", findings, POINTS, shared=True, notes=notes)


def _failures(said: dict[str, Any]) -> str | None:
    """Name the first document that could not be drawn from, and how many there are."""
    failures = said["failures"]
    if not failures:
        return None
    key, problem = next(iter(failures.items()))
    if problem.startswith(NOT_WRITTEN):
        return str(problem)
    block, index = map(int, key.split("/"))
    others = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return f"block {block}, document of {LENGTHS[index]}: {problem}{others}"


def _certain(draws: Sequence[Draws]) -> list[Finding]:
    """Check every draw, one property after the other; what depends on a failed one is not judged."""
    findings: list[Finding] = []
    for name, wanted, check, needs in CHECKS:
        failed = [f.check for f in findings if f.check in needs and not f.passed]
        if not draws:
            findings.append(not_judged(name, wanted, "there are no draws"))
        elif failed:
            findings.append(not_judged(name, wanted, f"cannot be seen while {failed[0]} fails"))
        else:
            findings.append(judge(name, wanted, check(draws), "in every draw"))
    return findings


def _shape(draws: Sequence[Draws]) -> str | None:
    differences = {d.block - d.x.shape[1] for d in draws}
    if differences in ({0}, {1}):
        return None
    d = max(draws, key=lambda d: abs(d.block - d.x.shape[1]))
    return f"{d.where}: x has {d.x.shape[1]} tokens"


def _shift(draws: Sequence[Draws]) -> str | None:
    for d in draws:
        wrong = (d.x[:, 1:] != d.y[:, :-1]).any(1)
        if wrong.any():
            row = int(wrong.argmax())
            return f"{d.where}: x is {in_words(d.x[row])} and y is {in_words(d.y[row])}"
    return None


def _marks(draws: Sequence[Draws]) -> str | None:
    counts: set[int] = set()
    for d in draws:
        rows, ends = d.rows, content_length(d.rows)
        number = (rows == IS_MARK).sum(1)
        last = rows[np.arange(len(rows)), np.maximum(ends - 1, 0)] == IS_MARK
        wrong = ~((number == 2) | ((number == 3) & last))
        if wrong.any():
            row = int(wrong.argmax())
            return f"{d.where}: {number[row]} marks in {in_words(rows[row])}"
        counts |= set(number.tolist())
    return None if len(counts) == 1 else "two marks in some rows and three in others"


def _padding(draws: Sequence[Draws]) -> str | None:
    for d in draws:
        rows = d.rows
        inside = np.arange(rows.shape[1])[None, :] < content_length(rows)[:, None]
        wrong = ((rows == IS_PAD) & inside).any(1)
        if wrong.any():
            return f"{d.where}: □ before the end in {in_words(rows[int(wrong.argmax())])}"
    return None


def _order(draws: Sequence[Draws]) -> str | None:
    for d in draws:
        rows, parts = d.rows, cut_up(d.rows)
        text = (rows != IS_MARK) & (rows != IS_PAD)
        wrong = ((rows != rebuilt(parts, rows.shape[1])) & text).any(1)
        if wrong.any():
            row = rows[int(wrong.argmax())]
            places = row[row >= 0]
            straight = len(places) > 1 and (places == np.arange(len(places))).all()
            hint = ": the span was not moved behind the suffix" if straight else ""
            return f"{d.where}: the row is {in_words(row)}{hint}"
    return None


def _cut(draws: Sequence[Draws]) -> str | None:
    for d in draws:
        whole = cut_up(d.rows).whole
        if whole.max() > d.longest:
            return f"{d.where}: a cut of {whole.max()}, but {d.longest} is the longest"
        if whole.min() < min(4, d.n_characters):
            return f"{d.where}: a cut of {whole.min()}"
    return None


CHECKS: tuple[tuple[str, str, Check, tuple[str, ...]], ...] = (
    ("lengths of x and y", "block_size − 1 (or block_size), always the same", _shape, ()),
    ("shift", "y is x one place further", _shift, ()),
    ("padding", "□ at the end only", _padding, READABLE[:1]),
    ("marks", "two ⁇, or a third one at the end", _marks, READABLE[:2]),
    (
        "order",
        "prefix ⁇ suffix ⁇ span: put together again, the document's beginning",
        _order,
        READABLE[:3],
    ),
    (
        "cut",
        "from 4 characters to 7/8 of the block, as far as the document goes",
        _cut,
        READABLE,
    ),
)
