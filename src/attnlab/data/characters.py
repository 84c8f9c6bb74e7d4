"""One token a character."""

from collections.abc import Iterable, Sequence

from attnlab.errors import UserError

PAD, MARK = "□", "⁇"


class CharacterVocabulary:
    """The characters of a text, after PAD and the MARK that stands round an answer."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = sorted({character for text in texts for character in text})
        for reserved in (PAD, MARK):
            if reserved in found:
                raise UserError(f"the text holds the reserved character {reserved!r}; remove it.")
        self.characters = [PAD, MARK, *found]
        self._index = {character: i for i, character in enumerate(self.characters)}

    def __len__(self) -> int:
        """Count the characters."""
        return len(self.characters)

    @property
    def mark(self) -> int:
        """The token that ends a question and an answer."""
        return self._index[MARK]

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens."""
        try:
            return [self._index[character] for character in text]
        except KeyError as error:
            raise UserError(
                f"the character {error.args[0]!r} of {text!r} is not in the vocabulary."
            ) from None

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens back into text."""
        return "".join(self.characters[token] for token in tokens)
