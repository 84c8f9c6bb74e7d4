"""Slips of printed reports, put as small reports over tiny runs: each of them is flagged.

Every test has the honest version next to the slip, which must pass.
"""

from pathlib import Path

import pytest
from records import answers, classifier_run, seal_again, text_run

from attnlab.evaluation.claims.check import check_report
from attnlab.runs.directory import Run

LEAK = {"largest_change": 0.3, "bits": 0.9, "sentence": "the output at position 3 changes by 0.3"}
NO_LEAK = {"largest_change": 0.0, "bits": 0.0, "sentence": "nothing before a change feels it"}


def verdicts(folder: Path, text: str) -> list[str]:
    return [verdict for verdict, _ in judged(folder, text)]


def judged(folder: Path, text: str) -> list[tuple[str, str]]:
    report = folder / "report.md"
    report.write_text(text, encoding="utf-8")
    return [(claim.verdict, claim.reason) for claim in check_report(report, folder / "runs")]


def classifier(folder: Path, name: str, right: int, of: int = 60, **settings: object) -> Run:
    gold, predicted = answers(right, of)
    return classifier_run(
        folder / "runs", name, gold=gold, predicted=predicted, settings={"model": name, **settings}
    )


def collapsed(folder: Path, name: str) -> Run:
    gold = ["yes" if i % 3 else "no" for i in range(60)]
    return classifier_run(folder / "runs", name, gold=gold, predicted=["yes"] * 60)


def test_a_lower_perplexity_by_way_of_the_late_mask_means_nothing(tmp_path: Path) -> None:
    losses = [20.0 + i % 5 for i in range(40)]
    text_run(tmp_path / "runs", "early_mask", losses, leak=NO_LEAK)
    twice = {"as_trained": {"perplexity": 3.67}, "without_future": {"perplexity": 9.9}}
    text_run(
        *(tmp_path / "runs", "late_mask", [loss - 9 for loss in losses]),
        leak=LEAK,
        examined=twice,
    )
    slip = "Masking after the softmax, `late_mask` has a lower perplexity than `early_mask`."
    ((verdict, reason),) = judged(tmp_path, slip)
    assert verdict == "contradicted"
    assert reason.startswith("late_mask sees the future, so its perplexity means nothing")
    assert reason.endswith("without the future, its perplexity is 9.90.")
    assert verdicts(tmp_path, "`late_mask` reaches a perplexity of 3.67.") == ["contradicted"]
    assert verdicts(tmp_path, "`early_mask` reaches a perplexity of 9.03.") == ["supported"]
    honest = (
        "`late_mask` has a lower perplexity than `early_mask`, since it sees the future."
        " Without it, the perplexity of `late_mask` is 9.90."
    )
    assert verdicts(tmp_path, honest) == ["supported"] * 2


def test_equal_perplexities_are_not_lower(tmp_path: Path) -> None:
    losses = [54.3] * 12
    for name in ("before-softmax", "after-softmax"):
        text_run(tmp_path / "runs", name, losses, leak=NO_LEAK)
    table = """
| run | validation perplexity |
|---|---|
| before-softmax | 228.15 |
| after-softmax | 228.15 |

"""
    assert verdicts(tmp_path, table) == ["supported"] * 2
    slip = f"{table}The validation perplexity of `after-softmax` is lower than of `before-softmax`."
    (verdict, reason) = judged(tmp_path, slip)[-1]
    assert verdict == "contradicted"
    assert "score exactly the same; neither is better" in reason
    honest = f"{table}`after-softmax` and `before-softmax` have the same perplexity."
    assert verdicts(tmp_path, honest) == ["supported"] * 3


def test_a_wrong_number_of_parameters_is_corrected(tmp_path: Path) -> None:
    run = classifier(tmp_path, "prompt-tuning", 50)
    run.finish(run.record | {"n_trainable": 99_842})
    slip = "`prompt-tuning` trains 66,955,010 parameters."
    assert judged(tmp_path, slip) == [
        ("contradicted", "prompt-tuning: 99,842 trainable parameters")
    ]
    assert verdicts(tmp_path, "`prompt-tuning` trains 99,842 parameters.") == ["supported"]
    assert verdicts(tmp_path, "`prompt-tuning` trains about 100k parameters.") == ["supported"]


def test_sentences_of_another_dataset_are_corrected(tmp_path: Path) -> None:
    classifier(tmp_path, "sst2-run", 1699, of=1821)
    slip = "`sst2-run` was tested on a test set of 11,855 sentences."
    assert judged(tmp_path, slip) == [("contradicted", "sst2-run: 1,821 in test")]
    honest = "`sst2-run` reaches .9330 on test (95 % CI .921–.944, n = 1,821)."
    assert verdicts(tmp_path, honest) == ["supported"] * 3


def test_there_is_no_best_among_models_that_all_give_one_answer(tmp_path: Path) -> None:
    for name in ("lr-1", "lr-2", "lr-3"):
        collapsed(tmp_path, name)
    tried = "We tried `lr-1`, `lr-2` and `lr-3`."
    slip = f"{tried} The best accuracy, 66.7 %, is reached by `lr-2`."
    (_, number), (verdict, reason) = sorted(judged(tmp_path, slip), reverse=True)
    assert "66.7 % on test" in number
    assert verdict == "contradicted"
    assert "the same to the last bit: none of them is best" in reason


def test_a_victory_over_a_model_that_did_not_learn_is_open(tmp_path: Path) -> None:
    classifier(tmp_path, "bert", 55)
    collapsed(tmp_path, "roberta")
    ((verdict, reason),) = judged(tmp_path, "`bert` outperforms `roberta`.")
    assert verdict == "open"
    assert "roberta did not learn: it answers 'yes' to all 60 examples" in reason


def test_scores_on_different_test_sets_are_not_compared(tmp_path: Path) -> None:
    classifier(tmp_path, "small", 50)
    classifier(tmp_path, "other", 10, of=40)
    ((verdict, reason),) = judged(tmp_path, "`small` is better than `other`.")
    assert verdict == "open"
    assert "Scores on different sets are not compared" in reason


def test_a_score_on_rows_that_were_trained_on_is_open(tmp_path: Path) -> None:
    gold, predicted = answers(9, 10)
    texts = [f"row {i}" for i in range(10)]
    classifier_run(
        tmp_path / "runs", "lora", gold=gold, predicted=predicted, texts=texts, train=texts
    )
    ((verdict, reason),) = judged(tmp_path, "`lora` reaches a test accuracy of .9.")
    assert verdict == "open"
    assert "lora was trained on all rows of test: its score is memory, not skill" in reason
    honest = "`lora` reaches a test accuracy of .9 on rows that it has learned by heart."
    assert verdicts(tmp_path, honest) == ["supported"]


def test_an_optimizer_that_was_tried_at_anothers_learning_rate_only_is_open(
    tmp_path: Path,
) -> None:
    for name, right in (("sgd", 30), ("adamw", 55)):
        optimizer = {"name": name, "lr": 5e-5}
        classifier(tmp_path, f"{name}-run", right, model="bert", training={"optimizer": optimizer})
    ((verdict, reason),) = judged(tmp_path, "`sgd-run` is worse than `adamw-run`.")
    assert verdict == "open"
    assert "both optimizers had the same learning rate" in reason


def test_chance_and_the_most_common_class_are_told_apart(tmp_path: Path) -> None:
    run = collapsed(tmp_path, "dead")
    run.finish(run.record | {"classes": ["no", "yes"]})
    text = "`dead` reaches 66.7 %, the majority baseline is {} and chance is 50 %."
    assert verdicts(tmp_path, text.format("66.7 %")) == ["supported"] * 3
    assert verdicts(tmp_path, text.format("62.2 %")) == ["supported", "contradicted", "supported"]
    ((verdict, reason),) = judged(tmp_path, "`dead` is better than guessing.")
    assert (verdict, "dead did not learn" in reason) == ("contradicted", True)


def test_what_equals_the_baseline_does_not_beat_it(tmp_path: Path) -> None:
    gold = ["London"] * 6 + ["Oslo", "Paris", "Rome"] * 20
    predicted = ["Oslo"] * 6 + ["Oslo", "London", "London"] * 2 + ["London"] * 54
    predicted[9:13] = gold[9:13]
    run = classifier_run(tmp_path / "runs", "synth", gold=gold, predicted=predicted)
    score = run.record["scores"]["test"]
    score["baseline"] = {"name": "always London", "answer": "London", "value": 6 / 66, "right": 6}
    run.finish(run.record | {"scores": {"test": score}})
    assert verdicts(tmp_path, "`synth` beats the London baseline.") == ["contradicted"]


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("a learning rate of 125e-4", "a learning rate of 5e-5"),
        ("10 epochs", "20 epochs"),
        ("batch size 64", "batch size 32"),
        ("seed 1", "seed 0"),
    ],
)
def test_settings_that_a_run_did_not_have_are_corrected(
    tmp_path: Path, slip: str, right: str
) -> None:
    training = {"length": "20 epochs", "seed": 0, "optimizer": {"name": "adamw", "lr": 5e-5}}
    classifier(tmp_path, "tuned", 50, training=training, batch_size=32)
    word = "for" if "epochs" in slip else "with"
    assert verdicts(tmp_path, f"`tuned` was trained {word} {slip}.") == ["contradicted"]
    assert verdicts(tmp_path, f"`tuned` was trained {word} {right}.") == ["supported"]


def test_seeds_that_were_not_run_are_counted(tmp_path: Path) -> None:
    for seed, right in enumerate((40, 44, 48)):
        classifier(tmp_path, f"a-{seed}", right, model="a", training={"seed": seed})
    run = classifier(tmp_path, "b", 30)
    seal_again(run)
    cited = "`a-0`, `a-1` and `a-2`"
    assert (
        verdicts(tmp_path, f"Over 3 seeds, {cited} reach 73.3 % on average.") == ["supported"] * 2
    )
    assert (
        verdicts(tmp_path, f"Over 5 seeds, {cited} reach 73.3 % on average.")[0] == "contradicted"
    )
    assert verdicts(tmp_path, "Over 5 seeds, `b` reaches 50.0 %.") == ["open", "supported"]
