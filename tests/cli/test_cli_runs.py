"""``attnlab runs``: what there is, and what one of them is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from records import answers, classifier_run

from attnlab.runs.directory import Run, RunPlace

Attnlab = Callable[..., tuple[int, str, str]]

SCORE = {
    "metric": "accuracy",
    "value": 0.75,
    "right": 3,
    "n": 4,
    "interval": [0.3, 0.95],
    "baseline": {"name": "always Oslo", "answer": "Oslo", "value": 0.25, "right": 1},
}
RECORD = {"scores": {"test": SCORE}}


@pytest.fixture
def finished(tmp_path: Path) -> Run:
    run = Run.begin("job", {"seed": 3}, RunPlace(tmp_path / "runs", "done"))
    run.finish(RECORD)
    return run


@pytest.fixture
def begun(tmp_path: Path) -> Run:
    return Run.begin("job", {"seed": 4}, RunPlace(tmp_path / "runs", "going"))


def test_where_there_are_no_runs_the_list_says_so(attnlab: Attnlab) -> None:
    assert attnlab("runs", "list") == (0, "no runs in runs.\n", "")
    assert attnlab("runs", "list", "--json") == (0, "[]\n", "")


@pytest.mark.usefixtures("finished", "begun")
def test_the_list_shows_every_run(attnlab: Attnlab) -> None:
    code, out, err = attnlab("runs", "list")
    assert (code, err) == (0, "")
    assert "done 0s job – test 75.0 % [30.0, 95.0] finished" in " ".join(out.split())
    assert "going 0s job – begun stopped" in " ".join(out.split())
    assert "\x1b" not in out


@pytest.mark.usefixtures("finished", "begun")
def test_the_list_as_json_holds_name_job_and_settings(attnlab: Attnlab) -> None:
    code, out, err = attnlab("runs", "list", "--json")
    assert (code, err) == (0, "")
    done, going = sorted(json.loads(out), key=lambda run: str(run["name"]))
    assert (done["name"], done["job"], done["settings"]) == ("done", "job", {"seed": 3})
    assert (done["state"], done["split"], done["score"]) == ("finished", "test", SCORE)
    assert (going["state"], going["progress"], "score" in going) == ("stopped", "begun", False)


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_damaged_run_is_told_and_the_others_listed(
    attnlab: Attnlab, begun: Run, form: list[str]
) -> None:
    (begun.path / "config.json").write_text("{", encoding="utf-8")
    code, out, err = attnlab("runs", "list", *form)
    assert code == 0
    assert "done" in out
    assert "going" not in out
    assert err.startswith("attnlab: runs/going/config.json:1 is not JSON")


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("record.json", "{"),
        ("record.json", "{}"),
        ("metrics.jsonl", "nonsense\n"),
        ("config.json", '{"format": 3, "job": "job", "settings": {}, "resolved": []}'),
    ],
    ids=["torn record", "record without scores", "torn metrics", "resolved is a list"],
)
def test_a_run_damaged_elsewhere_does_not_hide_the_others(
    attnlab: Attnlab, begun: Run, name: str, content: str
) -> None:
    (begun.path / name).write_text(content, encoding="utf-8")
    code, out, err = attnlab("runs", "list")
    assert code == 0
    assert "done" in out
    assert f"runs/going/{name}" in err
    assert len(err.splitlines()) == 1


def test_a_run_is_shown_by_name_and_by_path(attnlab: Attnlab, finished: Run) -> None:
    code, by_name, err = attnlab("runs", "show", "done")
    assert (code, err) == (0, "")
    assert {"finished", "75.0", "seed"} <= set(by_name.split())
    code, by_path, _ = attnlab("runs", "show", str(finished.path))
    assert code == 0
    assert "75.0" in by_path


def test_a_run_is_shown_as_json(attnlab: Attnlab, finished: Run, begun: Run) -> None:
    code, out, err = attnlab("runs", "show", finished.name, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"config": finished.config, "record": RECORD}
    code, out, _ = attnlab("runs", "show", begun.name, "--json")
    assert code == 0
    assert json.loads(out) == {"config": begun.config, "record": None}


def test_a_study_is_shown_as_its_runs_and_as_json(
    attnlab: Attnlab, tmp_path: Path, finished: Run
) -> None:
    study = {"title": "mine", "runs": [finished.name]}
    (tmp_path / "runs" / "study.json").write_text(json.dumps(study))
    code, out, err = attnlab("runs", "show", "runs")
    assert (code, err) == (0, "")
    assert finished.name in out
    code, out, err = attnlab("runs", "show", "runs", "--json")
    assert (code, json.loads(out), err) == (0, study, "")


def test_an_unfinished_run_is_shown_without_scores(attnlab: Attnlab, begun: Run) -> None:
    code, out, _ = attnlab("runs", "show", begun.name)
    assert code == 0
    assert "begun" in out
    assert "guessing" not in out


def test_a_run_in_another_folder_is_found(attnlab: Attnlab, tmp_path: Path) -> None:
    Run.begin("job", {}, RunPlace(tmp_path / "other", "there"))
    assert attnlab("runs", "show", "there", "--runs", "other")[0] == 0
    assert attnlab("runs", "show", "there")[0] == 2


def test_a_missing_run_is_named(attnlab: Attnlab) -> None:
    assert attnlab("runs", "show", "nothing") == (
        2,
        "",
        "attnlab: there is no run 'nothing' in runs."
        " `attnlab runs list` lists the existing ones.\n",
    )


def test_a_folder_that_is_no_run_is_refused(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    expected = "attnlab: photos is not a run directory: it has no config.json.\n"
    assert attnlab("runs", "show", "photos") == (2, "", expected)


def test_a_run_without_a_name_to_show_is_a_users_mistake(attnlab: Attnlab) -> None:
    code, out, err = attnlab("runs", "show")
    assert (code, out) == (2, "")
    assert "missing argument 'run'" in err.lower()


def two_runs(root: Path) -> None:
    for name, right in (("weak", 20), ("strong", 33)):
        gold, predicted = answers(right, 40)
        classifier_run(root / "runs", name, gold=gold, predicted=predicted)


def test_runs_are_compared_as_text_and_as_json(attnlab: Attnlab, tmp_path: Path) -> None:
    two_runs(tmp_path)
    code, out, err = attnlab("runs", "compare", "weak", "strong")
    assert (code, err) == (0, "")
    assert "strong is higher than weak by 32.5 points" in out
    code, out, _ = attnlab("runs", "compare", "weak", "strong", "--json")
    assert code == 0
    assert json.loads(out)["pairs"][0]["difference"] == pytest.approx(0.325)


def test_runs_are_compared_by_the_metric_that_is_asked_for(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    two_runs(tmp_path)
    code, out, err = attnlab("runs", "compare", "weak", "strong", "--metric", "f1")
    assert (code, err) == (0, "")
    assert "macro F1 on test, n = 40" in out
    assert "paired permutation" in out
    code, out, err = attnlab("runs", "compare", "weak", "strong", "--metric", "perplexity")
    assert (code, out) == (2, "")
    assert "the run weak has no perplexity on 'test': its predictions have no column" in err
    code, out, err = attnlab("runs", "compare", "weak", "strong", "--metric", "recall")
    assert (code, out) == (2, "")
    assert (
        "no metric is called 'recall'. Known: accuracy, bits_per_character, f1, perplexity." in err
    )


@pytest.mark.parametrize("names", [["weak"], ["weak", "weak"], ["weak", "nobody"]])
def test_a_comparison_that_cannot_be_is_refused(
    attnlab: Attnlab, tmp_path: Path, names: list[str]
) -> None:
    two_runs(tmp_path)
    code, out, err = attnlab("runs", "compare", *names)
    assert (code, out) == (2, "")
    assert "at least two different runs" in err or "there is no run 'nobody' in runs" in err


def test_a_report_is_written_where_it_says(attnlab: Attnlab, tmp_path: Path) -> None:
    two_runs(tmp_path)
    code, out, err = attnlab("runs", "report", "weak", "strong", "--out", "page")
    assert (code, out, err) == (0, "page/report.html\n", "")
    assert (tmp_path / "page" / "report.html").exists()
