"""Known slips of published reports: each must be called what it is."""

from pathlib import Path

import pytest
from records import answers, classifier_run, perplexity_run

from attnlab.errors import UserError
from attnlab.evaluation.comparison import compare
from attnlab.evaluation.ledger import ledger_notes, split_ledger


@pytest.mark.slow
def test_five_runs_at_boolqs_majority_rate_did_not_learn(tmp_path: Path) -> None:
    gold = ["true"] * 2033 + ["false"] * 1237
    runs = [
        classifier_run(tmp_path, f"run-{i}", gold=gold, predicted=["true"] * 3270) for i in range(5)
    ]
    comparison = compare(runs)
    assert {condition.score for condition in comparison.conditions} == {2033 / 3270}
    assert (
        "each of the 5 runs: did not learn: it answers 'true' to all 3,270 examples (2,033 right)."
        in comparison.notes
    )
    assert any(
        "score the same to the last bit, example by example: none of them is best" in note
        for note in comparison.notes
    )
    assert all("score exactly the same" in pair.verdict for pair in comparison.pairs)


def test_a_score_equal_to_the_majority_rate_is_noticed_even_if_answers_vary(tmp_path: Path) -> None:
    gold = ["same"] * 279 + ["other"] * 129
    predicted = ["other"] + gold[1:279] + ["same"] + ["same"] * 128  # wrong once, right once
    predicted[279] = "other"
    run = classifier_run(tmp_path, "tuned", gold=gold, predicted=predicted)
    score = run.record["scores"]["test"]
    assert score["value"] == 279 / 408
    assert "scores exactly what always answering 'same' gives (279 of 408)" in score["verdict"]


def test_nine_of_ten_is_not_better_than_eight_of_ten(tmp_path: Path) -> None:
    runs = []
    for right in (8, 9):
        gold, predicted = answers(right, 10)
        runs.append(classifier_run(tmp_path, f"{right}-of-10", gold=gold, predicted=predicted))
    (pair,) = compare(runs).pairs
    assert pair.p_value == 1.0
    assert "8-of-10 and 9-of-10 are not distinguishable: 9-of-10 is higher by 10.0 points" in (
        pair.verdict
    )
    assert "examples would be needed" in pair.verdict


def test_dev_that_is_train_is_called_so() -> None:
    rows = [{"text": f"row {i}", "label": "yes"} for i in range(10)]
    ledger = split_ledger({"train": rows, "dev": rows, "test": rows}, inputs=["text"])
    assert ledger_notes(ledger) == [
        "train = dev = test: the same 10 rows; a score there is memory, not skill"
    ]


def test_two_test_sets_under_one_name_are_not_compared(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    first = classifier_run(tmp_path, "first", gold=gold, predicted=predicted)
    texts = [f"example {i + 5}" for i in range(10)]
    second = classifier_run(tmp_path, "second", gold=gold, predicted=predicted, texts=texts)
    with pytest.raises(UserError, match=r"different data, both called 'test'.*5 in common"):
        compare([first, second])


def test_the_same_questions_with_other_labels_are_another_test_set(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    first = classifier_run(tmp_path, "first", gold=gold, predicted=predicted)
    other = ["no" if label == "yes" else "yes" for label in gold]
    second = classifier_run(tmp_path, "second", gold=other, predicted=predicted)
    with pytest.raises(UserError, match="Scores on different sets are not compared"):
        compare([first, second])


def test_equal_perplexities_are_not_lower(tmp_path: Path) -> None:
    losses = [54.3, 51.2, 57.9, 53.8]
    runs = [perplexity_run(tmp_path, name, losses) for name in ("plain", "masked-late")]
    (pair,) = compare(runs).pairs
    assert pair.difference == 0
    assert pair.verdict.startswith(
        "plain and masked-late score exactly the same; neither is better"
    )


def test_a_lower_perplexity_is_better(tmp_path: Path) -> None:
    losses = [50.0 + i % 7 for i in range(60)]
    worse = perplexity_run(tmp_path, "worse", losses)
    better = perplexity_run(
        tmp_path, "better", [loss - 1 - (i % 3) for i, loss in enumerate(losses)]
    )
    (pair,) = compare([worse, better]).pairs
    assert "better is lower than worse by" in pair.verdict
    assert ", so better;" in pair.verdict


def test_one_example_shows_nothing(tmp_path: Path) -> None:
    runs = [perplexity_run(tmp_path, name, [loss]) for name, loss in (("a", 50.0), ("b", 51.0))]
    (pair,) = compare(runs).pairs
    assert pair.p_value == 1.0
    assert "not distinguishable" in pair.verdict
