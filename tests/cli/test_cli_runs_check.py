"""``attnlab runs check``: the files of runs, and the claims of a report about them."""

import json
from pathlib import Path

import pytest
from command_line import Attnlab, flowing
from records import answers, classifier_run

from attnlab.runs.directory import Run


@pytest.fixture
def strong(tmp_path: Path) -> Run:
    gold, predicted = answers(52, 60)
    return classifier_run(tmp_path / "runs", "strong", gold=gold, predicted=predicted)


@pytest.mark.usefixtures("strong")
def test_a_report_is_checked_claim_by_claim(attnlab: Attnlab) -> None:
    Path("report.md").write_text("# Mine\n\n`strong` reaches 86.7 %\nand has an F1 of 0.95.\n")
    code, out, err = attnlab("runs", "check", "report.md")
    assert code == 1
    said = flowing(out)
    assert "line the report says verdict the runs say" in said
    assert "supported strong: 86.7 % on test" in said
    assert "contradicted strong: 85.6 % on test" in said
    assert said.endswith("2 claims: 1 supported, 1 contradicted, 0 open.")
    assert err == "attnlab: report.md: 1 claim is contradicted by the runs.\n"


@pytest.mark.usefixtures("strong")
def test_a_report_without_a_wrong_claim_passes(attnlab: Attnlab) -> None:
    Path("REPORT.MD").write_text("`strong` reaches 86.7 %.")
    code, out, err = attnlab("runs", "check", "REPORT.MD")
    assert (code, err) == (0, "")
    assert "1 claim: 1 supported, 0 contradicted, 0 open." in out


@pytest.mark.usefixtures("strong")
def test_runs_and_reports_are_checked_together_as_json(attnlab: Attnlab) -> None:
    Path("report.md").write_text("`strong` reaches 12.3 %.")
    code, out, err = attnlab("runs", "check", "strong", "report.md", "--json")
    files, claims = json.loads(out)
    assert files == {"run": "runs/strong", "problems": []}
    assert claims == {
        "report": "report.md",
        "claims": [
            {
                "line": 1,
                "text": "`strong` reaches 12.3 %.",
                "runs": ["strong"],
                "verdict": "contradicted",
                "reason": "strong: 86.7 % on test",
            }
        ],
    }
    assert (code, "1 claim is contradicted" in err) == (1, True)


def test_a_changed_file_is_named(attnlab: Attnlab, strong: Run) -> None:
    assert attnlab("runs", "check", "strong").out == (
        "runs/strong: every file is as it was written\n"
    )
    predictions = strong.path / "predictions" / "test.jsonl"
    predictions.write_bytes(predictions.read_bytes().replace(b"yes", b"no", 1))
    code, out, err = attnlab("runs", "check", "strong")
    assert (code, "predictions/test.jsonl" in out) == (1, True)
    assert "not as written." in err


@pytest.mark.usefixtures("strong")
def test_a_report_that_is_missing_is_a_users_mistake(attnlab: Attnlab) -> None:
    code, out, err = attnlab("runs", "check", "nowhere.md")
    assert (code, out) == (2, "")
    assert "nowhere.md" in err


def test_a_run_may_be_called_like_a_report(attnlab: Attnlab, tmp_path: Path) -> None:
    gold, predicted = answers(3, 6)
    classifier_run(tmp_path / "runs", "notes.md", gold=gold, predicted=predicted)
    assert "every file is as it was written" in attnlab("runs", "check", "notes.md").out
