"""Numbers, quantities and sentences as people write them."""

import pytest

from attnlab.evaluation.claims.attribution import Span, attributed
from attnlab.evaluation.claims.markdown import Heading, Row, Sentence, parts_of
from attnlab.evaluation.claims.numbers import Number, numbers_in
from attnlab.evaluation.claims.quantities import quantity_of


def only(text: str) -> Number:
    (number,) = numbers_in(text)
    return number


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("84.5 %", 84.5, 0.1),
        (".845", 0.845, 0.001),
        ("66,955,010 parameters", 66955010, 1),
        ("67M", 67e6, 1e6),
        ("1.2 million", 1.2e6, 1e5),
        ("3e-5", 3e-5, 1e-5),
        ("−0.3", -0.3, 0.1),
        ("58.8s", 58.8, 0.1),
        ("(84.5)", 84.5, 0.1),
    ],
)
def test_a_number_is_as_exact_as_it_is_written(text: str, value: float, step: float) -> None:
    found = only(text)
    assert found.value == pytest.approx(value)
    assert found.step == pytest.approx(step)


@pytest.mark.parametrize(
    "text", ["GPT-2", "2026-11-17", "2.13.0", "v2", "a1b2", "runs/3", "10-fold", "3x", "k=v1"]
)
def test_what_is_part_of_a_word_is_no_number(text: str) -> None:
    assert list(numbers_in(text)) == []


@pytest.mark.parametrize(
    ("text", "fits", "fails"),
    [
        ("84.5 %", [84.46, 84.54], [84.4, 84.56]),
        ("about 85 %", [81.0, 89.0], [80.0, 90.0]),
        ("at least 85 %", [85.0, 99.0], [84.9]),
        ("below 5.3", [1.0, 5.3], [5.4]),
    ],
)
def test_a_number_fits_what_rounds_to_it(text: str, fits: list[float], fails: list[float]) -> None:
    number = only(text)
    assert all(number.fits(value) for value in fits)
    assert not any(number.fits(value) for value in fails)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("an accuracy of 84.5 %", "accuracy"),
        ("84.5 % dev accuracy", "accuracy"),
        ("the accuracy on the longest texts was 84.5 %", "accuracy"),
        ("¤ reaches 84.5 %", "score"),
        ("¤ (84.5 %)", "score"),
        ("perplexity 5.31", "perplexity"),
        ("a perplexity of 228", "perplexity"),
        ("2.31 bits per character", "bits_per_character"),
        ("66,955,010 trainable parameters", "parameters"),
        ("trained in 58.8 s", "seconds"),
        ("on 1,821 test sentences", "rows"),
        ("n = 1,821", "n"),
        ("over 3 seeds", "seeds"),
        ("seed 3", "seed"),
        ("a learning rate of 3e-5", "learning rate"),
        ("12 layers", "layers"),
        ("accuracy in Figure 3", None),
        ("the perplexity in 2024", None),
        ("accuracy with temperature 0.7", None),
        ("accuracy ± 1.2", None),
        ("the accuracy with 95 % confidence", None),
        ("10 % of the texts", None),
        ("between 84 % accuracy", None),
        ("accuracy rises by 3 %", None),
        ("accuracy 3 points higher", None),
    ],
)
def test_the_words_around_a_number_say_what_it_is(text: str, name: str | None) -> None:
    found = quantity_of(text, only(text))
    assert (found.name if found else None) == name


def test_a_text_is_cut_into_headings_sentences_and_rows_with_their_lines() -> None:
    text = (
        "# Title\n\nOne, e.g. this,\nis a sentence. Two. See Fig. 3.\n\n- item\n"
        "\n```\ncode. 1\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> Quoted.\n"
    )
    found = [
        (part.line, " | ".join(part.cells) if isinstance(part, Row) else part.text.strip())
        for part in parts_of(text)
    ]
    assert found == [
        (1, "Title"),
        (3, "One, e.g. this,\nis a sentence."),
        (4, "Two."),
        (4, "See Fig. 3."),
        (6, "- item"),
        (13, "1 | 2"),
        (15, "Quoted."),
    ]
    assert isinstance(parts_of(text)[0], Heading)
    sentence = parts_of(text)[1]
    assert isinstance(sentence, Sentence)
    assert sentence.line_at(sentence.text.index("is")) == 3
    assert sentence.line_at(sentence.text.index("a sentence")) == 4


def test_a_number_belongs_to_a_name() -> None:
    text = "¤ 1 ¤ 2"
    assert attributed(text, [Span(2, 3), Span(6, 7)], [Span(0, 1), Span(4, 5)]) == [0, 1]
    assert attributed("¤ ¤ 1 2", [Span(4, 5), Span(6, 7)], [Span(0, 1), Span(2, 3)]) == [0, 1]
    text = "1 for ¤, 2 for ¤"
    assert attributed(text, [Span(0, 1), Span(9, 10)], [Span(6, 7), Span(15, 16)]) == [0, 1]
    assert attributed("¤ ¤ 1", [Span(4, 5)], [Span(0, 1), Span(2, 3)]) == [None]
