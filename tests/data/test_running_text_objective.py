"""Running text: windows of one long text, and the end of it that is held out."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.byte_pairs import BytePairTokenizer
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.held_out_text import characters_of_rows, held_out_rows, hold_out_end
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.objectives.running_text import RunningText
from attnlab.errors import UserError

LINES = ["Speak, speak.", "", "You are all resolved", "rather to die than to famish?"]
TEXT = "\n".join(LINES)
TOKENIZER = CharacterTokenizer.of([TEXT])


def make(lines: list[str] = LINES, **options: int) -> RunningText:
    built: RunningText = OBJECTIVES.build("running_text", lines, TOKENIZER, [], options=options)
    return built


def test_windows_are_pieces_of_the_text_with_its_line_ends() -> None:
    objective = make(block=7)
    rows = objective.rows(np.random.default_rng(0))
    assert objective.longest == 7
    assert len(rows) == -(-(len(TEXT) - 1) // 7) + 1
    assert all(len(row) == 7 and row.scored is None for row in rows)
    pieces = [TOKENIZER.decode(row.tokens) for row in rows]
    assert all(piece in TEXT for piece in pieces)
    assert any("\n\n" in piece for piece in pieces), "a blank line is part of a text"


@pytest.mark.parametrize("block", [2, 7, 40])
def test_an_epoch_predicts_every_token_and_the_next_one_cuts_elsewhere(block: int) -> None:
    objective, generator = make(block=block), np.random.default_rng(3)
    epochs = [objective.rows(generator) for _ in range(20)]
    assert len({len(rows) for rows in epochs}) == 1, "every epoch has as many batches"
    assert len({tuple(row.id for row in rows) for rows in epochs}) > 1
    for rows in epochs:
        starts = [int(row.id.split()[-1]) for row in rows]
        predicted = {
            at + 1 + i for at, row in zip(starts, rows, strict=True) for i in range(len(row))
        }
        assert predicted == set(range(1, len(TEXT)))
        assert all(len(row) == objective.longest for row in rows)


def test_a_short_text_is_one_row() -> None:
    objective = make(["are"])
    (row,) = objective.rows(np.random.default_rng(0))
    assert (TOKENIZER.decode(row.tokens), objective.longest) == ("are", 2)
    with pytest.raises(UserError, match=r"^the text is too short to learn from"):
        make(["a"])


@given(st.text(alphabet="ab\n", min_size=1), st.floats(0, 0.99))
def test_the_held_out_end_and_the_rest_make_the_text(text: str, share: float) -> None:
    learned, held_out = hold_out_end(text, share)
    assert learned + held_out == text
    if not share:
        assert held_out == ""


def test_the_held_out_end_begins_with_a_line() -> None:
    learned, held_out = hold_out_end(TEXT, 0.5)
    assert learned.endswith("\n")
    assert held_out == "rather to die than to famish?"
    assert hold_out_end("abcdefghij", 0.3) == ("abcdefg", "hij"), "there may be no lines"


@pytest.mark.parametrize("block", [1, 5, 1000])
@pytest.mark.parametrize("kind", ["characters", "byte_pairs"])
def test_every_held_out_token_is_predicted_once(kind: str, block: int) -> None:
    pairs = BytePairTokenizer.of([TEXT], size=270, adds_space=False)
    tokenizer = TOKENIZER if kind == "characters" else pairs
    rows = held_out_rows(TEXT, tokenizer, block=block)
    assert [token for row in rows for token in row.tokens[1:]] == tokenizer.encode(TEXT)
    assert tokenizer.decode(rows[0].tokens[:1]) == "\n"
    for before, after in pairwise(rows):
        assert before.tokens[-1] == after.tokens[0]
    assert len({row.id for row in rows}) == len(rows)
    assert max(len(row) for row in rows) <= block


@given(st.text(alphabet="ab \n\u00e9\u20ac\U0001f600", min_size=1, max_size=60), st.integers(2, 5))
def test_the_characters_of_all_windows_are_those_of_the_text(text: str, block: int) -> None:
    """A window may end within a character of several bytes, each of them a token."""
    tokenizers = [
        BytePairTokenizer.of(["ab"], size=258, adds_space=False),
        CharacterTokenizer.of([text, "\n"]),
    ]
    for tokenizer in tokenizers:
        rows = held_out_rows(text, tokenizer, block=block)
        counts = characters_of_rows(rows, tokenizer)
        assert sum(counts) == len(text)
        assert min(counts) >= 0
