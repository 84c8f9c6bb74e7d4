"""What a topic's report says: expectations against results, and readings marked as such."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.attention.topics import Expectation, Topic
from attnlab.evaluation.comparison import Comparison, Condition
from attnlab.evaluation.intervals import Interval
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER
from attnlab.evaluation.pairs import Pair
from attnlab.report.ablation import sentences
from attnlab.report.ablation.entries import Ablation, Entry, smoothed
from attnlab.runs.directory import Run, RunPlace

TOPIC = Topic(
    "toy",
    "A title",
    "A question?",
    "A background.",
    "A hypothesis.",
    (Expectation("cosine", "alike", "It is as sharp."), Expectation("hard", "worse", "It is not.")),
    "Sharpness matters.",
)


def entry(name: str, difference: float, p: float) -> Entry:
    bits = Condition(name, (), (2.0 + difference,), 2.0 + difference, Interval(1.0, 3.0), None)
    pair = Pair("dot_product", name, difference, Interval(-1, 1), p, p, "paired", "")
    return Entry(name, (), bits, pair, ())


def found(*others: Entry) -> Ablation:
    control = Entry("dot_product", (), entry("dot_product", 0.0, 1.0).bits, None, ())
    conditions = tuple(one.bits for one in (control, *others))
    comparison = Comparison({}, 0, BITS_PER_CHARACTER, conditions, (), ())
    return Ablation(control, others, comparison, coins={}, costs={})


@pytest.mark.parametrize(
    ("difference", "p", "outcome"),
    [(0.2, 0.001, "worse"), (-0.2, 0.001, "better"), (0.2, 0.3, "alike"), (-0.2, 0.3, "alike")],
)
def test_an_outcome_needs_a_difference_that_is_no_chance(
    difference: float, p: float, outcome: str
) -> None:
    assert entry("cosine", difference, p).outcome == outcome


def test_what_came_out_as_expected_is_followed_by_its_reading() -> None:
    lines = list(
        sentences.interpretation(TOPIC, found(entry("cosine", 0.1, 0.5), entry("hard", 0.3, 0.01)))
    )
    assert lines == [
        "cosine: alike, as expected, though that does not show that they are equal: the difference"
        " may lie anywhere from -1.000 to +1.000 bits per character. Reading: It is as sharp.",
        "hard: worse, as expected. Reading: It is not.",
        "Reading: Sharpness matters.",
    ]


def test_a_result_that_was_not_expected_has_no_reading() -> None:
    """The bug to guard against: a reason that is printed whatever came out."""
    lines = list(
        sentences.interpretation(
            TOPIC, found(entry("cosine", -0.1, 0.01), entry("hard", 0.3, 0.01))
        )
    )
    assert lines[0].startswith("cosine: better, not alike as expected.")
    assert "Reading" not in lines[0]
    assert "Reading: Sharpness matters." not in lines
    assert "the hypothesis as a whole is not supported" in lines[-1]


def test_a_condition_without_a_finished_run_supports_nothing() -> None:
    lines = list(sentences.interpretation(TOPIC, found(entry("cosine", 0.1, 0.5))))
    assert "hard: no run is finished yet." in lines
    assert "not supported" in lines[-1]


def test_the_setup_says_what_is_compared_with_what() -> None:
    assert sentences.setup(TOPIC)[-1] == "Compared: cosine, hard; the control is dot_product."


def test_reading_beyond_the_training_length_is_judged_by_the_last_stretch(tmp_path: Path) -> None:
    run = Run.begin("x", {"objective": {"options": {"block": 10}}}, RunPlace(tmp_path, "x"))
    for loss, said in (
        (math.log(5.4), "cosine, trained on 10 tokens, reads on: perplexity 5.00 at positions 6"),
        (math.log(9.0), "fails beyond: perplexity 5.00 at positions 6 to 10, 9.00 at 16 to 20"),
    ):
        losses = [math.log(7), math.log(5), math.log(2), loss]
        parts = [
            {"first": 5 * i + 1, "last": 5 * i + 5, "loss": value} for i, value in enumerate(losses)
        ]
        read = replace(entry("cosine", 0, 1), runs=(run,), examined=({"by_position": parts},))
        assert said in sentences.reading_on(read)


def test_smoothing_is_the_perplexity_of_the_last_few_losses() -> None:
    assert smoothed([0.0, 0.0, 0.0]) == [1.0, 1.0, 1.0]
    assert smoothed([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])[-1] == 1.0
    assert smoothed([5.0, 0.0])[-1] == pytest.approx(12.18, abs=0.01)
