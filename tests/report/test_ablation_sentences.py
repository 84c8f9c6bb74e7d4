"""What a topic's report says: expectations against results, and readings marked as such."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def entry(name: str, difference: float, p: float, *, within: float = 1.0, **examined: Any) -> Entry:
    bits = Condition(name, (), (2.0 + difference,), 2.0 + difference, Interval(1.0, 3.0), None)
    pair = Pair("dot_product", name, difference, Interval(-within, within), p, p, "paired", "")
    return Entry(name, (), bits, pair, (examined,) if examined else ())


def found(*others: Entry, **examined: Any) -> Ablation:
    control = replace(entry("dot_product", 0.0, 1.0, **examined), pair=None)
    conditions = tuple(one.bits for one in (control, *others))
    comparison = Comparison({}, 0, BITS_PER_CHARACTER, conditions, (), ())
    return Ablation(control, others, comparison, coins={}, costs={})


def said(topic: Topic, ablation: Ablation) -> list[str]:
    first, *others = sentences.interpretation(topic, ablation)
    assert first.startswith("Fewest bits per character without seeing the future: ")
    return others


@pytest.mark.parametrize(
    ("difference", "p", "within", "outcome"),
    [
        (0.2, 0.001, 1.0, "worse"),
        (-0.2, 0.001, 1.0, "better"),
        (0.2, 0.3, 1.0, "undecided"),
        (-0.01, 0.3, 0.021, "undecided"),
        (0.01, 0.3, 0.02, "alike"),
    ],
)
def test_an_outcome_needs_evidence_and_so_does_likeness(
    difference: float, p: float, within: float, outcome: str
) -> None:
    assert entry("cosine", difference, p, within=within).outcome == outcome


def test_what_came_out_as_expected_is_followed_by_its_reading() -> None:
    alike = entry("cosine", 0.01, 0.5, within=0.02)
    assert said(TOPIC, found(alike, entry("hard", 0.3, 0.01))) == [
        "cosine: alike, as expected. Reading: It is as sharp.",
        "hard: worse, as expected. Reading: It is not.",
        "Reading: Sharpness matters.",
    ]


def test_a_result_that_was_not_expected_has_no_reading() -> None:
    """The bug to guard against: a reason that is printed whatever came out."""
    lines = said(TOPIC, found(entry("cosine", -0.1, 0.01), entry("hard", 0.3, 0.01)))
    assert lines[0].startswith("cosine: better; alike was expected.")
    assert "Reading" not in lines[0]
    assert "Reading: Sharpness matters." not in lines
    assert "the hypothesis as a whole is not supported" in lines[-1]


def test_a_difference_that_is_not_found_is_not_likeness() -> None:
    """The bug to guard against: few seeds, no significance, and so "alike, as expected"."""
    lines = said(TOPIC, found(entry("cosine", 0.1, 0.5), entry("hard", 0.3, 0.01)))
    assert lines[0] == (
        "cosine: undecided; alike was expected. The reason given was: It is as sharp."
    )
    assert "not supported" in lines[-1]


@pytest.mark.parametrize(
    ("own", "asymmetry", "reason"),
    [
        (0.4, 0.0, "Reading: Symmetric."),
        (0.1, 0.0, "not borne out by the weight that tokens give to themselves. It was: Symm"),
        (0.1, 0.5, "by the symmetry of the scores and the weight that tokens give to themselves."),
    ],
)
def test_a_reason_needs_what_it_points_to(own: float, asymmetry: float, reason: str) -> None:
    shown_by = ("symmetric_scores", "weight_on_itself")
    topic = replace(TOPIC, expectations=(Expectation("hard", "worse", "Symmetric.", shown_by),))
    hard = entry("hard", 0.3, 0.01, weight_on_itself=own, asymmetry_of_scores=asymmetry)
    lines = said(topic, found(hard, weight_on_itself=0.2))
    assert reason in lines[0]
    assert (lines[-1] == "Reading: Sharpness matters.") == ("Reading" in reason)


@pytest.mark.parametrize(
    ("first", "said_so", "last"),
    [
        (-0.2, "cosine needs fewer bits than hard, as expected (1.800 and 2.300", "Reading: Sharp"),
        (0.4, "cosine was expected to need fewer bits than hard, but does not", "Not everything"),
    ],
)
def test_an_order_that_the_hypothesis_claims_is_checked(
    first: float, said_so: str, last: str
) -> None:
    """The bug to guard against: "worse, as expected" of one that should have been the worst."""
    expected = (
        Expectation("cosine", "worse" if first > 0 else "better", "A."),
        *TOPIC.expectations[1:],
    )
    topic = replace(TOPIC, expectations=expected, order=(("cosine", "hard"),))
    lines = said(topic, found(entry("cosine", first, 0.01), entry("hard", 0.3, 0.01)))
    assert lines[-2].startswith(said_so)
    assert lines[-1].startswith(last)


def test_the_best_by_the_numbers_alone_is_not_called_better() -> None:
    unsure, *_ = sentences.interpretation(TOPIC, found(entry("cosine", -0.1, 0.5)))
    assert unsure.endswith("cosine, though not shown to be better than dot_product.")
    sure, *_ = sentences.interpretation(TOPIC, found(entry("cosine", -0.1, 0.01)))
    assert sure.endswith("future: cosine.")


def test_the_crossover_is_told_in_time_and_memory() -> None:
    crossover = {"linear": {"seconds": 512, "peak_bytes": None}}
    costs = {"crossover": crossover, "costs": [{"name": "linear", "length": 2048}]}
    ablation = replace(found(entry("cosine", 0.0, 1.0)), costs=costs)
    assert (
        "Compared with dot_product, a layer of linear takes less time from 512 tokens on, and no"
        " less memory up to 2,048 tokens." in said(TOPIC, ablation)
    )


def test_a_note_stands_with_the_hypothesis() -> None:
    noted = sentences.setup(replace(TOPIC, note="Added later."))
    assert noted[2:4] == ["Hypothesis: A hypothesis.", "Note: Added later."]


def test_a_leak_is_told_with_what_is_left_and_what_the_control_has() -> None:
    leak = {"largest_change": 0.5, "bits": 2.0}
    scores = {"as_trained": {"perplexity": 3.0}, "without_future": {"perplexity": 9.0}}
    leaking = entry("late_mask", -0.9, 0.01, leak=leak, **scores)
    shown_by = ("without_future",)
    topic = replace(TOPIC, expectations=(Expectation("late_mask", "better", "Leak.", shown_by),))
    ablation = found(leaking, as_trained={"perplexity": 5.0})
    assert leaking.leak_bits == 2.0
    assert said(topic, ablation)[:2] == [
        "late_mask: better, as expected, but the reason given for it is not borne out by the"
        " reading without a future and the coin flips. It was: Leak.",
        "late_mask, on the same windows: perplexity 3.00 with the future, 9.00 without it;"
        " dot_product has 5.00.",
    ]


@pytest.mark.parametrize(
    ("flips_per_token", "perplexity", "told"),
    [
        (1, 1.5, "late_mask saves 0.415 bits per coin flip, all of it read from the future."),
        (10, 100.0, "late_mask saves 0.336 bits per coin flip, all of it read from the future."),
        (10, 2000.0, "late_mask needs 1.097 bits per coin flip; 1 is the least."),
    ],
)
def test_coins_are_counted_per_flip_whatever_a_token_is(
    tmp_path: Path, flips_per_token: int, perplexity: float, told: str
) -> None:
    """The bug to guard against: a byte pair of ten coins, whose perplexity may be far above 2."""
    coins = Run.begin("toy", {}, RunPlace(tmp_path, "coins"))
    score = {
        "metric": "perplexity",
        "value": perplexity,
        "n": 7,
        "bits_per_character": math.log2(perplexity) / flips_per_token,
        "interval": [perplexity * 0.9, perplexity * 1.1],
        "tokens": 7,
        "characters": 7 * flips_per_token,
    }
    leak = {"largest_change": 0.5, "sentence": "It leaks."}
    coins.finish({"scores": {"held_out_text": score}, "leak": leak})
    ablation = replace(found(), coins={"late_mask": (coins, {})})
    assert told in list(sentences.interpretation(replace(TOPIC, expectations=()), ablation))


def test_a_number_that_a_model_does_not_have_is_left_out() -> None:
    assert (
        entry("linear", 0, 1, asymmetry_of_scores=None).mean_examined("asymmetry_of_scores") is None
    )


def test_memory_is_weighed_against_bits() -> None:
    cheap = entry("hard", 0.3, 0.01, step_bytes=2e6)
    lines = said(TOPIC, found(cheap, step_bytes=4e6))
    assert lines[0] == (
        "hard: +0.300 bits per character for 0.50 times the memory of a training step."
    )


def test_a_condition_without_a_finished_run_supports_nothing() -> None:
    lines = said(TOPIC, found(entry("cosine", 0.1, 0.5)))
    assert "hard: no run is finished yet." in lines
    assert "not supported" in lines[-1]


def test_the_setup_says_what_is_compared_with_what() -> None:
    assert sentences.setup(TOPIC)[-1] == "Compared: cosine, hard; the control is dot_product."


def test_reading_beyond_the_training_length_is_judged_by_the_last_stretch(tmp_path: Path) -> None:
    run = Run.begin("x", {"objective": {"options": {"block": 10}}}, RunPlace(tmp_path, "x"))
    for loss, words in (
        (math.log(5.4), "cosine, trained on 10 tokens, reads on: perplexity 5.00 at positions 6"),
        (math.log(9.0), "fails beyond: perplexity 5.00 at positions 6 to 10, 9.00 at 16 to 20"),
    ):
        losses = [math.log(7), math.log(5), math.log(2), loss]
        parts = [
            {"first": 5 * i + 1, "last": 5 * i + 5, "loss": value} for i, value in enumerate(losses)
        ]
        read = replace(entry("cosine", 0, 1), runs=(run,), examined=({"by_position": parts},))
        assert words in sentences.reading_on(read)
        assert words.partition(":")[0].endswith(str(sentences.beyond(read)))
    assert sentences.beyond(entry("cosine", 0, 1)) is None


def test_smoothing_is_the_perplexity_of_the_last_few_losses() -> None:
    assert smoothed([0.0, 0.0, 0.0]) == [1.0, 1.0, 1.0]
    assert smoothed([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])[-1] == 1.0
    assert smoothed([5.0, 0.0])[-1] == pytest.approx(12.18, abs=0.01)
