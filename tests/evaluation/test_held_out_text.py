"""Perplexity and bits per character of held-out text, against sums by hand."""

import math

import pytest

from attnlab.evaluation.held_out_text import (
    perplexity_of_frequencies,
    perplexity_of_pairs,
    repeated_lines,
    repeats_warning,
    score_text,
    text_metrics,
    text_sentence,
)

ROWS = [
    {"id": "a", "loss": 6.0, "tokens": 4, "characters": 11},
    {"id": "b", "loss": 3.0, "tokens": 2, "characters": 6},
    {"id": "c", "loss": 1.0, "tokens": 1, "characters": 3},
]
SPEECH = "So shaken as we are, so wan with care, find we a time"


def test_perplexity_and_bits_are_those_of_the_sums() -> None:
    score = score_text(ROWS, guessing=9.0, repeats=repeated_lines([], []))
    assert score["value"] == pytest.approx(math.exp(10 / 7), rel=1e-12)
    assert score["loss"] == pytest.approx(10 / 7, rel=1e-12)
    assert score["bits_per_character"] == pytest.approx(10 / math.log(2) / 20, rel=1e-12)
    assert (score["n"], score["tokens"], score["characters"]) == (3, 7, 20)
    low, high = score["interval"]
    assert math.exp(1.0) <= low < score["value"] < high <= math.exp(1.5)
    assert score["baseline"] == {"name": "token frequencies", "value": 9.0}
    assert score["verdict"] is None
    assert text_metrics(ROWS)["loss"] == score["loss"]


def test_a_model_no_better_than_frequencies_did_not_learn() -> None:
    score = score_text(ROWS, guessing=math.exp(10 / 7) - 0.01, repeats={})
    assert score["verdict"].startswith("did not learn: knowing how often each token occurs")


def test_frequencies_are_counted_with_one_more_and_the_first_token_is_given() -> None:
    learned, asked = [[0, 0, 1], [0]], [[1, 0, 2], [2, 1]]
    # of 4 tokens and a vocabulary of 3: 0 has 4/7, 1 has 2/7, 2 has 1/7
    expected = math.exp(-(math.log(4 / 7) + math.log(1 / 7) + math.log(2 / 7)) / 3)
    found = perplexity_of_frequencies(learned, asked, vocab_size=3)
    assert found == pytest.approx(expected, rel=1e-12)


def test_pairs_are_counted_with_one_more_that_follows_the_frequencies() -> None:
    learned, asked = [[0, 1, 0, 1, 2]], [[0, 1, 1]]
    # of 5 tokens and a vocabulary of 3, 1 has 3/8; 0 is followed by 1 twice, 1 once by 0 and by 2
    expected = math.exp(-(math.log((2 + 3 / 8) / 3) + math.log((0 + 3 / 8) / 3)) / 2)
    found = perplexity_of_pairs(learned, asked, vocab_size=3)
    assert found == pytest.approx(expected, rel=1e-12)
    every = [perplexity_of_pairs(learned, [[1, token]], vocab_size=3) for token in range(3)]
    assert sum(1 / one for one in every) == pytest.approx(1, rel=1e-12), "shares sum to 1"


def test_only_a_perplexity_of_text_has_a_sentence() -> None:
    score = score_text(ROWS, guessing=9.0, repeats=repeated_lines([], []))
    told = text_sentence("held_out_text", score)
    assert told is not None
    assert told.startswith("On held_out_text: 0.72 bits per character, over 7 tokens of text (20")
    assert text_sentence("test", {"metric": "accuracy", "value": 0.5}) is None


def test_long_lines_that_were_learned_from_are_counted_and_short_ones_are_not() -> None:
    learned = [SPEECH, "KING HENRY IV:", "and another line that is long enough to count here"]
    end = ["KING HENRY IV:", f"  {SPEECH} ", "a line of its own that nothing before it has said"]
    repeats = repeated_lines(learned, end)
    assert repeats == {"repeated": 1, "lines": 2, "shortest": 40}
    score = score_text(ROWS, guessing=9.0, repeats=repeats)
    told = text_sentence("held_out_text", score)
    assert told is not None
    assert "Of 2 held-out lines of 40 or more characters, 1 also stand in the training" in told
    warning = repeats_warning(score)
    assert warning == (
        "50 % of its long lines also stand in the training text: this score is optimistic"
    )


def test_few_repeats_are_counted_without_a_warning_and_short_lines_are_not_looked_for() -> None:
    few = {"repeats": {"repeated": 1, "lines": 200, "shortest": 40}}
    assert repeats_warning(few) is None
    assert repeats_warning({"metric": "accuracy"}) is None
    score = score_text(ROWS, guessing=9.0, repeats=repeated_lines(["a"], ["a", ""]))
    assert repeats_warning(score) is None
    assert "repeated lines were not looked for." in str(text_sentence("held_out_text", score))
