"""What is wrong with a sample."""

import pytest

from attnlab.evaluation.samples import faults_of, words_of

KNOWN = words_of(["The King's men\nwere here", "and there"])


def test_unknown_words_are_counted_and_named() -> None:
    faults = faults_of("The king's wem were hereto the", KNOWN)
    assert faults.words == 5, "the last word may be cut off"
    assert faults.unknown == ("wem", "hereto")
    assert faults.sentence() == "2 of 5 words are in no training text (wem, hereto)"


def test_repetition_is_counted() -> None:
    faults = faults_of("and there and there and there x", KNOWN)
    assert faults.repeated == pytest.approx(0.5)
    assert (
        faults.sentence() == "0 of 6 words are in no training text; 50% repeat three words in a row"
    )


def test_a_sample_without_words_says_so() -> None:
    assert faults_of("0110 1\n", KNOWN).sentence() == "no words"
