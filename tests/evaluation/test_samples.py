"""What is wrong with a sample."""

import pytest

from attnlab.evaluation.samples import faults_of, words_of

KNOWN = words_of(["The King's men\nwere here", "and there"])


def test_unknown_words_are_counted_and_named() -> None:
    faults = faults_of("The king's wem were hereto the", KNOWN)
    assert faults.words == 5, "the last word may be cut off"
    assert faults.unknown == ("wem", "hereto")
    assert faults.sentence() == "2 of 5 words are not in the training text (wem, hereto)"


def test_repetition_is_counted() -> None:
    faults = faults_of("and there and there and there x", KNOWN)
    assert faults.repeated == pytest.approx(0.5)
    assert faults.sentence() == (
        "0 of 6 words are not in the training text; 50% repeat a sequence of three words"
    )


@pytest.mark.parametrize(
    ("sample", "named"),
    [("a b c d e the", "(a, b, c, d, e)"), ("a b c d e f the", "(a, b, c, d, e, …)")],
)
def test_what_is_not_named_is_hinted_at(sample: str, named: str) -> None:
    assert faults_of(sample, KNOWN).sentence().endswith(named)


def test_a_sample_without_words_says_so() -> None:
    assert faults_of("0110 1\n", KNOWN).sentence() == "no words"
