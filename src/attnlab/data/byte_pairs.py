"""Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909) over bytes, as in GPT-2.

A word is encoded with the space before it, at the beginning of a text as well, so that a name has
the same tokens wherever it stands. In running text, where a line may begin with a word, nothing is
put before it. Every text can be encoded, since every byte is a token.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from attnlab.data.tokenizer import PAD, SENTINEL
from attnlab.errors import DamagedFileError, UserError

SMALLEST = 258
"""The 256 bytes and the two reserved tokens."""
LARGEST = 2**20
"""Several times the largest vocabularies in use; the library makes room for all of it at once."""
TOO_LONG = re.compile(r"\S{1000}")
"""Part of a word that is none: the library's time grows with the square of a word's length."""


class BytePairTokenizer:
    """Frequent pieces of words."""

    def __init__(self, tokenizer: str) -> None:
        """Take a tokenizer as the library writes it."""
        try:
            self._tokenizer = Tokenizer.from_str(tokenizer)
        except Exception as error:  # the library raises nothing narrower
            raise DamagedFileError(f"the tokenizer cannot be read: {error}") from None
        self._adds_space = bool(getattr(self._tokenizer.pre_tokenizer, "add_prefix_space", True))

    @classmethod
    def of(cls, texts: Iterable[str], *, size: int, adds_space: bool = True) -> "BytePairTokenizer":
        """Learn the ``size`` most useful pieces of some texts; may add a space before each."""
        if not SMALLEST <= size <= LARGEST:
            raise UserError(
                f"a tokenizer of {size} is not possible: it has at least {SMALLEST} tokens and at"
                f" most {LARGEST}."
            )
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=adds_space)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=[PAD, SENTINEL],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        words = (TOO_LONG.sub(r"\g<0> ", text) for text in texts)
        tokenizer.train_from_iterator(words, trainer)
        return cls(tokenizer.to_str())

    def __len__(self) -> int:
        """Count the pieces."""
        return int(self._tokenizer.get_vocab_size())

    @property
    def sentinel(self) -> int:
        """The token that ends a question and an answer."""
        token = self._tokenizer.token_to_id(SENTINEL)
        assert token is not None
        return token

    def encode(self, text: str) -> list[int]:
        """Turn text into tokens."""
        return list(self._tokenizer.encode(text).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens back into text, without the space that the first word was given."""
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=False)
        return text.removeprefix(" ") if self._adds_space else text

    def to_dict(self) -> dict[str, Any]:
        """Return the tokenizer as the library writes it."""
        return {"byte_pairs": self._tokenizer.to_str()}
