"""The end of a running text, held out to measure perplexity on."""

from collections.abc import Sequence

from attnlab.data.batches import TokenRow
from attnlab.data.tokenizer import Tokenizer

LINE_END = "\n"
WIDEST_CHARACTER = 4
"""In bytes, each of which may be a token."""


def hold_out_end(text: str, share: float) -> tuple[str, str]:
    """Split off about a share of a text at its end, where a line begins if there are lines.

    The two parts make the text again; the line that the cut falls into is still learned from.
    """
    cut = round(len(text) * (1 - share))
    line_end = text.find(LINE_END, cut)
    if 0 <= line_end < len(text) - 1 and share:
        cut = line_end + 1
    return text[:cut], text[cut:]


def held_out_rows(text: str, tokenizer: Tokenizer, *, block: int) -> list[TokenRow]:
    """Cut a held-out text into windows that predict each of its tokens once.

    A window begins with the last token of the one before it, the first with the end of a line: what
    a model knows there is up to ``block`` tokens, and on average half of that.
    """
    tokens = [*tokenizer.encode(LINE_END)[-1:], *tokenizer.encode(text)]
    return [
        TokenRow(f"held-out window {number}", tokens[start : start + block + 1])
        for number, start in enumerate(range(0, len(tokens) - 1, block), 1)
    ]


def characters_of_rows(rows: Sequence[TokenRow], tokenizer: Tokenizer) -> list[int]:
    """Count the characters that begin in what each window predicts; together, those of the text.

    A character may be several tokens, and a window may end within it: it counts where it begins.
    """
    counts, before = [], list[int]()
    for row in rows:
        given = [*before, row.tokens[0]][-WIDEST_CHARACTER:]
        read = [*given, *row.tokens[1:]]
        counts.append(len(tokenizer.decode(read)) - len(tokenizer.decode(given)))
        before = read[:-1]
    return counts
