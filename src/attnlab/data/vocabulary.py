"""What turns text into tokens and back, and how it is kept beside the weights that need it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attnlab.errors import DamagedFileError

PAD, MARK = "□", "⁇"
"""Reserved characters: what fills a row up, and what stands round an answer."""


@runtime_checkable
class Vocabulary(Protocol):
    """Text as tokens. Token 0 is PAD."""

    def __len__(self) -> int:
        """Count the tokens."""

    @property
    def mark(self) -> int:
        """The token that ends a question and an answer."""

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens back into text."""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load_vocabulary`` makes it from again, ready for JSON."""


def load_vocabulary(saved: Mapping[str, Any]) -> Vocabulary:
    """Make a vocabulary again from its ``to_dict``."""
    match saved:
        case {"characters": list(characters)}:
            from attnlab.data.characters import CharacterVocabulary

            return CharacterVocabulary(characters)
        case {"byte_pairs": str(tokenizer)}:
            from attnlab.data.byte_pairs import BytePairVocabulary

            return BytePairVocabulary(tokenizer)
    raise DamagedFileError(
        f"a vocabulary holds characters or byte_pairs, not {', '.join(saved) or 'nothing'}."
    )
