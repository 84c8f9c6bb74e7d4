"""Tokens that come one by one give the text that they give together."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.byte_pairs import BytePairTokenizer
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.stream_decoding import HALF_A_CHARACTER, StreamDecoder
from attnlab.data.tokenizer import Tokenizer

TEXT = "the waves came up the shore, naïve and café 日本 🌊"
TOKENIZERS: dict[str, Tokenizer] = {
    "entries": BytePairTokenizer.of([TEXT], size=280),
    "running text": BytePairTokenizer.of([TEXT], size=280, adds_space=False),
    "characters": CharacterTokenizer.of([TEXT]),
}


def streamed(tokenizer: Tokenizer, prompt: Sequence[int], new: Sequence[int]) -> list[str]:
    decoder = StreamDecoder(tokenizer, prompt)
    return [*map(decoder.take, new), decoder.rest()]


@pytest.mark.parametrize("name", TOKENIZERS)
@given(data=st.data())
def test_pieces_together_are_what_the_tokens_are_together(name: str, data: st.DataObject) -> None:
    tokenizer = TOKENIZERS[name]
    prompt = tokenizer.encode(data.draw(st.sampled_from(["the", "é", "the waves came up", "🌊"])))
    new = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=30))
    whole = tokenizer.decode([*prompt, *new])[len(tokenizer.decode(prompt)) :]
    assert "".join(streamed(tokenizer, prompt, new)) == whole


@pytest.mark.parametrize("name", TOKENIZERS)
def test_no_piece_but_the_last_has_half_a_character(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    pieces = streamed(tokenizer, tokenizer.encode("the"), tokenizer.encode(TEXT))
    assert not any(HALF_A_CHARACTER in piece for piece in pieces)


def test_a_long_text_is_not_decoded_again_for_each_token(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["running text"]
    decoded: list[int] = []
    decode = tokenizer.decode

    def counting(tokens: Sequence[int]) -> str:
        decoded.append(len(tokens))
        return decode(tokens)

    monkeypatch.setattr(tokenizer, "decode", counting)
    tokens = tokenizer.encode(TEXT * 20)
    streamed(tokenizer, tokens[:1], tokens)
    assert sum(decoded) < 20 * len(tokens)
