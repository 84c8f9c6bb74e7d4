"""Salient-span views: what is scored, what stands round it, and how it is drawn.

Tests that count draws fail by chance with the probability that their docstring states, and never
in practice, since the seed is fixed.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from attnlab.data.batches import TokenRow
from attnlab.data.byte_pairs import BytePairTokenizer
from attnlab.data.entries import Entry, read_entries
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.objectives.salient_spans import SalientSpans
from attnlab.data.tokenizer import SENTINEL
from attnlab.errors import UserError

CORPUS = [
    "John Q. Fisher. Born in Glasgow, Fisher went to the London Opera Centre, then sang at Covent.",
    "Nobody. was never here, and nothing is known.",
    "Ada Lovelace. Lovelace, the daughter of Byron, was born in London; London, not far from Kent.",
    "Bela Kun. In the end Kun was born, born again, and died in Moscow.",
]
VOCABULARY = BytePairTokenizer.of(CORPUS, size=300)
ENTRIES = {entry.name: entry for entry in read_entries(CORPUS) if entry.spans}
ADA = ["Byron", "London", "London", "Kent"]


def make(
    corpus: Sequence[str] = CORPUS, answers: Sequence[str] = (), **options: Any
) -> SalientSpans:
    built: SalientSpans = OBJECTIVES.build(
        "salient_spans", corpus, VOCABULARY, lambda _, text: text in answers, options=options
    )
    return built


def draw(n_epochs: int = 40, **options: Any) -> list[TokenRow]:
    objective, generator = make(**options), np.random.default_rng(0)
    return [row for _ in range(n_epochs) for row in objective.rows(generator)]


def scored_runs(row: TokenRow) -> list[list[int]]:
    """Return the runs of tokens that are scored."""
    assert row.scored is not None
    pairs = zip(row.scored, row.tokens, strict=True)
    runs = groupby(pairs, key=lambda pair: pair[0])
    return [[token for _, token in run] for is_scored, run in runs if is_scored]


def texts_of(row: TokenRow) -> list[str]:
    """Return what stands before each mark."""
    return [text.strip() for text in VOCABULARY.decode(row.tokens).split(SENTINEL)]


def check_that_only_spans_are_scored(row: TokenRow, entry: Entry) -> None:
    left = Counter(span.text for span in entry.spans)
    for run in scored_runs(row):
        assert run[-1] == VOCABULARY.sentinel, "a span is closed by its mark"
        left[VOCABULARY.decode(run[:-1])] -= 1
    assert min(left.values()) >= 0, f"{row} scores what is no span of {entry}, or one twice"


def test_the_corpus_has_the_spans_that_these_tests_speak_of() -> None:
    found = {name: [span.text for span in entry.spans] for name, entry in ENTRIES.items()}
    assert found == {
        "John Q. Fisher": ["Glasgow", "London Opera Centre", "Covent"],
        "Ada Lovelace": ADA,
        "Bela Kun": ["Moscow"],
    }


def test_an_epoch_has_one_view_of_every_line_with_spans() -> None:
    assert [row.id for row in draw(1)] == list(ENTRIES)


@pytest.mark.parametrize("asked", [0.0, 0.5, 1.0])
def test_nothing_but_spans_of_the_line_and_their_marks_is_scored(asked: float) -> None:
    for row in draw(asked=asked):
        check_that_only_spans_are_scored(row, ENTRIES[row.id])
        assert not row.is_read_only


def test_the_check_of_what_is_scored_notices_words_that_are_no_span() -> None:
    (row, *_) = draw(1)
    assert row.scored is not None
    for place in (0, row.scored.index(False, row.scored.index(True))):
        wrong = TokenRow(row.id, row.tokens, [s or i == place for i, s in enumerate(row.scored)])
        with pytest.raises(AssertionError):
            check_that_only_spans_are_scored(wrong, ENTRIES[row.id])


@pytest.mark.parametrize(("spans", "most"), [(1, 1), (3, 3), (5, 4)])
def test_a_view_has_at_most_so_many_spans(spans: int, most: int) -> None:
    rows = [row for row in draw(spans=spans) if row.id == "Ada Lovelace"]
    assert {len(scored_runs(row)) for row in rows} == {most}


def test_a_listing_view_is_a_name_and_each_span_after_the_words_to_its_left() -> None:
    lengths = set()
    for row in draw(asked=0.0, around=0, context=3):
        name, *rest, end = texts_of(row)
        assert (name, end) == (row.id, "")
        before, written = rest[::2], rest[1::2]
        known = [(span.text, span.before) for span in ENTRIES[row.id].spans]
        for words, text in zip(map(str.split, before), written, strict=True):
            assert any(
                text == span and tuple(words) == left[len(left) - len(words) :]
                for span, left in known
            ), (words, text)
            lengths.add(len(words))
    assert lengths == {0, 1, 2, 3}


def is_picked(words: Sequence[str], before: Sequence[str]) -> bool:
    """Say whether words were taken out of others in their order."""
    rest = iter(before)
    return all(word in rest for word in words)


def test_an_asking_view_puts_words_before_its_first_span_round_the_name() -> None:
    lengths, places, neighbours = set(), set(), set()
    for row in draw(asked=1.0, cues=3, around=2):
        first, written, *_ = texts_of(row)
        left, right = (part.split() for part in first.split(row.id))
        words = (*left, *right)
        known = [span.before for span in ENTRIES[row.id].spans if span.text == written]
        assert any(is_picked(words, before) for before in known), (first, written)
        lengths.add(len(words))
        places.add((bool(left), bool(right)))
        neighbours.add(any(words == before[len(before) - len(words) :] for before in known))
    assert lengths == {1, 2, 3}
    assert places == {(True, False), (False, True), (True, True)}
    assert neighbours == {True, False}, "a question's words need not stand side by side"


def test_words_round_the_name_of_a_listing_view_are_of_the_corpus() -> None:
    words = {word for line in CORPUS for word in line.split()}
    sizes = set()
    for row in draw(asked=0.0, around=2):
        left, right = (part.split() for part in texts_of(row)[0].split(row.id))
        assert words.issuperset([*left, *right])
        sizes.add((len(left), len(right)))
    assert sizes == {(i, j) for i in range(3) for j in range(3)}


def firsts(n: int, **options: Any) -> Counter[str]:
    rows = draw(n, **options)
    return Counter(
        VOCABULARY.decode(scored_runs(r)[0][:-1]) for r in rows if r.id == "John Q. Fisher"
    )


def test_every_order_of_the_spans_is_equally_likely() -> None:
    """Chi-squared over 6 orders below its mean + 5 standard deviations: fails below 1e-3."""
    rows = [row for row in draw(1200, answers_weigh=9.0) if row.id == "John Q. Fisher"]
    orders = Counter(tuple(map(tuple, scored_runs(row))) for row in rows)
    assert len(orders) == 6
    assert sum((n - 200) ** 2 / 200 for n in orders.values()) < 5 + 5 * math.sqrt(10)


@pytest.mark.parametrize(("weight", "share"), [(4.0, 4 / 6), (1.0, 1 / 3), (0.5, 0.5 / 2.5)])
def test_an_answer_of_a_training_question_comes_first_by_its_weight(
    weight: float, share: float
) -> None:
    """Within 5 standard deviations of the share: fails by chance with 3 × 5.7e-7."""
    found = firsts(600, answers=["Glasgow", "Lima"], answers_weigh=weight)
    assert abs(found["Glasgow"] - 600 * share) < 5 * math.sqrt(600 * share * (1 - share))


def test_a_share_of_the_views_asks() -> None:
    """Within 5 standard deviations of a quarter: fails by chance with 5.7e-7."""
    rows = draw(300, asked=0.25)
    lists = sum(len(scored_runs(row)) * 2 + 1 == len(texts_of(row)) - 1 for row in rows)
    assert abs(lists - 900 * 0.75) < 5 * math.sqrt(900 * 0.75 * 0.25)


def test_a_view_is_cut_to_the_block() -> None:
    rows, whole = draw(block=11), draw()
    assert make(block=11).longest == 11
    for row, uncut in zip(rows, whole, strict=True):
        assert row.scored is not None
        assert uncut.scored is not None
        assert list(row.tokens) == list(uncut.tokens)[:11]
        assert list(row.scored) == list(uncut.scored)[:11]


def test_the_rows_are_pure_in_the_generator() -> None:
    first, second = make(), make()
    generator = np.random.default_rng(3)
    rows = [first.rows(generator), first.rows(generator)]
    assert rows[0] != rows[1]
    assert second.rows(np.random.default_rng(3)) == rows[0]
    assert first.rows(np.random.default_rng(3)) == rows[0], "an earlier epoch left a trace"


@pytest.mark.parametrize("corpus", [["nothing has a name. nothing at all."], ["Ada. Ada, Ada."]])
def test_a_corpus_without_names_is_refused(corpus: list[str]) -> None:
    with pytest.raises(UserError, match=r"^the corpus has no names to learn: salient_spans takes"):
        make(corpus)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("spans", 0),
        ("context", -1),
        ("around", -1),
        ("asked", 1.1),
        ("answers_weigh", 0),
        ("cues", 0),
        ("block", 1),
    ],
)
def test_an_impossible_option_is_refused(option: str, value: float) -> None:
    with pytest.raises(
        UserError, match=rf"^objective 'salient_spans': option {option} = {value} is not possible"
    ):
        make(**{option: value})
