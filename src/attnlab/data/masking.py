"""Masked language modelling (Devlin et al. 2019, arXiv:1810.04805, section 3.1).

    row       [CLS]  my  dog  is  hairy  [SEP]
    tokens    [CLS]  my  dog  is [MASK]  [SEP]
    targets                      hairy

Of the chosen tokens, 80 % are replaced by [MASK], 10 % by another token, and 10 % stay as they are:
the model cannot tell which words of its input to trust.
"""

from collections.abc import Collection, Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np

from attnlab.data.batches import IGNORED
from attnlab.errors import UserError

HIDDEN, REPLACED = 0.8, 0.1
"""Of the chosen tokens; the others stay as they are."""
N_ENDS = 2
"""[CLS] and [SEP]."""


class Masked(NamedTuple):
    """Rows with some tokens hidden, and the tokens to predict there."""

    tokens: list[list[int]]
    targets: list[list[int]]
    """The original token where one was chosen, IGNORED elsewhere."""


def mask_tokens(
    tokens: Sequence[Sequence[int]],
    generator: np.random.Generator,
    *,
    share: float = 0.15,
    mask_id: int,
    vocab_size: int,
    special_ids: Collection[int],
) -> Masked:
    """Choose each token with probability ``share``, special ones never, and hide most of them.

    Tokens are chosen one by one: a short row may have none that is chosen, and then no target.
    """
    if not 0 < share < 1:
        raise UserError(
            f"share = {share} is not possible: it is the share of tokens to hide, more than 0 and"
            " less than 1; BERT uses 0.15."
        )
    is_ordinary = np.ones(vocab_size, dtype=bool)
    is_ordinary[list(special_ids)] = False
    flat = np.fromiter(chain.from_iterable(tokens), np.int64)
    # One draw says whether a token is chosen and, by where it falls below share, what it becomes.
    draw = generator.random(len(flat)) / share
    draw[~is_ordinary[flat]] = 1
    is_replaced = (draw >= HIDDEN) & (draw < HIDDEN + REPLACED)
    masked = np.where(draw < HIDDEN, mask_id, flat)
    masked[is_replaced] = generator.choice(np.flatnonzero(is_ordinary), is_replaced.sum())
    targets = np.where(draw < 1, flat, IGNORED)
    ends = [0, *accumulate(map(len, tokens))]
    return Masked(_rows(masked.tolist(), ends), _rows(targets.tolist(), ends))


def line_rows(lines: Sequence[Sequence[int]], *, block: int, cls: int, sep: int) -> list[list[int]]:
    """Put [CLS] and [SEP] around each line, cut to ``block`` with them; skip empty lines.

    Each row is a text of its own; the end of a long line is not read.
    """
    room = _room(lines, block)
    return [[cls, *line[:room], sep] for line in lines if line]


def block_rows(
    lines: Sequence[Sequence[int]], *, block: int, cls: int, sep: int
) -> list[list[int]]:
    """Join the lines and cut them into rows of exactly ``block`` tokens, with [CLS] and [SEP].

    All of the text is read, and no row is padded; what is left at the end is dropped.
    """
    room = _room(lines, block)
    text = list(chain.from_iterable(lines))
    ends = range(0, len(text) + 1, room)
    if len(ends) == 1:
        raise UserError(
            f"the text is too short: its {len(text)} tokens do not fill one block of {block} with"
            f" [CLS] and [SEP]. Use at most {len(text) + N_ENDS}, or one row per line."
        )
    return [[cls, *row, sep] for row in _rows(text, ends)]


def _rows(flat: list[int], ends: Sequence[int]) -> list[list[int]]:
    """Cut a list where each row ends and the next begins."""
    return [flat[begin:end] for begin, end in pairwise(ends)]


def _room(lines: Sequence[Sequence[int]], block: int) -> int:
    """Return how many tokens of text fit into a row, if there are any."""
    if block <= N_ENDS:
        raise UserError(
            f"block = {block} is not possible: [CLS] and [SEP] alone are {N_ENDS} tokens. Use"
            f" {N_ENDS + 1} or more."
        )
    if not any(lines):
        raise UserError(
            f"there is nothing to learn from: none of the {len(lines)} lines has a token."
        )
    return block - N_ENDS
