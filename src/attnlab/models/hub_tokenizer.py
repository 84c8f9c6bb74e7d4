"""The tokenizer of a model of transformers, called as ours is; and whether it is that model's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.data.text_tokenizer import Encoded
from attnlab.errors import UserError

IDS = ("pad_token_id", "bos_token_id", "eos_token_id")
"""Tokens that config.json and the tokenizer both name."""


class HubTokenizer:
    """Implements ``data.text_tokenizer.TextTokenizer``."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.has_types = "token_type_ids" in tokenizer.model_input_names

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self._tokenizer)

    @property
    def pad(self) -> int:
        """The token that fills a row up."""
        return int(self._tokenizer.pad_token_id)

    @property
    def framing_ids(self) -> frozenset[int]:
        """The ids of all special tokens but the unknown one, which stands for text."""
        return frozenset(self._tokenizer.all_special_ids) - {self._tokenizer.unk_token_id}

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return the piece of text that each token stands for, as the vocabulary spells it."""
        return list(self._tokenizer.convert_ids_to_tokens(list(tokens)))

    def row(self, text: str, pair: str | None = None, *, max_len: int) -> Encoded:
        """Return a text, or two, cut to ``max_len`` tokens; special tokens in it are only text."""
        n_special = self._tokenizer.num_special_tokens_to_add(pair=pair is not None)
        if max_len < n_special:
            raise UserError(
                f"max_len = {max_len} is not possible: special tokens alone are {n_special} here."
                f" Use {n_special} or more."
            )
        read = self._tokenizer(
            self._only_text(text),
            None if pair is None else self._only_text(pair),
            truncation="longest_first",
            max_length=max_len,
            return_token_type_ids=True,
        )
        return Encoded(list(read["input_ids"]), list(read["token_type_ids"]))

    def _only_text(self, text: str) -> str:
        """Break up special tokens that a text contains: it must not end where it says so."""
        for special in self._tokenizer.all_special_tokens:
            text = text.replace(special, f"{special[0]} {special[1:]}")
        return text


def read_hub_tokenizer(folder: Path, config: Any) -> HubTokenizer:
    """Read the tokenizer beside a model; one with other tokens than the model's is refused."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, use_fast=True)
    except Exception as error:  # whatever may be wrong with its files
        reason = str(error).partition("\n")[0]
        raise UserError(
            f"{folder} has no tokenizer that transformers can read: {reason} Put the model's own"
            " tokenizer.json there."
        ) from None
    if len(tokenizer) > config.vocab_size:
        raise UserError(
            f"the tokenizer of {folder} has {len(tokenizer):,} tokens, but the embedding table has"
            f" {config.vocab_size:,} rows: they do not belong together. Put the model's own"
            " tokenizer.json there."
        )
    for name in IDS:
        ours, there = getattr(tokenizer, name, None), getattr(config, name, None)
        if ours is not None and there is not None and ours != there:
            raise UserError(
                f"{folder}: config.json has {name} = {there}, the tokenizer {ours}: they do not"
                " belong together. Put the model's own tokenizer.json there."
            )
    if tokenizer.pad_token_id is None:
        raise UserError(f"{folder}: the tokenizer has no padding token, which batches need.")
    return HubTokenizer(tokenizer)
