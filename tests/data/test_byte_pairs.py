"""Byte pairs: any text there and back, names alike wherever they stand, and what is refused."""

import json

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.byte_pairs import LARGEST, SMALLEST, BytePairTokenizer
from attnlab.data.tokenizer import PAD, SENTINEL, Tokenizer, load_tokenizer
from attnlab.errors import DamagedFileError, UserError

TEXTS = [
    "Khatchig Mouradian. Khatchig Mouradian was born in Glasgow and went to Glasgow School of Art.",
    "Ada Lovelace. Born in London, Lovelace lived in London and in Glasgow.",
] * 3
SIZE = 321
LEARNED = BytePairTokenizer.of(TEXTS, size=SIZE)

plain = st.text(st.characters(codec="utf-8", exclude_characters=PAD + SENTINEL)).filter(
    lambda text: not text.startswith(" ")  # the first word is given a space, or has it already
)


@hypothesis.settings(deadline=None)
@given(plain)
@hypothesis.example("🦊 née Łukasz\n\t— 文字  two spaces ")
def test_any_text_comes_back_from_its_tokens(text: str) -> None:
    tokens = LEARNED.encode(text)
    assert LEARNED.decode(tokens) == text
    assert all(0 < token < len(LEARNED) for token in tokens)
    assert LEARNED.sentinel not in tokens


def test_the_vocabulary_has_the_size_asked_for_and_pad_is_its_first_token() -> None:
    assert isinstance(LEARNED, Tokenizer)
    assert len(LEARNED) == SIZE
    assert LEARNED.encode(PAD) == [0]
    assert LEARNED.encode(SENTINEL) == [LEARNED.sentinel] == [1]
    assert LEARNED.decode([*LEARNED.encode("Oslo"), LEARNED.sentinel]) == f"Oslo{SENTINEL}"


@pytest.mark.parametrize("name", ["Glasgow", "Khatchig Mouradian", "Ada", "Żywiec", "Glasgowian"])
def test_a_name_has_the_same_tokens_at_the_start_and_after_a_space(name: str) -> None:
    alone = LEARNED.encode(name)
    assert LEARNED.encode(f"in {name}") == [*LEARNED.encode("in"), *alone]
    assert LEARNED.encode(f"{name} in") == [*alone, *LEARNED.encode("in")]


def test_frequent_words_are_one_token_and_bytes_the_last_resort() -> None:
    assert len(LEARNED.encode("Glasgow")) == 1
    assert len(LEARNED.encode("🦊")) == 1 + len("🦊".encode())


def test_no_more_pieces_are_learned_than_there_are() -> None:
    tokenizer = BytePairTokenizer.of(["ab ab"], size=400)
    assert SMALLEST < len(tokenizer) < 270
    assert tokenizer.decode(tokenizer.encode("ba")) == "ba"


def test_the_same_texts_give_the_same_pieces() -> None:
    assert BytePairTokenizer.of(TEXTS, size=SIZE).to_dict() == LEARNED.to_dict()


def test_a_vocabulary_comes_back_from_json() -> None:
    again = load_tokenizer(json.loads(json.dumps(LEARNED.to_dict())))
    assert isinstance(again, BytePairTokenizer)
    assert (len(again), again.sentinel) == (len(LEARNED), LEARNED.sentinel)
    assert again.encode(TEXTS[0]) == LEARNED.encode(TEXTS[0])
    assert again.to_dict() == LEARNED.to_dict()


@pytest.mark.parametrize("size", [0, SMALLEST - 1, LARGEST + 1, 10**11])
def test_a_vocabulary_too_small_for_the_bytes_or_too_large_is_refused(size: int) -> None:
    with pytest.raises(
        UserError,
        match=rf"^a tokenizer of {size} is not possible: it has at least 258 tokens and"
        r" at most 1048576\.$",
    ):
        BytePairTokenizer.of(TEXTS, size=size)


def test_the_smallest_vocabulary_is_the_bytes_alone() -> None:
    tokenizer = BytePairTokenizer.of(TEXTS, size=SMALLEST)
    assert len(tokenizer) == SMALLEST
    assert len(tokenizer.encode("Oslo")) == 5


@pytest.mark.parametrize(
    "tokenizer", ["", "{", '{"version": "1.0"}', LEARNED.to_dict()["byte_pairs"][:-40]]
)
def test_a_damaged_tokenizer_is_told(tokenizer: str) -> None:
    with pytest.raises(DamagedFileError, match=r"^the tokenizer cannot be read: \w"):
        load_tokenizer({"byte_pairs": tokenizer})


def test_running_text_gets_no_space_before_its_first_word() -> None:
    tokenizer = BytePairTokenizer.of(["ROMEO:\nO ROMEO"], size=300, adds_space=False)
    again = BytePairTokenizer(tokenizer.to_dict()["byte_pairs"])
    for one in (tokenizer, again):
        assert one.decode(one.encode(" ROMEO")) == " ROMEO", "its own space stays"
        assert one.decode(one.encode("ROMEO")) == "ROMEO"
        assert one.encode("\nROMEO")[1:] == one.encode("ROMEO")


def test_a_word_without_end_is_learned_in_parts_and_comes_back() -> None:
    word = "ab" * 100_000  # the library alone would take minutes
    tokenizer = BytePairTokenizer.of([word], size=300)
    assert tokenizer.decode(tokenizer.encode(word)) == word
