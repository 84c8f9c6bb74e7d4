"""What a tokenizer does for an encoder: one or two texts become a row of tokens."""

from collections.abc import Sequence, Set
from typing import NamedTuple, Protocol, runtime_checkable


class Encoded(NamedTuple):
    """One or two texts as an encoder reads them."""

    tokens: list[int]
    types: list[int]
    """Which of the two texts a token belongs to: 0 or 1; 0 for all if a model has no types."""


@runtime_checkable
class TextTokenizer(Protocol):
    """Texts as rows of tokens, special tokens included."""

    def __len__(self) -> int:
        """Count the tokens."""

    def row(self, text: str, pair: str | None = None, *, max_len: int) -> Encoded:
        """Return a text, or two, cut to ``max_len`` tokens; special tokens in it are only text."""

    @property
    def framing_ids(self) -> Set[int]:
        """Tokens that a row has besides those of its texts, such as [CLS] and [SEP]."""

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return the piece of text that each token stands for, as the vocabulary spells it."""


@runtime_checkable
class MaskingTokenizer(TextTokenizer, Protocol):
    """One that unlabelled text can be masked with."""

    @property
    def mask(self) -> int:
        """The token that stands for a hidden one."""

    @property
    def cls(self) -> int:
        """The token that begins a row."""

    @property
    def sep(self) -> int:
        """The token that ends a text."""

    @property
    def special_ids(self) -> Set[int]:
        """Tokens that are never hidden."""

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens, without special ones."""
