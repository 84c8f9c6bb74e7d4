"""What a tokenizer does, and how it is saved next to the weights that need it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attnlab.errors import DamagedFileError, UserError

PAD, SENTINEL = "□", "⁇"
"""Reserved characters: one fills a row up, the other stands around an answer."""


def refuse_reserved(text: str, what: str) -> None:
    """Refuse a text with a reserved character; ``what`` names the text and its place."""
    for reserved in (PAD, SENTINEL):
        if reserved in text:
            raise UserError(f"{what} contains the reserved character {reserved!r}. Remove it.")


@runtime_checkable
class Tokenizer(Protocol):
    """Text as tokens. Token 0 is PAD."""

    def __len__(self) -> int:
        """Count the tokens."""

    @property
    def sentinel(self) -> int:
        """The token that ends a question and an answer."""

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens back into text."""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load_tokenizer`` makes it from again, ready for JSON."""


def load_tokenizer(saved: Mapping[str, Any]) -> Tokenizer:
    """Make a tokenizer again from its ``to_dict``."""
    match saved:
        case {"characters": list(characters)}:
            from attnlab.data.characters import CharacterTokenizer

            return CharacterTokenizer(characters)
        case {"byte_pairs": str(tokenizer)}:
            from attnlab.data.byte_pairs import BytePairTokenizer

            return BytePairTokenizer(tokenizer)
    raise DamagedFileError(
        f"a tokenizer holds characters or byte_pairs, not {', '.join(saved) or 'nothing'}."
    )
