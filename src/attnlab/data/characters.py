"""A tokenizer with one token per character."""

from collections.abc import Iterable, Sequence
from typing import Any

from attnlab.data.header import short
from attnlab.data.tokenizer import PAD, SENTINEL, refuse_reserved
from attnlab.errors import UserError


class CharacterTokenizer:
    """The characters of a text, after PAD and the SENTINEL that stands around an answer."""

    def __init__(self, characters: Sequence[str]) -> None:
        assert list(characters[:2]) == [PAD, SENTINEL], "the reserved characters come first"
        self.characters = characters
        self._index = {character: i for i, character in enumerate(characters)}

    @classmethod
    def of(cls, texts: Iterable[str]) -> "CharacterTokenizer":
        """Collect the characters of some texts, which must have none of the reserved ones."""
        found = sorted({character for text in texts for character in text})
        refuse_reserved("".join(found), "the text")
        return cls([PAD, SENTINEL, *found])

    def __len__(self) -> int:
        """Count the characters."""
        return len(self.characters)

    @property
    def sentinel(self) -> int:
        """The token that ends a question and an answer."""
        return self._index[SENTINEL]

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens."""
        try:
            return [self._index[character] for character in text]
        except KeyError as error:
            raise UserError(
                f"the character {error.args[0]!r} of {short(text)} is not in the tokenizer: it does"
                " not occur in the text that the model was trained on."
            ) from None

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens back into text."""
        return "".join(self.characters[token] for token in tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return the characters in the order of their tokens."""
        return {"characters": list(self.characters)}
