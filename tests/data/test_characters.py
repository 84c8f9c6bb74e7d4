"""One token a character, there and back."""

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.characters import MARK, PAD, CharacterVocabulary
from attnlab.errors import UserError

plain = st.text(st.characters(codec="utf-8", exclude_characters=PAD + MARK))


@hypothesis.settings(deadline=None)
@given(st.lists(plain))
def test_text_comes_back_from_its_tokens(texts: list[str]) -> None:
    vocabulary = CharacterVocabulary(texts)
    for text in texts:
        tokens = vocabulary.encode(text)
        assert len(tokens) == len(text)
        assert vocabulary.decode(tokens) == text
        assert 0 not in tokens
        assert vocabulary.mark not in tokens


def test_the_vocabulary_is_pad_mark_and_each_character_once_in_order() -> None:
    vocabulary = CharacterVocabulary(["cab", "bad"])
    assert vocabulary.characters == [PAD, MARK, "a", "b", "c", "d"]
    assert len(vocabulary) == 6
    assert vocabulary.mark == 1
    assert vocabulary.encode("dab") == [5, 2, 3]
    assert vocabulary.decode([5, vocabulary.mark, 0]) == f"d{MARK}{PAD}"


def test_an_unknown_character_is_named_with_its_text() -> None:
    with pytest.raises(UserError, match=r"^the character 'x' of 'axe' is not in the vocabulary\.$"):
        CharacterVocabulary(["ae"]).encode("axe")


@pytest.mark.parametrize("reserved", [PAD, MARK], ids=["pad", "mark"])
def test_a_reserved_character_in_the_text_is_refused(reserved: str) -> None:
    with pytest.raises(
        UserError, match=rf"^the text holds the reserved character '{reserved}'; remove it\.$"
    ):
        CharacterVocabulary(["fine", f"a{reserved}b"])
