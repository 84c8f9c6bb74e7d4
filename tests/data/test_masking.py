"""Masked tokens: what is chosen, what it becomes, and the rows that are masked.

The distributional tests compare draws with what is expected; each fails by chance with the
probability that its docstring states, and never in practice, since the seed is fixed.
"""

import math
from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.batches import IGNORED
from attnlab.data.masking import Masked, block_rows, line_rows, mask_tokens
from attnlab.errors import UserError

PAD, CLS, SEP, MASK, VOCAB_SIZE = 0, 2, 11, 5, 23
SPECIAL = frozenset({PAD, 1, CLS, SEP, MASK})
ORDINARY = sorted(set(range(VOCAB_SIZE)) - SPECIAL)
SHARE = 0.15
ROWS = [[CLS, *ORDINARY, SEP, *ORDINARY[::-1], SEP, PAD, 1]] * 2500

Rows = list[list[int]]
Mask = Callable[[Rows, np.random.Generator], Masked]


def mask(
    rows: Rows,
    generator: np.random.Generator,
    *,
    share: float = SHARE,
    special_ids: frozenset[int] = SPECIAL,
) -> Masked:
    return mask_tokens(
        rows,
        generator,
        share=share,
        mask_id=MASK,
        vocab_size=VOCAB_SIZE,
        special_ids=special_ids,
    )


def flat(rows: Rows) -> np.ndarray:
    return np.array([token for row in rows for token in row], dtype=np.int64)


def check_places(rows: Rows, masked: Masked) -> None:
    """Only chosen tokens change, none of them is special, and the target is what stood there."""
    for found in masked:
        assert [len(row) for row in found] == [len(row) for row in rows]
    before, after, targets = flat(rows), flat(masked.tokens), flat(masked.targets)
    is_chosen = targets != IGNORED
    assert np.array_equal(before[~is_chosen], after[~is_chosen])
    assert np.array_equal(before[is_chosen], targets[is_chosen])
    assert not SPECIAL & set(targets.tolist())
    assert not (SPECIAL - {MASK}) & set(after[is_chosen].tolist())


def check_share(found: np.ndarray, n: int, share: float) -> None:
    """So many of n within 5 standard deviations: fails by chance with 5.7e-7."""
    assert abs(found.sum() - n * share) < 5 * math.sqrt(n * share * (1 - share))


def check_evenly(found: np.ndarray) -> None:
    """Chi-squared over 18 tokens below its mean + 7 standard deviations: fails below 1e-5."""
    counts = np.array([(found == token).sum() for token in ORDINARY])
    expected = len(found) / len(ORDINARY)
    degrees = len(ORDINARY) - 1
    assert ((counts - expected) ** 2 / expected).sum() < degrees + 7 * math.sqrt(2 * degrees)


def check_masking(mask: Mask) -> None:
    """15 % of the ordinary tokens; 80 % of them hidden, 10 % any token, 10 % as they were.

    Four shares and two times evenly: fails by chance below 3e-5.
    """
    masked = mask(ROWS, np.random.default_rng(0))
    check_places(ROWS, masked)
    before, after, targets = flat(ROWS), flat(masked.tokens), flat(masked.targets)
    is_chosen, is_hidden = targets != IGNORED, after == MASK
    n_chosen = int(is_chosen.sum())
    check_share(is_chosen, int(np.isin(before, ORDINARY).sum()), SHARE)
    check_evenly(targets[is_chosen])
    # What replaces a token is now and then the same one.
    again = 0.1 / len(ORDINARY)
    check_share(is_hidden, n_chosen, 0.8)
    check_share(is_chosen & (after == before), n_chosen, 0.1 + again)
    is_replaced = is_chosen & ~is_hidden & (after != before)
    check_share(is_replaced, n_chosen, 0.1 - again)
    check_evenly(after[is_replaced])


def test_masking_is_berts() -> None:
    check_masking(mask)


def with_tokens(becomes: Callable[[int, int, int], int]) -> Mask:
    """Put a bug in: what a token becomes, by its row's token, its masked one and its target."""

    def wrong(rows: Rows, generator: np.random.Generator) -> Masked:
        tokens, targets = mask(rows, generator)
        triples = [zip(*three, strict=True) for three in zip(rows, tokens, targets, strict=True)]
        return Masked([[becomes(*three) for three in row] for row in triples], targets)

    return wrong


def masks_special_tokens(rows: Rows, generator: np.random.Generator) -> Masked:
    return mask(rows, generator, special_ids=frozenset({PAD}))


def masks_more(rows: Rows, generator: np.random.Generator) -> Masked:
    return mask(rows, generator, share=0.17)


def scores_what_is_left(rows: Rows, generator: np.random.Generator) -> Masked:
    tokens = mask(rows, generator).tokens
    pairs = zip(rows, tokens, strict=True)
    shown = [
        [new if new != old else IGNORED for old, new in zip(*pair, strict=True)] for pair in pairs
    ]
    return Masked(tokens, shown)


def scores_everything(rows: Rows, generator: np.random.Generator) -> Masked:
    return Masked(mask(rows, generator).tokens, rows)


def chooses_the_beginning(rows: Rows, generator: np.random.Generator) -> Masked:
    """The share is right and the places are not: the first tokens of every row."""
    first = [row[:7] for row in rows]
    tokens, targets = mask(first, generator, share=36 * SHARE / 6)
    rest = [row[7:] for row in rows]
    return Masked(
        [begin + end for begin, end in zip(tokens, rest, strict=True)],
        [begin + [IGNORED] * len(end) for begin, end in zip(targets, rest, strict=True)],
    )


@pytest.mark.parametrize(
    "wrong",
    [
        masks_special_tokens,
        masks_more,
        scores_what_is_left,
        scores_everything,
        chooses_the_beginning,
        pytest.param(
            with_tokens(lambda _, new, target: new if target == IGNORED else MASK),
            id="always_the_mask",
        ),
        pytest.param(
            with_tokens(lambda old, new, target: MASK if new == old == target else new),
            id="nothing_stays",
        ),
        pytest.param(
            with_tokens(lambda old, new, _: new if new in (old, MASK) else CLS),
            id="replaced_by_special_tokens",
        ),
        pytest.param(
            with_tokens(lambda old, new, _: new if new in (old, MASK) else min(new, 20)),
            id="replaced_by_some_tokens_only",
        ),
    ],
)
def test_the_check_notices_a_masking_that_is_not_berts(wrong: Mask) -> None:
    with pytest.raises(AssertionError):
        check_masking(wrong)


@hypothesis.settings(deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, VOCAB_SIZE - 1), max_size=9), max_size=6),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32),
)
def test_rows_keep_their_lengths_and_their_special_tokens(
    rows: Rows, share: float, seed: int
) -> None:
    before = [list(row) for row in rows]
    masked = mask(rows, np.random.default_rng(seed), share=share)
    check_places(rows, masked)
    assert rows == before, "the rows given were changed"


@pytest.mark.parametrize("share", [0.03, 0.4, 0.97])
def test_another_share_is_kept_as_well(share: float) -> None:
    """Five standard deviations: fails by chance with 3 × 5.7e-7."""
    targets = flat(mask(ROWS, np.random.default_rng(1), share=share).targets)
    check_share(targets != IGNORED, len(ROWS) * 2 * len(ORDINARY), share)


def test_a_short_row_may_have_nothing_chosen() -> None:
    """Tokens are chosen independently: three shares, fails by chance with 3 × 5.7e-7."""
    targets = mask([[CLS, 7, 8, SEP]] * 9000, np.random.default_rng(2)).targets
    chosen = (np.array(targets) != IGNORED).sum(axis=1)
    for n, share in enumerate([0.85**2, 2 * 0.85 * 0.15, 0.15**2]):
        check_share(chosen == n, 9000, share)


def test_the_masking_is_pure_in_the_generator() -> None:
    first, again, other = (mask(ROWS[:9], np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert first == again
    assert first != other
    generator = np.random.default_rng(3)
    assert mask(ROWS[:9], generator) == first
    assert mask(ROWS[:9], generator) != first, "each epoch hides other tokens"


def test_no_rows_are_masked_to_no_rows() -> None:
    assert mask([], np.random.default_rng(5)) == Masked([], [])
    assert mask([[], [CLS]], np.random.default_rng(5)) == Masked([[], [CLS]], [[], [IGNORED]])


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 15.0, math.nan])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(UserError, match=rf"^share = {share} is not possible: it is the share of"):
        mask(ROWS, np.random.default_rng(6), share=share)


def test_a_line_is_a_row_cut_to_the_block() -> None:
    lines = [[7, 8], [], [7, 8, 9, 10], [12, 13, 14]]
    assert line_rows(lines, block=5, cls=CLS, sep=SEP) == [
        [CLS, 7, 8, SEP],
        [CLS, 7, 8, 9, SEP],
        [CLS, 12, 13, 14, SEP],
    ]


def test_blocks_go_on_over_the_ends_of_lines_and_the_rest_is_dropped() -> None:
    lines = [[7, 8], [], [9, 10, 12, 13, 14], [15]]
    assert block_rows(lines, block=5, cls=CLS, sep=SEP) == [
        [CLS, 7, 8, 9, SEP],
        [CLS, 10, 12, 13, SEP],
    ]
    assert len(block_rows(lines, block=6, cls=CLS, sep=SEP)) == 2, "nothing is left to drop"


@hypothesis.settings(deadline=None)
@given(
    lines=st.lists(st.lists(st.sampled_from(ORDINARY), max_size=9), max_size=9).filter(any),
    block=st.integers(3, 12),
)
def test_blocks_together_are_the_text(lines: Rows, block: int) -> None:
    text = [token for line in lines for token in line]
    if len(text) < block - 2:
        with pytest.raises(UserError, match="the text is too short"):
            block_rows(lines, block=block, cls=CLS, sep=SEP)
        return
    rows = block_rows(lines, block=block, cls=CLS, sep=SEP)
    assert {(len(row), row[0], row[-1]) for row in rows} == {(block, CLS, SEP)}
    inside = [token for row in rows for token in row[1:-1]]
    assert inside == text[: len(inside)]
    assert len(text) - len(inside) < block - 2


def test_a_text_that_does_not_fill_one_block_is_refused() -> None:
    message = (
        r"^the text is too short: its 5 tokens do not fill one block of 8 with \[CLS\] and"
        r" \[SEP\]\. Use at most 7, or one row per line\.$"
    )
    with pytest.raises(UserError, match=message):
        block_rows([[7, 8, 9], [10, 12]], block=8, cls=CLS, sep=SEP)
    assert len(block_rows([[7, 8, 9], [10, 12]], block=7, cls=CLS, sep=SEP)) == 1


@pytest.mark.parametrize("make", [line_rows, block_rows])
def test_rows_of_nothing_are_refused(make: Callable[..., Rows]) -> None:
    with pytest.raises(
        UserError, match=r"^there is nothing to learn from: none of the 2 lines has a tok"
    ):
        make([[], []], block=8, cls=CLS, sep=SEP)
    with pytest.raises(UserError, match=r"^block = 2 is not possible: \[CLS\] and \[SEP\] alone"):
        make([[7]], block=2, cls=CLS, sep=SEP)
