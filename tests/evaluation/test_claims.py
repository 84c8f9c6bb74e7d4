"""What a report says of runs: a text in, a verdict for every claim out."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from records import answers, classifier_run, text_run

from attnlab.errors import UserError
from attnlab.evaluation.claims.check import check_report
from attnlab.recipes.reporting import report_on
from attnlab.runs.directory import Run


def run(root: Path, name: str, right: int, **settings: object) -> Run:
    gold, predicted = answers(right, 60)
    return classifier_run(
        root / "runs", name, gold=gold, predicted=predicted, settings={"model": name, **settings}
    )


@pytest.fixture
def weak_near_strong(tmp_path: Path) -> Path:
    """Return a folder with three runs: 30, 50 and 52 of 60 are right."""
    for name, right in (("weak", 30), ("near", 50), ("strong", 52)):
        training = {"seed": 0, "length": "10 epochs", "optimizer": {"name": "adamw", "lr": 5e-5}}
        run(tmp_path, name, right, training=training, batch_size=32)
    return tmp_path


def claims(folder: Path, text: str) -> list[tuple[int, str, str]]:
    report = folder / "report.md"
    report.write_text(text, encoding="utf-8")
    return [(one.line, one.verdict, one.reason) for one in check_report(report, folder / "runs")]


def verdicts(folder: Path, text: str) -> list[str]:
    return [verdict for _, verdict, _ in claims(folder, text)]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("`strong` reaches 86.7 %.", "supported"),
        ("`strong` reaches 86.6 %.", "contradicted"),
        ("The accuracy of `strong` is 0.867.", "supported"),
        ("`strong` has a test accuracy of 0.8667.", "supported"),
        ("`strong` has a test accuracy of 0.8677.", "contradicted"),
        ("**strong** reaches about 85 % accuracy.", "supported"),
        ("`strong` reaches over 90 % accuracy.", "contradicted"),
        ("`strong` reaches at least 80 % accuracy.", "supported"),
        ("The accuracy of `strong` exceeds 90 %.", "contradicted"),
        ("`strong` has a macro F1 of 0.856.", "supported"),
        ("`strong` has a macro F1 of 0.95.", "contradicted"),
        ("`strong` reaches a dev accuracy of 86.7 %.", "contradicted"),
        ("`strong` was evaluated on 60 examples.", "supported"),
        ("`strong` was evaluated on 600 examples.", "contradicted"),
        ("`strong` has a perplexity of 5.31.", "open"),
        ("[The large one](../runs/strong/report/report.html) reaches 86.7 %.", "supported"),
        ("[The large one](runs/strong) reaches 50.0 %.", "contradicted"),
    ],
)
def test_a_number_is_held_against_the_run_that_is_cited(
    weak_near_strong: Path, said: str, verdict: str
) -> None:
    assert verdicts(weak_near_strong, said) == [verdict]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("`strong` is better than `weak`.", "supported"),
        ("`weak` is better than `strong`.", "contradicted"),
        ("Compared with `weak`, `strong` has a higher accuracy.", "supported"),
        ("`weak` has a lower accuracy than `strong`.", "supported"),
        ("`strong` outperforms `near`.", "open"),
        ("`near` beats `strong`.", "contradicted"),
        ("The small one (`weak`) exceeds the large one (`strong`).", "contradicted"),
        ("While `weak` was trained alike, `near` is better.", "supported"),
        ("`strong` was trained alike, while `weak` is better.", "contradicted"),
        ("`strong` is significantly better than `near`.", "contradicted"),
        ("`strong` is significantly better than `weak`.", "open"),
        ("`strong` is not significantly better than `near`.", "supported"),
        ("`strong` is not better than `weak`.", "contradicted"),
        ("There is no difference between `strong` and `near`.", "supported"),
        ("There is no difference between `strong` and `weak`.", "contradicted"),
        ("`near` and `strong` do not differ significantly.", "supported"),
        ("`weak` and `strong` are significantly different.", "supported"),
        ("`strong` is better than always giving one answer, the baseline.", "supported"),
        ("`weak` beats the majority baseline.", "contradicted"),
    ],
)
def test_a_comparison_is_held_against_the_paired_test(
    weak_near_strong: Path, said: str, verdict: str
) -> None:
    assert verdicts(weak_near_strong, said) == [verdict]


def test_the_best_of_all_that_are_cited(weak_near_strong: Path) -> None:
    cited = "We trained `weak` and `near`. "
    assert verdicts(weak_near_strong, f"{cited}`near` is the best.") == ["supported"]
    assert verdicts(weak_near_strong, f"{cited}`weak` performs best.") == ["contradicted"]
    ((_, verdict, reason),) = claims(weak_near_strong, f"{cited}`strong` is the best.")
    assert (verdict, "not distinguishable from near" in reason) == ("open", True)
    assert verdicts(weak_near_strong, f"{cited}Our best model is `weak`.") == ["contradicted"]
    assert verdicts(weak_near_strong, "`weak` reaches its best accuracy of 50.0 %.") == [
        "supported"
    ]


def test_several_runs_are_each_compared_with_the_other(weak_near_strong: Path) -> None:
    text = "`near` and `strong` are better than `weak`."
    assert verdicts(weak_near_strong, text) == ["supported"] * 2
    text = "`weak` is worse than `near` and `strong`."
    assert verdicts(weak_near_strong, text) == ["supported"] * 2


def test_by_how_much_and_with_which_p(weak_near_strong: Path) -> None:
    right = "`strong` outperforms `weak` by 36.7 points (p < 0.001)."
    assert verdicts(weak_near_strong, right) == ["supported"] * 3
    wrong = "`strong` outperforms `weak` by 40 points (p = 0.2)."
    assert verdicts(weak_near_strong, wrong) == ["supported", "contradicted", "contradicted"]


def test_an_interval_as_attnlab_writes_it_is_no_score(weak_near_strong: Path) -> None:
    """Recorded is 75.8 to 93.1; the level, 95 %, is neither a score nor part of an interval."""
    right = "`strong` has an accuracy of 86.7 % (95 %: 75.8 % – 93.1 %)."
    assert verdicts(weak_near_strong, right) == ["supported"] * 2
    other = "`strong` has an accuracy of 86.7 % (95 %: 70.0 % – 99.0 %)."
    assert verdicts(weak_near_strong, other) == ["supported", "open"]
    signed = "`strong` has a higher accuracy than `weak` (95 %: +25.0 to +48.3)."
    assert verdicts(weak_near_strong, signed) == ["supported"]


def test_the_score_of_a_file_that_was_trained_on_may_be_called_that(tmp_path: Path) -> None:
    gold, predicted = answers(52, 60)
    texts = [f"example {i}" for i in range(60)]
    for name, train in (("seen", texts), ("new", None)):
        classifier_run(
            tmp_path / "runs", name, gold=gold, predicted=predicted, split="a-file", train=train
        )
    said = "On the training rows, `{}` has an accuracy of 86.7 %."
    assert verdicts(tmp_path, said.format("seen")) == ["supported"]
    assert verdicts(tmp_path, said.format("new")) == ["contradicted"]
    assert verdicts(tmp_path, "`seen` has an accuracy of 86.7 %.") == ["open"]


@pytest.mark.parametrize(
    "text",
    [
        "`weak` and `strong` reach 50.0 % and 86.7 %.",
        "`weak` reaches 50.0 %, `strong` 86.7 %.",
        "The accuracy is 86.7 % for `strong` and 50.0 % for `weak`.",
        "`strong` (86.7 %) and `weak` (50.0 %) were trained alike.",
        "The accuracy drops from 86.7 % (`strong`) to 50.0 % (`weak`).",
        "The accuracies of `weak` and `strong` are 0.5 and 0.867.",
    ],
)
def test_two_numbers_that_are_swapped_are_both_wrong(weak_near_strong: Path, text: str) -> None:
    assert verdicts(weak_near_strong, text) == ["supported"] * 2
    swapped = text.replace("`weak`", "#").replace("`strong`", "`weak`").replace("#", "`strong`")
    assert verdicts(weak_near_strong, swapped) == ["contradicted"] * 2


def test_tables_are_read_by_row_and_by_column(weak_near_strong: Path) -> None:
    by_row = """
| run | test accuracy (%) | n | learning rate |
|:--|--:|--:|--:|
| weak | 50.0 | 60 | 5e-5 |
| strong | **86.9** | 60 | 5e-4 |
| a model of others | 99.9 | 1 | 1 |
"""
    found = claims(weak_near_strong, by_row)
    wrong = [(line, reason) for line, verdict, reason in found if verdict == "contradicted"]
    assert len(found) == 6
    assert wrong == [(5, "strong: 86.7 % on test"), (5, "strong: training.optimizer.lr 5e-5")]
    by_column = "| | weak | strong |\n|---|---|---|\n| accuracy | 50.0 % | 50.0 % |\n"
    assert verdicts(weak_near_strong, by_column) == ["supported", "contradicted"]


def test_a_sentence_is_about_the_runs_cited_before_it(weak_near_strong: Path) -> None:
    text = """# The one called `strong`

It reaches 86.7 %.

## The other

`weak` was trained alike.
Its accuracy
is 50.0 %, and the accuracy of `strong` is 86.0 %.
"""
    found = claims(weak_near_strong, text)
    assert [(line, verdict) for line, verdict, _ in found] == [
        (3, "supported"),
        (9, "supported"),
        (9, "contradicted"),
    ]


QUIET = """---
title: accuracy 12.3 %
date: 2026-11-17
---
# Report 3, version 2.13.0 <!-- accuracy 12.3 % -->

See Figure 3 and Table 2 of Section 4.1 for `strong` (17 November 2026, GPT-2, BERT-base).
After 3 epochs and 200 steps the accuracy was still low. Devlin et al. report an accuracy of 92.3 %.
10 % of the texts are long. We sampled with temperature 0.7 and top-p 0.9 and 95 % confidence.
Would `weak` be better than `strong`? We expected `weak` to be better than `strong`.
If its accuracy were 99.9 %, `weak` would be better. Perplexity (lower is better) is not reported.

```
attnlab runs compare weak strong  # accuracy 99.9 %, weak is better than strong
```

A better understanding is needed, `weak` is in the table below, see https://example.org/accuracy/99.9.
Between 80 % and 90 % are usual. `attnlab runs show strong --accuracy 99.9` prints it.
"""


def test_what_claims_nothing_is_left_alone(weak_near_strong: Path) -> None:
    assert claims(weak_near_strong, QUIET) == []


HONEST = """# Three models

We fine-tuned `weak`, `near` and `strong` with AdamW (lr 5e-5, batch size 32, 2 cores), once each.

- `weak`: accuracy 50.0 %, F1 0.486.
- `near`: accuracy 83.3 % (95 % CI 72.0–90.7), 3.3 points lower than `strong`.
- **strong**: accuracy 86.7 % ± 4.4.

The error rate of `strong` is 13.3 %; it is wrong on 8 examples of 60, `near` on 10.
`strong` gains 36.7 points over `weak` (p < 0.001), and the improvement is large.
The higher learning rate (5e-4) was unstable. A larger model is needed.
Compared to `weak`, both `near` and `strong` perform better, and `near` is as good as `strong`.
The difference between `near` and `strong` is not significant (p = 0.5).
While `weak` reaches 50.0 %, `strong` reaches 86.7 % and `near` 83.3 %.
`weak` is no better than a coin. `weak`, a copy of `strong` with fewer layers, reaches 50.0 %.
The three models score 50.0 %, 83.3 % and 86.7 %. The accuracy is above 80 % for `near`.

| model | acc. | Δ | lr |
|---|---|---|---|
| `weak` | 50.0 | – | 5e-5 |
| `near` | 83.3 | +33.3 | 5e-5 |
"""


def test_nothing_in_an_honest_report_is_contradicted(weak_near_strong: Path) -> None:
    found = verdicts(weak_near_strong, HONEST)
    assert found.count("contradicted") == 0
    assert found.count("supported") >= 24
    assert found.count("open") == 1  # that one is 3.3 points lower


def test_nothing_in_a_report_of_ours_is_contradicted(weak_near_strong: Path) -> None:
    runs = [weak_near_strong / "runs" / name for name in ("weak", "strong")]
    page = report_on(runs, weak_near_strong / "page", as_markdown=True)
    text = page.read_text(encoding="utf-8") + "\n`weak` and `strong` were asked 8 samples.\n"
    settings = "| what | value |\n|---|---|\n| samples | 8 |\n| model.table.rows | 131072 |\n"
    found = verdicts(weak_near_strong, text + "\n" + settings)
    assert found.count("supported") == 2
    assert "contradicted" not in found


@pytest.mark.parametrize("changed", [0, 1], ids=["even", "odd"])
def test_every_score_of_an_honest_report_that_is_changed_is_contradicted(
    weak_near_strong: Path, changed: int
) -> None:
    """Every other one is changed, so that a sentence holds right and wrong numbers."""
    scores = re.compile(r"(?<![\d.+])(?:50\.0|83\.3|86\.7|36\.7|0\.486)(?=\D)")
    places = list(scores.finditer(HONEST))
    assert len(places) == 14
    text, lines = HONEST, []
    for place in places[changed::2]:
        wrong = f"{float(place[0]) * 1.1:.{len(place[0].partition('.')[2])}f}"
        text = text[: place.start()] + wrong + text[place.end() :]
        assert len(text) == len(HONEST)
        lines.append(HONEST[: place.start()].count("\n") + 1)
    found = [
        line for line, verdict, _ in claims(weak_near_strong, text) if verdict == "contradicted"
    ]
    assert found == lines


def test_a_plain_word_is_a_name_only_where_it_is_marked(weak_near_strong: Path) -> None:
    text = "`near` is a run. A strong model near 12.3 % is weak."
    assert claims(weak_near_strong, text) == []


def test_conditions_of_a_study_are_cited_by_name(tmp_path: Path) -> None:
    study = tmp_path / "runs" / "ablation"
    for condition, losses in (("plain", 23.0), ("cosine", 20.0)):
        for seed in range(3):
            windows = [losses + i % 4 + seed / 10 for i in range(30)]
            own = {"attention": condition, "training": {"seed": seed}}
            text_run(study, f"{condition}-seed-{seed}", windows, settings=own)
    names = [f"{condition}-seed-{seed}" for condition in ("plain", "cosine") for seed in range(3)]
    (study / "study.json").write_text(json.dumps({"title": "t", "runs": names}), encoding="utf-8")
    text = "In `ablation`, `cosine` has a lower perplexity than `plain` over {} seeds."
    assert verdicts(tmp_path, text.format(3)) == ["supported"] * 2
    assert verdicts(tmp_path, text.format("5")) == ["contradicted", "supported"]
    mean = "`ablation/cosine` reaches a mean perplexity of {} (`cosine-seed-0`: 8.53)."
    assert verdicts(tmp_path, mean.format("8.61")) == ["supported"] * 2
    assert verdicts(tmp_path, mean.format("8.70")) == ["contradicted", "supported"]


def test_a_name_of_two_studies_must_be_told_apart(tmp_path: Path) -> None:
    for study in ("one", "two"):
        run(tmp_path / "runs", "x-1", 30)
        (tmp_path / "runs" / "runs").rename(tmp_path / "runs" / study)
        (tmp_path / "runs" / study / "study.json").write_text('{"runs": ["x-1"]}')
    ((_, verdict, reason),) = claims(tmp_path, "`x-1` reaches 50.0 %.")
    assert (verdict, reason) == (
        "open",
        "x-1 may be one of one/x-1, two/x-1: cite it as STUDY/NAME",
    )
    assert verdicts(tmp_path, "`two/x-1` reaches 50.0 %.") == ["supported"]
    assert verdicts(tmp_path, "In `two`, `x-1` reaches 50.0 %.") == ["supported"]


def test_a_run_that_does_not_exist_is_named(weak_near_strong: Path) -> None:
    text = "`weak` and `classify-train-0123abcd` and [this](runs/strang) are runs."
    found = claims(weak_near_strong, text)
    assert [verdict for _, verdict, _ in found] == ["open"] * 2
    assert "is called 'classify-train-0123abcd'" in found[0][2]
    assert "is called 'strang'. Did you mean 'strong'?" in found[1][2]


def test_a_report_that_cites_nothing_is_refused(weak_near_strong: Path) -> None:
    with pytest.raises(UserError, match=r"report\.md cites no run of .*Known: near, strong, weak"):
        claims(weak_near_strong, "A strong model reaches 86.7 % accuracy.")
    report = weak_near_strong / "report.md"
    report.write_text("`classify-train-0123abcd` reaches 86.7 %.")
    with pytest.raises(UserError, match=r"cites no run of .*nowhere.*Known: none"):
        check_report(report, weak_near_strong / "nowhere")


@pytest.mark.parametrize(
    "text",
    ["`" * 20_000, "[" * 20_000, " " * 50_000, "1" * 20_000, "1," * 20_000, "|a" * 9 + "\n|-|\n|"],
    ids=["ticks", "brackets", "spaces", "digits", "commas", "table"],
)
def test_a_hostile_text_is_read_like_any_other(weak_near_strong: Path, text: str) -> None:
    """Patterns that try every length of a run of characters would not come to an end here."""
    assert verdicts(weak_near_strong, f"`strong` reaches 86.7 %.\n\n{text}") == ["supported"]


def test_an_unfinished_run_leaves_everything_open(weak_near_strong: Path) -> None:
    (weak_near_strong / "runs" / "weak" / "record.json").unlink()
    text = "`weak` reaches 50.0 %. `strong` is better than `weak`."
    assert verdicts(weak_near_strong, text) == ["open"] * 2


@settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    digits=st.integers(0, 4),
    in_percent=st.booleans(),
    change=st.integers(-400, 400).filter(bool),
    name=st.sampled_from(["weak", "near", "strong"]),
)
def test_a_supported_number_that_is_changed_is_contradicted(
    weak_near_strong: Path, digits: int, in_percent: bool, change: int, name: str
) -> None:
    value = {"weak": 30, "near": 50, "strong": 52}[name] / 60
    scale, unit = (100, " %") if in_percent else (1, "")
    decimals = digits + (0 if in_percent else 2)
    right = round(value * scale, decimals)
    wrong = round(right + change * 10**-decimals, decimals)
    assume(0 <= wrong <= scale and abs(wrong - value * scale) > 0.51 * 10**-decimals)
    text = f"`{name}` has an accuracy of {{:.{decimals}f}}{unit}."
    assert verdicts(weak_near_strong, text.format(right)) == ["supported"]
    assert verdicts(weak_near_strong, text.format(wrong)) == ["contradicted"]
