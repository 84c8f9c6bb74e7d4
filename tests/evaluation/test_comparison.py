"""Several runs side by side."""

from pathlib import Path

import pytest
from records import answers, classifier_run, perplexity_run, seal_again

from attnlab.errors import UserError
from attnlab.evaluation.comparison import compare, conditions_of
from attnlab.evaluation.metrics import metric_called
from attnlab.report.sections.comparison import comparison_blocks
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


def weak_and_strong(root: Path) -> list[Run]:
    runs: list[Run] = []
    for name, right in (("weak", 30), ("strong", 50)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(root, name, gold=gold, predicted=predicted))
    return runs


def test_a_real_difference_is_stated_with_its_size_p_and_n(tmp_path: Path) -> None:
    runs = weak_and_strong(tmp_path)
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


def test_conditions_are_compared_with_the_one_that_is_named(tmp_path: Path) -> None:
    runs = []
    for name, right in (("a", 40), ("b", 47), ("c", 53), ("d", 50)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(tmp_path, name, gold=gold, predicted=predicted))
    found = compare(runs, against="b")
    assert [(pair.first, pair.second) for pair in found.pairs] == [("b", x) for x in "acd"]
    assert all("correction for 3" in pair.verdict for pair in found.pairs)
    assert found.standings == ()
    assert [pair.first for pair in compare(runs, all_pairs=False).pairs] == ["c"] * 3


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
    with pytest.raises(UserError, match=r"nothing to compare: .*\(whole: test; bare: none\)"):
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
    runs[1].write_predictions("test", runs[1].predictions("test")[:1])
    seal_again(runs[1])
    with pytest.raises(UserError, match=r"test.jsonl holds 1 rows, but its score is over 10"):
        compare(runs)


def test_answers_that_are_damaged_are_named(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    runs = [classifier_run(tmp_path, name, gold=gold, predicted=predicted) for name in ("a", "b")]
    rows = runs[1].predictions("test")
    for field, value in (("prediction", None), ("id", 3)):
        runs[1].write_predictions("test", [*rows[:4], {**rows[4], field: value}, *rows[5:]])
        message = r"b/predictions/test.jsonl is not what the run wrote: damaged or replaced"
        with pytest.raises(UserError, match=message):
            compare(runs)
        seal_again(runs[1])
        message = rf"b/predictions/test.jsonl:5: {field} is {value}, not a text"
        with pytest.raises(UserError, match=message):
            compare(runs)


def test_the_same_examples_in_another_order_are_put_in_order(tmp_path: Path) -> None:
    runs = weak_and_strong(tmp_path)
    expected = compare(runs)
    runs[1].write_predictions("test", runs[1].predictions("test")[::-1])
    seal_again(runs[1])
    assert compare(runs).pairs == expected.pairs


def test_runs_of_other_lengths_under_the_same_ids_are_not_compared(tmp_path: Path) -> None:
    runs = [perplexity_run(tmp_path, name, [50.0, 52.0]) for name in ("a", "b")]
    runs[1].write_predictions("dev", [{**r, "tokens": 20} for r in runs[1].predictions("dev")])
    seal_again(runs[1])
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


def two_runs(root: Path) -> list[Run]:
    runs = []
    for name, right in (("weak", 30), ("strong", 50)):
        gold, predicted = answers(right, 60)
        runs.append(classifier_run(root, name, gold=gold, predicted=predicted))
    return runs


def test_numbers_over_seeds_stay_what_they_were(tmp_path: Path) -> None:
    """Taken down before metrics became functions of the table of predictions."""
    runs = [*seeds(tmp_path, "a", [40, 44, 48], lr=0.1), *seeds(tmp_path, "b", [50, 53], lr=0.2)]
    comparison = compare(runs)
    first, second = (condition.interval for condition in comparison.conditions)
    assert first == pytest.approx((0.5377564457974852, 0.9289102208691816), abs=1e-12)
    assert second == pytest.approx((0.529854710728096, 1.0), abs=1e-12)
    (pair,) = comparison.pairs
    assert pair.interval == pytest.approx((-0.035122261555322304, 0.2851222615553223), abs=1e-12)
    assert pair.p_value == pytest.approx(0.09311326937828589, abs=1e-12)
    assert pair.verdict.endswith("these 5 runs on 60 examples show 15.9 points or more.")


def test_without_a_metric_it_is_the_one_the_runs_were_scored_by(tmp_path: Path) -> None:
    runs = two_runs(tmp_path)
    assert compare(runs) == compare(runs, metric="accuracy")


def test_runs_can_be_compared_by_a_metric_they_were_not_scored_by(tmp_path: Path) -> None:
    runs, f1 = two_runs(tmp_path), metric_called("f1")
    comparison = compare(runs, metric="f1")
    tables = [run.predictions("test") for run in runs]
    for condition, rows in zip(comparison.conditions, tables, strict=True):
        assert condition.score == f1.score(rows)
        assert condition.interval.low < condition.score < condition.interval.high
    constant = f1.score([{**row, "prediction": "yes"} for row in tables[0]])
    assert comparison.conditions[0].baseline == {
        "name": "always yes",
        "answer": "yes",
        "value": constant,
    }
    (pair,) = comparison.pairs
    assert pair.method == "paired permutation"
    assert pair.p_value < 0.001
    assert pair.difference == pytest.approx(f1.score(tables[1]) - f1.score(tables[0]), abs=1e-12)
    assert pair.verdict.startswith("strong is higher than weak by")


def test_any_metric_is_averaged_over_seeds(tmp_path: Path) -> None:
    runs = [*seeds(tmp_path, "a", [30, 33, 31], lr=0.1), *seeds(tmp_path, "b", [50, 52], lr=0.2)]
    comparison, f1 = compare(runs, metric="f1"), metric_called("f1")
    scores = tuple(f1.score(run.predictions("test")) for run in runs[:3])
    assert comparison.conditions[0].scores == pytest.approx(scores, abs=1e-12)
    assert comparison.conditions[0].score == pytest.approx(sum(scores) / 3, abs=1e-12)
    (pair,) = comparison.pairs
    assert pair.method == "over seeds and examples"
    assert pair.corrected_p < 0.05


def test_a_classifier_that_did_not_learn_is_called_so_by_f1_too(tmp_path: Path) -> None:
    runs, gold = two_runs(tmp_path), answers(1, 60)[0]
    dead = classifier_run(tmp_path, "dead", gold=gold, predicted=["yes"] * 60)
    notes = compare([*runs, dead], metric="f1").notes
    assert notes[0].startswith("dead did not learn: it answers 'yes' to all 60 examples")


def test_a_metric_without_its_columns_is_refused_with_run_split_and_column(tmp_path: Path) -> None:
    runs = two_runs(tmp_path)
    rows = [{**row, "loss": 1.0, "tokens": 3} for row in runs[0].predictions("test")]
    runs[0].write_predictions("test", rows)
    seal_again(runs[0])
    message = (
        "the run strong has no perplexity on 'test': its predictions have no column 'loss' or"
        " 'tokens'. Possible: accuracy, f1."
    )
    with pytest.raises(UserError, match=message):
        compare(runs, metric="perplexity")


def test_a_column_that_one_row_lacks_is_damage(tmp_path: Path) -> None:
    runs = two_runs(tmp_path)
    for run in runs:
        rows = [{**row, "loss": 1.0, "tokens": 3} for row in run.predictions("test")]
        del rows[4]["tokens"]
        run.write_predictions("test", rows)
        seal_again(run)
    message = r"weak/predictions/test.jsonl:5 has other columns than line 1 \(tokens\)"
    with pytest.raises(UserError, match=message):
        compare(runs, metric="perplexity")


def test_runs_scored_differently_can_be_compared_by_a_metric_that_both_have(tmp_path: Path) -> None:
    runs = two_runs(tmp_path)
    scores = {"test": {"metric": "f1", "value": 0.5, "n": 60, "interval": [0.4, 0.6]}}
    runs[1].finish({**runs[1].record, "scores": scores})
    with pytest.raises(UserError, match="weak: accuracy, strong: f1"):
        compare(runs)
    assert compare(runs, metric="accuracy").pairs[0].difference == pytest.approx(20 / 60)
    assert compare(runs, metric="f1").conditions[1].baseline is None


def test_a_run_that_scored_the_same_rows_under_another_name_is_compared(tmp_path: Path) -> None:
    (gold, predicted), order = answers(50, 60), [*range(30, 60), *range(30)]
    texts = [f"example {i}" for i in range(60)]
    trained, _ = weak_and_strong(tmp_path)
    asked = classifier_run(
        tmp_path,
        "asked",
        gold=[gold[i] for i in order],
        predicted=[predicted[i] for i in order],
        texts=[texts[i] for i in order],
        split="reviews",
        job="classify-predict",
    )
    by_name = compare(weak_and_strong(tmp_path / "by_name"))
    for runs in ([trained, asked], [asked, trained]):
        found = compare(runs)
        assert found.splits == {"weak": "test", "asked": "reviews"}
        assert abs(found.pairs[0].difference) == by_name.pairs[0].difference
        assert found.pairs[0].p_value == by_name.pairs[0].p_value
    told = str(list(comparison_blocks(compare([trained, asked]))))
    assert "accuracy on test = reviews, n = 60" in told
    assert "The same rows under different names: test of weak; reviews of asked." in told
    assert compare([trained, asked], split="reviews").splits == found.splits


def test_one_other_row_or_label_under_another_name_is_refused(tmp_path: Path) -> None:
    gold, predicted = answers(7, 10)
    first = classifier_run(tmp_path, "first", gold=gold, predicted=predicted)
    texts = [*(f"example {i}" for i in range(9)), "another"]
    rows = classifier_run(
        tmp_path, "rows", gold=gold, predicted=predicted, texts=texts, split="file"
    )
    with pytest.raises(UserError, match=r"neither by name nor by rows \(first: test; rows: file\)"):
        compare([first, rows])
    with pytest.raises(
        UserError, match=r"rows has no score on 'test', nor on the same rows .*file"
    ):
        compare([first, rows], split="test")
    other = ["no" if label == "yes" else "yes" for label in gold]
    labels = classifier_run(tmp_path, "labels", gold=other, predicted=predicted, split="file")
    with pytest.raises(UserError, match="different data, called 'test' and 'file'"):
        compare([first, labels])


def test_the_same_lines_of_a_reordered_file_are_paired_by_text_and_not_by_line(
    tmp_path: Path,
) -> None:
    """Ids are lines of a file: the same line of two orders is another example."""
    first, second = weak_and_strong(tmp_path)
    for run, rows in ((first, first.predictions("test")), (second, second.predictions("test"))):
        ordered = rows if run is first else rows[::-1]
        run.write_predictions("test", [{**r, "id": f"f.csv:{i}"} for i, r in enumerate(ordered)])
        seal_again(run)
    (pair,) = compare([first, second]).pairs
    assert pair.p_value == pytest.approx(2 * 0.5**20)
