"""BERT's tokenizer: words, then the longest known pieces of each (WordPiece).

    text      The café wasn't unaffable.
    words     the  cafe  wasn  '  t  unaffable  .
    pieces    the  cafe  wasn  '  t  una ##ffa ##ble  .

Wu et al. 2016, arXiv:1609.08144, and Devlin et al. 2019, arXiv:1810.04805, whose released
vocabularies (``vocab.txt``, one token per line) this reads. Words are split as ``BertNormalizer``
and ``BertPreTokenizer`` of the tokenizers library do it:

1. control characters and U+FFFD are dropped, white space separates words;
2. a Chinese character is a word of its own;
3. for a lower-case vocabulary, accents are removed (NFD, without Mn) and every character is made
   lower-case by itself, so that a Σ at the end of a word is σ, not ς;
4. a punctuation mark is a word of its own: those of ASCII, with ``$`` and ``^``, and Unicode's P.

The library has the character classes of Unicode 8 (2015), Python newer ones, so that they disagree
on marks that were added or reclassified since, and on capitals too new for Python. With Python 3.11
these are 559 characters of rare scripts; on all others the two agree.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from attnlab.data.text_files import read_text
from attnlab.data.text_tokenizer import Encoded
from attnlab.errors import UserError

PAD, UNK, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
INSIDE = "##"
"""Starts a piece that is not the first of its word."""
LONGEST_WORD = 100
"""In characters; a longer word is unknown."""
REMEMBERED = 2**18
"""Number of different runs of characters in the cache: some tens of megabytes."""

WHITE = (
    " \t\n\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Without the control characters that Python counts as white space, such as U+001C."""
NORMALIZED_AT_ONCE = 1000
"""Characters: Python puts accents in order in a time that grows with the square of their number."""
_RUN = re.compile(f"[^{WHITE}]+")
_CONTROL = {"Cc", "Cf", "Co", "Cs"}  # not Cn: what is unassigned today may be a letter tomorrow
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),  # the block begins at 0x2B820; the library has it so
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Words and pieces of words, and five special tokens, whose ids are attributes.

    ``pad`` fills a row up, ``unk`` stands for a word without known pieces, ``cls`` begins a row,
    ``sep`` ends each text of a row, and ``mask`` stands for a hidden token.

    A text is only ever text: "[SEP]" in a review becomes ``[``, ``sep`` and ``]``. Hub tokenizers
    turn it into the special token, so that the author of a text could end it and begin a second
    one where the program did not.
    """

    def __init__(
        self, tokens: Sequence[str], *, lowercase: bool = True, source: str = "the vocabulary"
    ) -> None:
        """Take the tokens in the order of their ids; ``source`` is what messages call them."""
        self.id_to_token = tuple(tokens)
        self.lowercase = lowercase
        self._ids = _numbered(self.id_to_token, source)
        self.pad, self.unk, self.cls, self.sep, self.mask = (self._ids[one] for one in SPECIAL)
        self._inside = {
            token.removeprefix(INSIDE): i for token, i in self._ids.items() if token[:2] == INSIDE
        }
        self._longest = max(map(len, self._ids))
        self._pieces = lru_cache(REMEMBERED)(self._pieces_of_run)

    @classmethod
    def read(cls, path: Path, *, lowercase: bool = True) -> "WordPiece":
        """Read a ``vocab.txt``; ``lowercase`` must be what the vocabulary was made with."""
        lines = read_text(path).removesuffix("\n").split("\n")
        tokens = [line.rstrip(WHITE) for line in lines]
        return cls(tokens, lowercase=lowercase, source=str(path))

    def __len__(self) -> int:
        """Count the tokens, the special ones too."""
        return len(self.id_to_token)

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the five special tokens."""
        return frozenset((self.pad, self.unk, self.cls, self.sep, self.mask))

    @property
    def framing_ids(self) -> frozenset[int]:
        """The ids of [PAD], [CLS] and [SEP], which come from no text."""
        return frozenset((self.pad, self.cls, self.sep))

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return the piece of text that each token stands for."""
        return [self.id_to_token[token] for token in tokens]

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens, without [CLS] and [SEP]."""
        return list(chain.from_iterable(map(self._pieces, _RUN.findall(text))))

    def row(self, text: str, pair: str | None = None, *, max_len: int) -> Encoded:
        """Return a text, or two, as BERT reads them, cut to ``max_len`` tokens."""
        second = None if pair is None else self.encode(pair)
        return self.pair(self.encode(text), second, max_len=max_len)

    def pair(
        self, first: Sequence[int], second: Sequence[int] | None = None, *, max_len: int
    ) -> Encoded:
        """Return ``[CLS] first [SEP]`` or ``[CLS] first [SEP] second [SEP]``, cut to ``max_len``.

        Texts that are too long are cut at the end, "longest first" as in the tokenizers library: a
        text that needs at most half of the room stays whole and the other gets the rest; otherwise
        each gets half, and the longer one the odd token (the second if they are equally long).
        """
        n_special = 2 if second is None else 3
        if max_len < n_special:
            raise UserError(
                f"max_len = {max_len} is not possible: [CLS] and [SEP] alone are {n_special} tokens"
                f" here. Use {n_special} or more."
            )
        room = max_len - n_special
        if second is None:
            tokens = [self.cls, *first[:room], self.sep]
            return Encoded(tokens, [0] * len(tokens))
        of_first, of_second = _longest_first(len(first), len(second), room)
        left = [self.cls, *first[:of_first], self.sep]
        right = [*second[:of_second], self.sep]
        return Encoded(left + right, [0] * len(left) + [1] * len(right))

    def _pieces_of_run(self, run: str) -> tuple[int, ...]:
        """Return the pieces of characters without white space between them."""
        text = run.translate(_CLEAN)
        text = _decomposed(text).translate(_FOLDED) if self.lowercase else text.translate(_APART)
        return tuple(chain.from_iterable(map(self._pieces_of_word, text.split())))

    def _pieces_of_word(self, word: str) -> list[int]:
        """Take the longest known piece again and again; [UNK] if none fits."""
        if len(word) > LONGEST_WORD:
            return [self.unk]
        pieces: list[int] = []
        begin, known = 0, self._ids
        while begin < len(word):
            for end in range(min(len(word), begin + self._longest), begin, -1):
                if (piece := known.get(word[begin:end])) is not None:
                    break
            else:
                return [self.unk]
            pieces.append(piece)
            begin, known = end, self._inside
        return pieces


def _decomposed(text: str) -> str:
    """Take accents off their letters (NFD)."""
    parts = range(0, len(text), NORMALIZED_AT_ONCE)
    return "".join(
        unicodedata.normalize("NFD", text[begin : begin + NORMALIZED_AT_ONCE]) for begin in parts
    )


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens each of two texts keeps."""
    half, odd = divmod(room, 2)
    if first + second <= room:
        return first, second
    if min(first, second) <= half:
        return (first, room - first) if first <= second else (room - second, second)
    return (half, half + odd) if first <= second else (half + odd, half)


def _numbered(tokens: Sequence[str], source: str) -> dict[str, int]:
    """Give each token the number of its line, counted from 0."""
    ids: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if not token or "\n" in token or token[-1] in WHITE:
            raise UserError(
                f"{source}, line {number + 1}: {token!r} is not a token. Write one token on each"
                " line, without white space after it."
            )
        if token in ids:
            raise UserError(
                f"{source}, line {number + 1}: {token!r} is already in line {ids[token] + 1};"
                " a token has one id. Remove one of them."
            )
        ids[token] = number
    missing = [token for token in SPECIAL if token not in ids]
    if missing:
        raise UserError(
            f"{source} has no {' '.join(missing)} in its {len(tokens)} lines; a BERT vocabulary"
            f" has {' '.join(SPECIAL)}."
        )
    return ids


class _Table(dict[int, str]):
    """A table for ``str.translate`` that is filled in when a character is first met."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        self[code] = becomes = self._rule(chr(code))
        return becomes


def _clean(character: str) -> str:
    """Drop control characters; put spaces around a Chinese character."""
    if character == "\ufffd" or unicodedata.category(character) in _CONTROL:
        return ""
    is_ideograph = any(low <= ord(character) <= high for low, high in _IDEOGRAPHS)
    return f" {character} " if is_ideograph else character


def _apart(character: str) -> str:
    """Put spaces around a punctuation mark."""
    is_mark = character in string.punctuation or unicodedata.category(character)[0] == "P"
    return f" {character} " if is_mark else character


def _folded(character: str) -> str:
    """Drop an accent, make a letter lower-case, put spaces around a punctuation mark."""
    return "" if unicodedata.category(character) == "Mn" else _apart(character).lower()


_CLEAN, _APART, _FOLDED = _Table(_clean), _Table(_apart), _Table(_folded)
