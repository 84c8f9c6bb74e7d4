"""Span corruption, its properties one by one and its distribution.

The distributional tests compare n draws with what is expected; each fails by chance with the
probability that its docstring states, and never in practice, since the seed is fixed.
"""

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.batches import TokenRow
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.objectives import OBJECTIVES, span_corruption
from attnlab.data.objectives.span_corruption import (
    SpanCorruption,
    corrupt,
    span_sizes,
    without_title,
)
from attnlab.errors import UserError

SENTINEL = 1
N = 20_000


def apart(row: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Take prefix, span and suffix out of a row without a third mark."""
    first = row.index(SENTINEL)
    second = row.index(SENTINEL, first + 1)
    return row[:first], row[second + 1 :], row[first + 1 : second]


def document(length: int) -> list[int]:
    """A text whose every token is another, so that places can be told."""
    return list(range(2, 2 + length))


@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=5),
    block=st.integers(24, 256),
    closing=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_prefix_span_and_suffix_are_the_beginning_of_the_document(
    lengths: list[int], block: int, closing: bool, seed: int
) -> None:
    texts = [document(length) for length in lengths]
    generator = np.random.default_rng(seed)
    rows = corrupt(texts, generator, block=block, sentinel=SENTINEL, closing=closing)
    for text, row in zip(texts, rows, strict=True):
        assert len(row) <= block
        if closing:
            assert row.pop() == SENTINEL
        prefix, span, suffix = apart(row)
        whole = prefix + span + suffix
        longest = min(len(text), block * 7 // 8)
        assert whole == text[: len(whole)]
        assert min(4, longest) <= len(whole) <= longest
        assert span


def test_every_length_is_equally_likely() -> None:
    """Chi-squared over 25 lengths below its mean + 5 standard deviations: fails below 1e-5."""
    generator = np.random.default_rng(0)
    rows = corrupt([document(100)] * N, generator, block=32, sentinel=SENTINEL)
    counts = Counter(len(row) - 2 for row in rows)
    assert sorted(counts) == list(range(4, 29))
    expected = N / 25
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 24 + 5 * math.sqrt(2 * 24)


def shares(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    rows = corrupt([document(100)] * N, generator, block=128, sentinel=SENTINEL)
    parts = [apart(row) for row in rows]
    return np.array([len(span) / sum(map(len, (p, span, s))) for p, span, s in parts])


def check_a_quarter(found: np.ndarray) -> None:
    assert abs(found.mean() - 0.25) < 5 * found.std() / math.sqrt(N)


def test_the_span_has_a_quarter_on_average() -> None:
    """Five standard deviations of the mean: fails by chance with 5.7e-7."""
    check_a_quarter(shares(0))


@pytest.mark.parametrize("length", [4, 5, 6, 7, 50, 51])
def test_the_span_has_a_quarter_of_every_length(length: int) -> None:
    """Five standard deviations of the mean each: fails by chance with 6 × 5.7e-7."""
    generator = np.random.default_rng(1)
    sizes = span_sizes(np.full(N, length), generator)
    assert sizes.min() >= 1
    assert abs(sizes.mean() - length / 4) <= 5 * sizes.std() / math.sqrt(N)


def test_a_quarter_of_the_whole_document_instead_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The usual mistake: the span's size is drawn from the length before the cut."""
    right = span_sizes
    monkeypatch.setattr(
        span_corruption,
        "span_sizes",
        lambda lengths, g: np.minimum(right(np.full_like(lengths, 100), g), lengths - 1),
    )
    with pytest.raises(AssertionError):
        check_a_quarter(shares(0))


def test_every_place_of_a_span_is_equally_likely() -> None:
    """One of four tokens is taken out: chi-squared with 3 degrees, fails below 1e-3."""
    generator = np.random.default_rng(2)
    rows = corrupt([document(4)] * N, generator, block=128, sentinel=SENTINEL)
    counts = Counter(row.index(SENTINEL) for row in rows)
    assert sorted(counts) == [0, 1, 2, 3]
    expected = N / 4
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 3 + 5 * math.sqrt(6)


def test_a_short_document_stays_whole() -> None:
    texts = [document(length) for length in (1, 2, 3)]
    rows = corrupt(texts, np.random.default_rng(3), block=128, sentinel=SENTINEL)
    for length, row in zip((1, 2, 3), rows, strict=True):
        assert sorted(row) == [SENTINEL, SENTINEL, *document(length)]


def test_documents_are_cut_one_by_one() -> None:
    """Documents of two lengths in one call: each has lengths and spans of its own."""
    generator = np.random.default_rng(4)
    rows = corrupt([document(6), document(100)] * 50, generator, block=64, sentinel=SENTINEL)
    assert max(len(row) - 2 for row in rows[::2]) == 6
    assert len({len(row) for row in rows[1::2]}) > 10


CORPUS = ["Ada was born in Oslo.", "Béla Kun. Kun, a welder, lived in Lima.", "Ion."]


def make(**options: object) -> SpanCorruption:
    tokenizer = CharacterTokenizer.of(CORPUS)
    built: SpanCorruption = OBJECTIVES.build("span_corruption", CORPUS, tokenizer, options=options)
    return built


def test_an_epoch_has_a_row_for_every_line_all_of_it_scored() -> None:
    rows = make(block=32, closing=True).rows(np.random.default_rng(5))
    assert [row.id for row in rows] == ["document 1", "document 2", "document 3"]
    assert all(row.scored is None and not row.is_read_only for row in rows)
    tokenizer = CharacterTokenizer.of(CORPUS)
    for row, line in zip(rows, CORPUS, strict=True):
        prefix, suffix, span, after = tokenizer.decode(row.tokens).split("⁇")
        assert line.startswith(prefix + span + suffix)
        assert not after


def test_the_rows_are_pure_in_the_generator() -> None:
    objective = make()
    first, again, other = (objective.rows(np.random.default_rng(seed)) for seed in (6, 6, 7))
    assert first == again
    assert first != other


def test_the_longest_row_is_a_block() -> None:
    objective = make(block=24)
    assert objective.longest == 24
    rows = [row for seed in range(200) for row in objective.rows(np.random.default_rng(seed))]
    assert max(len(row.tokens) for row in rows) == 24 * 7 // 8 + 2 <= 24


def test_a_block_that_is_too_small_for_the_marks_is_refused() -> None:
    message = (
        r"^objective 'span_corruption': option block = 23 is not possible: input should be greater"
        r" than or equal to 24"
    )
    with pytest.raises(UserError, match=message):
        make(block=23)


def test_a_shift_puts_padding_before_the_text_as_far_as_the_block_has_room() -> None:
    tokenizer = CharacterTokenizer.of(CORPUS)
    plain: SpanCorruption = OBJECTIVES.build(
        "span_corruption", CORPUS, tokenizer, options={"block": 24}
    )
    shifted: SpanCorruption = OBJECTIVES.build(
        "span_corruption", CORPUS, tokenizer, options={"block": 24, "shift": 5}
    )
    shifts = set()
    for seed in range(50):
        rows = [one.rows(np.random.default_rng(seed)) for one in (plain, shifted)]
        for before, after in zip(*rows, strict=True):
            shift = len(after.tokens) - len(before.tokens)
            assert shift == min(5, 24 - len(before.tokens))
            assert list(after.tokens) == [0] * shift + list(before.tokens)
            if shift:
                assert after.scored == [False] * shift + [True] * len(before.tokens)
            shifts.add(shift)
    assert 5 in shifts


LINES = [f"Ada Lund {i}. Ada Lund {i} was born in Oslo, far away." for i in range(40)]
SHIFTED = {"block": 64, "shift": 10}


def rows_of(seed: int = 0, **options: object) -> list[TokenRow]:
    tokenizer = CharacterTokenizer.of(LINES)
    built = OBJECTIVES.build("span_corruption", LINES, tokenizer, (), options=SHIFTED | options)
    return built.rows(np.random.default_rng(seed))


def begins(rows: list[TokenRow]) -> list[int]:
    """Count the padding before each text."""
    return [next(i for i, token in enumerate(row.tokens) if token) for row in rows]


def test_without_another_form_the_rows_are_what_they_were() -> None:
    assert rows_of(jitter=0, untitled=0.0, draws=1) == rows_of()
    assert set(begins(rows_of())) == {10}


def test_with_jitter_texts_begin_earlier_and_later_and_padding_is_not_scored() -> None:
    rows = [row for seed in range(5) for row in rows_of(seed, jitter=3)]
    assert set(begins(rows)) == set(range(7, 14))
    assert all(not any(row.scored[: begins([row])[0]]) for row in rows if row.scored)
    plain = [row.tokens[10:] for row in rows_of(2)]
    assert [
        row.tokens[n:] for row, n in zip(rows[80:120], begins(rows[80:120]), strict=True)
    ] == plain


def test_a_share_of_the_rows_leaves_out_the_title() -> None:
    assert without_title(LINES[3]) == "Ada Lund 3 was born in Oslo, far away."
    assert without_title("Ada. She was born in Oslo.") == "Ada. She was born in Oslo."
    tokenizer = CharacterTokenizer.of(LINES)
    for share, expected in ((0.0, {"."}), (0.5, {".", " "}), (1.0, {" "})):
        parts = [apart(list(row.tokens)) for row in rows_of(untitled=share, shift=0)]
        texts = [tokenizer.decode([*before, *span, *after]) for before, span, after in parts]
        found = [re.match(r"Ada Lund \d+([. ])", text) for text in texts]
        assert {match[1] for match in found if match} == expected  # of texts cut after the name


def test_with_more_draws_the_cuts_are_longer_and_every_length_is_still_possible() -> None:
    generator = np.random.default_rng(0)
    rows = corrupt([document(100)] * N, generator, block=32, sentinel=SENTINEL, draws=2)
    lengths = np.array([len(row) - 2 for row in rows])
    shortest, longest = 4, 28
    assert set(lengths.tolist()) == set(range(shortest, longest + 1))
    # The longest of two draws of k is at most m with probability (m / k)^2.
    k = longest - shortest + 1
    expected = shortest + sum(1 - (m / k) ** 2 for m in range(1, k))
    assert lengths.mean() == pytest.approx(expected, abs=4 * lengths.std() / N**0.5)
