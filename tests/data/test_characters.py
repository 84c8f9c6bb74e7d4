"""One token a character, there and back."""

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.characters import CharacterVocabulary
from attnlab.data.vocabulary import MARK, PAD, Vocabulary, load_vocabulary
from attnlab.errors import DamagedFileError, UserError

plain = st.text(st.characters(codec="utf-8", exclude_characters=PAD + MARK))


@hypothesis.settings(deadline=None)
@given(st.lists(plain))
def test_text_comes_back_from_its_tokens(texts: list[str]) -> None:
    vocabulary = CharacterVocabulary.of(texts)
    for text in texts:
        tokens = vocabulary.encode(text)
        assert len(tokens) == len(text)
        assert vocabulary.decode(tokens) == text
        assert 0 not in tokens
        assert vocabulary.mark not in tokens


def test_the_vocabulary_is_pad_mark_and_each_character_once_in_order() -> None:
    vocabulary = CharacterVocabulary.of(["cab", "bad"])
    assert vocabulary.characters == [PAD, MARK, "a", "b", "c", "d"]
    assert len(vocabulary) == 6
    assert vocabulary.mark == 1
    assert vocabulary.encode("dab") == [5, 2, 3]
    assert vocabulary.decode([5, vocabulary.mark, 0]) == f"d{MARK}{PAD}"


def test_an_unknown_character_is_named_with_its_text() -> None:
    with pytest.raises(
        UserError,
        match=r"^the character 'x' of 'axe' is not in the vocabulary: it does not stand in",
    ):
        CharacterVocabulary.of(["ae"]).encode("axe")


@pytest.mark.parametrize("reserved", [PAD, MARK], ids=["pad", "mark"])
def test_a_reserved_character_in_the_text_is_refused(reserved: str) -> None:
    with pytest.raises(
        UserError, match=rf"^the text holds the reserved character '{reserved}'; remove it\.$"
    ):
        CharacterVocabulary.of(["fine", f"a{reserved}b"])


def test_a_vocabulary_comes_back_from_json() -> None:
    vocabulary = CharacterVocabulary.of(["Señor 🦊", "b\u2028"])
    assert isinstance(vocabulary, Vocabulary)
    again = load_vocabulary(json.loads(json.dumps(vocabulary.to_dict())))
    assert isinstance(again, CharacterVocabulary)
    assert again.characters == vocabulary.characters
    assert again.encode("S🦊") == vocabulary.encode("S🦊")


@pytest.mark.parametrize(
    ("saved", "told"), [({}, "nothing"), ({"words": ["a"]}, "words"), ({"characters": 3}, "char")]
)
def test_a_vocabulary_of_no_known_kind_is_refused(saved: dict[str, Any], told: str) -> None:
    with pytest.raises(
        DamagedFileError, match=rf"^a vocabulary holds characters or byte_pairs, not {told}"
    ):
        load_vocabulary(saved)
