"""One token a character, there and back."""

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.characters import CharacterTokenizer
from attnlab.data.tokenizer import PAD, SENTINEL, Tokenizer, load_tokenizer
from attnlab.errors import DamagedFileError, UserError

plain = st.text(st.characters(codec="utf-8", exclude_characters=PAD + SENTINEL))


@hypothesis.settings(deadline=None)
@given(st.lists(plain))
def test_text_comes_back_from_its_tokens(texts: list[str]) -> None:
    tokenizer = CharacterTokenizer.of(texts)
    for text in texts:
        tokens = tokenizer.encode(text)
        assert len(tokens) == len(text)
        assert tokenizer.decode(tokens) == text
        assert 0 not in tokens
        assert tokenizer.sentinel not in tokens


def test_the_vocabulary_is_pad_mark_and_each_character_once_in_order() -> None:
    tokenizer = CharacterTokenizer.of(["cab", "bad"])
    assert tokenizer.characters == [PAD, SENTINEL, "a", "b", "c", "d"]
    assert len(tokenizer) == 6
    assert tokenizer.sentinel == 1
    assert tokenizer.encode("dab") == [5, 2, 3]
    assert tokenizer.decode([5, tokenizer.sentinel, 0]) == f"d{SENTINEL}{PAD}"


def test_an_unknown_character_is_named_with_its_text() -> None:
    with pytest.raises(
        UserError,
        match=r"^the character 'x' of 'axe' is not in the tokenizer: it does not occur in",
    ):
        CharacterTokenizer.of(["ae"]).encode("axe")


@pytest.mark.parametrize("reserved", [PAD, SENTINEL], ids=["pad", "mark"])
def test_a_reserved_character_in_the_text_is_refused(reserved: str) -> None:
    with pytest.raises(
        UserError, match=rf"^the text contains the reserved character '{reserved}'\. Remove it\.$"
    ):
        CharacterTokenizer.of(["fine", f"a{reserved}b"])


def test_a_vocabulary_comes_back_from_json() -> None:
    tokenizer = CharacterTokenizer.of(["Señor 🦊", "b\u2028"])
    assert isinstance(tokenizer, Tokenizer)
    again = load_tokenizer(json.loads(json.dumps(tokenizer.to_dict())))
    assert isinstance(again, CharacterTokenizer)
    assert again.characters == tokenizer.characters
    assert again.encode("S🦊") == tokenizer.encode("S🦊")


@pytest.mark.parametrize(
    ("saved", "told"), [({}, "nothing"), ({"words": ["a"]}, "words"), ({"characters": 3}, "char")]
)
def test_a_vocabulary_of_no_known_kind_is_refused(saved: dict[str, Any], told: str) -> None:
    with pytest.raises(
        DamagedFileError, match=rf"^a tokenizer holds characters or byte_pairs, not {told}"
    ):
        load_tokenizer(saved)
