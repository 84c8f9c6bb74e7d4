"""Reports: numbers from the records, nothing from outside, every figure also as a file."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from records import answers, classifier_run, perplexity_run, seal_again

from attnlab.errors import UserError
from attnlab.recipes.reporting import report_on
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.metrics import MetricsFile


def make_run(root: Path, name: str, right: int, *, lr: float = 0.1) -> Run:
    gold, predicted = answers(right, 40)
    settings = {"lr": lr, "note": "<b>&"}
    run = classifier_run(root, name, gold=gold, predicted=predicted, settings=settings)
    metrics = MetricsFile(run.path / "metrics.jsonl", keep=0)
    for step in range(1, 30):
        metrics.append({"step": step, "loss": 3 / step})
        if step % 10 == 0:
            metrics.append({"step": step, "dev_accuracy": 0.5, "train_accuracy": 0.7})
    metrics.close()
    seal_again(run)
    return run


class Outside(HTMLParser):
    """Collects what a page would fetch or execute."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "iframe", "img", "object"):
            self.found.append(tag)
        for name, value in attrs:
            fetches = name in ("src", "href", "xlink:href", "action", "poster", "srcset")
            if fetches and value and not value.startswith("#"):
                self.found.append(f"{name}={value}")


def test_a_report_of_one_run_is_self_contained_and_complete(tmp_path: Path) -> None:
    run = make_run(tmp_path, "mine", 33)
    page = report_on([run.path], None, as_markdown=False)
    assert page == run.path / "report" / "report.html"
    text = page.read_text(encoding="utf-8")
    assert len(text) < 2_000_000
    outside = Outside()
    outside.feed(text)
    assert outside.found == []
    assert "url(http" not in text
    for part in (
        "82.5 %",
        "68.1 % – 91.3 %",
        "always yes",
        "exact McNemar",
        "No row stands in two",
    ):
        assert part in text, part
    assert "&lt;b&gt;&amp;" in text
    assert re.findall(r"<svg[^>]*>", text)
    assert text.count("<svg") == 2, "for a desk and for a phone"
    for kind in ("png", "svg"):
        assert (page.parent / "figures" / f"curves.{kind}").stat().st_size > 1000


def test_ids_of_inline_figures_do_not_clash(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, "a", 20), make_run(tmp_path, "b", 33, lr=0.2)]
    page = report_on([run.path for run in runs], tmp_path / "out", as_markdown=False)
    ids = re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))
    used = re.findall(r"url\(#([^)]+)\)", page.read_text(encoding="utf-8"))
    assert set(used) <= set(ids)


def test_a_report_of_several_runs_states_the_verdicts(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, "weak", 20), make_run(tmp_path, "strong", 33, lr=0.2)]
    page = report_on([run.path for run in runs], tmp_path / "out", as_markdown=False)
    text = page.read_text(encoding="utf-8")
    assert "strong is higher than weak by 32.5 points" in text
    assert "13 of 40 examples are answered differently." in text
    assert (page.parent / "figures" / "scores.png").exists()


def test_a_model_that_did_not_learn_is_warned_of(tmp_path: Path) -> None:
    gold, _ = answers(1, 40)
    run = classifier_run(tmp_path, "dead", gold=gold, predicted=["yes"] * 40)
    text = report_on([run.path], None, as_markdown=False).read_text(encoding="utf-8")
    assert 'class="warning"' in text
    assert "did not learn: it answers &#x27;yes&#x27; to all 40 examples" in text


def test_markdown_has_the_same_numbers_and_names_its_figures(tmp_path: Path) -> None:
    run = make_run(tmp_path, "mine", 33)
    page = report_on([run.path], tmp_path / "out", as_markdown=True)
    text = page.read_text(encoding="utf-8")
    assert page.name == "report.md"
    assert "| test | accuracy | 82.5 % | 68.1 % – 91.3 % | 40 |" in text
    for figure in re.findall(r"!\[.*\]\((.*)\)", text):
        assert (page.parent / figure).exists()


def test_a_study_names_its_runs(tmp_path: Path) -> None:
    make_run(tmp_path, "a", 20)
    make_run(tmp_path, "b", 33, lr=0.2)
    study = {"title": "Two learning rates", "notes": ["Mind <this>."], "runs": ["a", "b"]}
    (tmp_path / "study.json").write_text(json.dumps(study))
    text = report_on([tmp_path], None, as_markdown=True).read_text(encoding="utf-8")
    assert text.startswith("# Two learning rates")
    assert "Mind" in text[: text.index("Results")], "notes come first"
    page = report_on([tmp_path], None, as_markdown=False).read_text(encoding="utf-8")
    assert "Mind &lt;this&gt;." in page


def test_runs_without_answers_to_show_are_reported_all_the_same(tmp_path: Path) -> None:
    run = perplexity_run(tmp_path, "model", [50.0, 52.0])
    text = report_on([run.path], None, as_markdown=True).read_text(encoding="utf-8")
    assert "perplexity" in text


@pytest.mark.parametrize(
    ("study", "message"),
    [({"runs": []}, "has no runs to compare yet"), ({"runs": "a"}, "must name its runs in a list")],
    ids=["empty", "no list"],
)
def test_a_study_that_cannot_be_is_refused(
    study: dict[str, object], message: str, tmp_path: Path
) -> None:
    (tmp_path / "study.json").write_text(json.dumps(study))
    with pytest.raises(UserError, match=message):
        report_on([tmp_path], None, as_markdown=False)
    assert not (tmp_path / "report").exists()


def test_runs_that_cannot_be_told_of_are_refused(tmp_path: Path) -> None:
    begun = Run.begin("classify", {"x": 1}, RunPlace(tmp_path, "begun"))
    with pytest.raises(UserError, match="the run begun is not finished"):
        report_on([begun.path], None, as_markdown=False)
    bare = Run.begin("classify", {"x": 2}, RunPlace(tmp_path, "bare"))
    run = make_run(tmp_path, "mine", 33)
    bare.finish({"scores": run.record["scores"]})
    with pytest.raises(UserError, match="the run bare has no score with stored predictions"):
        report_on([bare.path], None, as_markdown=False)
    with pytest.raises(UserError, match="the run mine is given more than once"):
        report_on([run.path, run.path], None, as_markdown=False)
