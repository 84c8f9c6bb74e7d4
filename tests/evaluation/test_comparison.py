"""Several runs side by side."""

from pathlib import Path

import pytest
from records import answers, classifier_run, perplexity_run

from attnlab.errors import UserError
from attnlab.evaluation.comparison import compare, conditions_of
from attnlab.runs.directory import Run, RunPlace


def seeds(root: Path, name: str, rights: list[int], *, lr: float) -> list[Run]:
    runs = []
    for seed, right in enumerate(rights):
        gold, predicted = answers(right, 60)
        settings = {"lr": lr, "training": {"seed": seed}}
        runs.append(
            classifier_run(
                root, f"{name}-{seed}", gold=gold, predicted=predicted, settings=settings
            )
        )
    return runs


def test_a_real_difference_is_stated_with_its_size_p_and_n(tmp_path: Path) -> None:
    runs = []
    for name, right in (("weak", 30), ("strong", 50)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted))
    comparison = compare(runs)
    (pair,) = comparison.pairs
    assert pair.method == "exact McNemar"
    assert pair.p_value == pytest.approx(2 * 0.5**20)
    assert pair.verdict.startswith("strong is higher than weak by 33.3 points (95 %: +21.7 to +")
    assert pair.verdict.endswith("p = 1.9e-06, exact McNemar, n = 60.")
    assert comparison.notes == ()


def test_runs_that_differ_in_the_seed_alone_are_one_condition(tmp_path: Path) -> None:
    runs = [*seeds(tmp_path, "a", [30, 33, 31], lr=0.1), *seeds(tmp_path, "b", [50, 52], lr=0.2)]
    groups = conditions_of(runs)
    assert {name: len(group) for name, group in groups.items()} == {"lr=0.1": 3, "lr=0.2": 2}
    comparison = compare(runs)
    first, second = comparison.conditions
    assert first.score == pytest.approx((30 + 33 + 31) / 180)
    assert (min(first.scores), max(first.scores)) == (30 / 60, 33 / 60)
    assert first.interval.low < first.score < first.interval.high
    (pair,) = comparison.pairs
    assert pair.method == "over seeds and examples"
    assert pair.corrected_p < 0.05
    assert second.score - first.score == pytest.approx(pair.difference)


def test_seeds_that_cannot_tell_two_apart_say_what_they_could(tmp_path: Path) -> None:
    runs = [
        *seeds(tmp_path, "a", [40, 44, 48], lr=0.1),
        *seeds(tmp_path, "b", [43, 46, 50], lr=0.2),
    ]
    (pair,) = compare(runs).pairs
    assert "lr=0.1 and lr=0.2 are not distinguishable" in pair.verdict
    assert "these 6 runs on 60 examples show" in pair.verdict


def test_one_condition_alone_is_nothing_to_compare(tmp_path: Path) -> None:
    comparison = compare(seeds(tmp_path, "a", [30, 33], lr=0.1))
    assert comparison.pairs == ()
    assert "differ in the seed alone" in comparison.notes[0]


def test_p_values_are_corrected_for_the_number_of_comparisons(tmp_path: Path) -> None:
    runs = []
    for name, right in (("a", 40), ("b", 47), ("c", 53)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted))
    pairs = compare(runs).pairs
    assert len(pairs) == 3
    smallest = min(pairs, key=lambda pair: pair.p_value)
    assert smallest.corrected_p == pytest.approx(3 * smallest.p_value)
    assert all("after Holm's correction for 3" in pair.verdict for pair in pairs)


def test_the_ledgers_notes_stand_beside_the_scores(tmp_path: Path) -> None:
    runs = []
    for name, right in (("a", 4), ("b", 9)):
        gold, predicted = answers(right, 12)
        leak = ["example 3", "example 4", "another"]
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted, train=leak))
    notes = " ".join(compare(runs).notes)
    assert "of 12 rows in test, also in train: 1 identical rows, 1 same input with another" in notes


def test_a_run_without_predictions_is_refused(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    run = classifier_run(tmp_path, "whole", gold=gold, predicted=predicted)
    bare = Run.begin("classify", {"x": 1}, RunPlace(tmp_path, "bare"))
    bare.finish({"scores": run.record["scores"]})
    with pytest.raises(UserError, match=r"nothing to compare: .*\(none at all in bare\)"):
        compare([run, bare])


def test_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    run = classifier_run(tmp_path, "whole", gold=gold, predicted=predicted)
    begun = Run.begin("classify", {"x": 1}, RunPlace(tmp_path, "begun"))
    with pytest.raises(UserError, match="the run begun is not finished"):
        compare([run, begun])


def test_mixed_tasks_are_refused(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    run = classifier_run(tmp_path, "classifier", gold=gold, predicted=predicted, split="dev")
    other = perplexity_run(tmp_path, "model", [50.0, 52.0])
    with pytest.raises(UserError, match=r"classifier: accuracy, model: perplexity"):
        compare([run, other])
    texts = [f"sentence {i}" for i in range(10)]
    third = classifier_run(
        tmp_path, "third", gold=gold, predicted=predicted, split="dev", texts=texts, job="other"
    )
    with pytest.raises(UserError, match=r"\(classify\) and third \(other\) are different tasks"):
        compare([run, third])


def test_stored_answers_without_what_the_metric_needs_are_named(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    runs = [classifier_run(tmp_path, name, gold=gold, predicted=predicted) for name in ("a", "b")]
    runs[1].write_predictions("test", [{"id": "example 0", "gold": "yes"}])
    with pytest.raises(UserError, match=r"test.jsonl holds 1 rows, but its score is over 10"):
        compare(runs)


def test_answers_that_are_damaged_are_named(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    runs = [classifier_run(tmp_path, name, gold=gold, predicted=predicted) for name in ("a", "b")]
    rows = runs[1].predictions("test")
    for field, value in (("prediction", None), ("id", 3)):
        runs[1].write_predictions("test", [*rows[:4], {**rows[4], field: value}, *rows[5:]])
        with pytest.raises(UserError, match=rf"b/predictions/test.jsonl:5 lacks {field}"):
            compare(runs)


def test_the_same_examples_in_another_order_are_put_in_order(tmp_path: Path) -> None:
    runs = []
    for name, right in (("weak", 30), ("strong", 50)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted))
    expected = compare(runs)
    runs[1].write_predictions("test", runs[1].predictions("test")[::-1])
    assert compare(runs).pairs == expected.pairs


def test_runs_of_other_lengths_under_the_same_ids_are_not_compared(tmp_path: Path) -> None:
    runs = [perplexity_run(tmp_path, name, [50.0, 52.0]) for name in ("a", "b")]
    runs[1].write_predictions("dev", [{**r, "tokens": 20} for r in runs[1].predictions("dev")])
    with pytest.raises(UserError, match="Scores on different sets are not compared"):
        compare(runs)


def test_a_setting_that_is_missing_is_not_null(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    runs = []
    for name, extra in (("a", {"drop": None}), ("b", {})):
        for seed in (0, 1):
            settings = {"lr": 1, "seed": seed, **extra}
            run = classifier_run(
                tmp_path, f"{name}{seed}", gold=gold, predicted=predicted, settings=settings
            )
            runs.append(run)
    assert {k: len(v) for k, v in conditions_of(runs).items()} == {"drop=null": 2, "drop=–": 2}


def test_near_the_top_the_interval_is_not_cut_at_the_estimate(tmp_path: Path) -> None:
    runs = []
    for name, right in (("good", 55), ("perfect", 60)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted))
    (pair,) = compare(runs).pairs
    assert pair.interval.high > pair.difference + 0.01
