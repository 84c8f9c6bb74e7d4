"""Byte pairs: any text there and back, names alike wherever they stand, and what is refused."""

import json

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.byte_pairs import SMALLEST, BytePairVocabulary
from attnlab.data.vocabulary import MARK, PAD, Vocabulary, load_vocabulary
from attnlab.errors import DamagedFileError, UserError

TEXTS = [
    "Khatchig Mouradian. Khatchig Mouradian was born in Glasgow and went to Glasgow School of Art.",
    "Ada Lovelace. Born in London, Lovelace lived in London and in Glasgow.",
] * 3
SIZE = 321
LEARNED = BytePairVocabulary.of(TEXTS, size=SIZE)

plain = st.text(st.characters(codec="utf-8", exclude_characters=PAD + MARK)).filter(
    lambda text: not text.startswith(" ")  # the first word is given a space, or has it already
)


@hypothesis.settings(deadline=None)
@given(plain)
@hypothesis.example("🦊 née Łukasz\n\t— 文字  two spaces ")
def test_any_text_comes_back_from_its_tokens(text: str) -> None:
    tokens = LEARNED.encode(text)
    assert LEARNED.decode(tokens) == text
    assert all(0 < token < len(LEARNED) for token in tokens)
    assert LEARNED.mark not in tokens


def test_the_vocabulary_has_the_size_asked_for_and_pad_is_its_first_token() -> None:
    assert isinstance(LEARNED, Vocabulary)
    assert len(LEARNED) == SIZE
    assert LEARNED.encode(PAD) == [0]
    assert LEARNED.encode(MARK) == [LEARNED.mark] == [1]
    assert LEARNED.decode([*LEARNED.encode("Oslo"), LEARNED.mark]) == f"Oslo{MARK}"


@pytest.mark.parametrize("name", ["Glasgow", "Khatchig Mouradian", "Ada", "Żywiec", "Glasgowian"])
def test_a_name_has_the_same_tokens_at_the_start_and_after_a_space(name: str) -> None:
    alone = LEARNED.encode(name)
    assert LEARNED.encode(f"in {name}") == [*LEARNED.encode("in"), *alone]
    assert LEARNED.encode(f"{name} in") == [*alone, *LEARNED.encode("in")]


def test_frequent_words_are_one_token_and_bytes_the_last_resort() -> None:
    assert len(LEARNED.encode("Glasgow")) == 1
    assert len(LEARNED.encode("🦊")) == 1 + len("🦊".encode())


def test_no_more_pieces_are_learned_than_there_are() -> None:
    vocabulary = BytePairVocabulary.of(["ab ab"], size=400)
    assert SMALLEST < len(vocabulary) < 270
    assert vocabulary.decode(vocabulary.encode("ba")) == "ba"


def test_the_same_texts_give_the_same_pieces() -> None:
    assert BytePairVocabulary.of(TEXTS, size=SIZE).to_dict() == LEARNED.to_dict()


def test_a_vocabulary_comes_back_from_json() -> None:
    again = load_vocabulary(json.loads(json.dumps(LEARNED.to_dict())))
    assert isinstance(again, BytePairVocabulary)
    assert (len(again), again.mark) == (len(LEARNED), LEARNED.mark)
    assert again.encode(TEXTS[0]) == LEARNED.encode(TEXTS[0])
    assert again.to_dict() == LEARNED.to_dict()


@pytest.mark.parametrize("size", [0, SMALLEST - 1])
def test_a_vocabulary_that_is_too_small_for_the_bytes_is_refused(size: int) -> None:
    with pytest.raises(
        UserError, match=rf"^a vocabulary of {size} is not possible: it has at least 258\.$"
    ):
        BytePairVocabulary.of(TEXTS, size=size)


def test_the_smallest_vocabulary_is_the_bytes_alone() -> None:
    vocabulary = BytePairVocabulary.of(TEXTS, size=SMALLEST)
    assert len(vocabulary) == SMALLEST
    assert len(vocabulary.encode("Oslo")) == 5


@pytest.mark.parametrize(
    "tokenizer", ["", "{", '{"version": "1.0"}', LEARNED.to_dict()["byte_pairs"][:-40]]
)
def test_a_damaged_tokenizer_is_told(tokenizer: str) -> None:
    with pytest.raises(DamagedFileError, match=r"^the tokenizer cannot be read: \w"):
        load_vocabulary({"byte_pairs": tokenizer})
