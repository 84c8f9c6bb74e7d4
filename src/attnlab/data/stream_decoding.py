"""Tokens that come one by one as text, each decoded once or a few times, however many there are."""

from collections.abc import Sequence

from attnlab.data.tokenizer import Tokenizer

HALF_A_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""What bytes decode to that are not a whole character yet."""
CONTEXT = 4
"""Tokens to decode the new ones after: a first word would lose its space."""


class StreamDecoder:
    """The text after a prompt, in pieces of whole characters."""

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        assert prompt, "the text begins after a token"
        self._tokenizer, self._before = tokenizer, list(prompt[-CONTEXT:])
        self._pending: list[int] = []

    def take(self, token: int) -> str:
        """Return what a token adds; nothing while a character is not whole."""
        self._pending.append(token)
        text = self._decoded()
        if text.endswith(HALF_A_CHARACTER):
            return ""
        self._before = [*self._before, *self._pending][-CONTEXT:]
        self._pending = []
        return text

    def rest(self) -> str:
        """Return what is left at the end, half a character or nothing."""
        return self._decoded()

    def _decoded(self) -> str:
        decode = self._tokenizer.decode
        return decode([*self._before, *self._pending])[len(decode(self._before)) :]
