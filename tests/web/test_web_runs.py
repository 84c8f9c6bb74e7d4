"""The views of runs, as the server answers them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from attnlab.evaluation.comparison import compare
from attnlab.report.sections.comparison import comparison_json
from attnlab.runs.directory import Run


def got(client: TestClient, path: str, *, status: int = 200, **query: Any) -> Any:
    response = client.get(f"/api/runs{path}", params=query)
    assert response.status_code == status, response.text
    return response.json()


def texts(blocks: list[dict[str, Any]]) -> str:
    return json.dumps(blocks)


def test_the_list_has_every_run_and_study_with_its_score_and_state(client: TestClient) -> None:
    found = got(client, "")
    lines = {line["name"]: line for line in found["runs"]}
    assert set(lines) == {"reader", "guesser", "classes", "writer", "stopped", "failed", "study"}
    assert lines["reader"]["score_text"] == "test 83.3 % [72.0, 90.7]"
    assert (lines["stopped"]["state"], lines["stopped"]["progress"]) == (
        "stopped",
        "step 20 of 200",
    )
    assert lines["failed"]["failure"]["message"].startswith("RuntimeError: the loss is <script>")
    assert [cell["name"] for cell in lines["study"]["cells"]] == ["study/reader", "study/guesser"]
    assert found["problems"] == []


def test_the_list_of_an_empty_or_missing_folder_is_empty(client: TestClient, root: Path) -> None:
    shutil.rmtree(root)
    assert got(client, "")["runs"] == []


def test_the_list_is_read_once_however_many_look(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    monkeypatch.setattr("attnlab.web.runs.LIST_LASTS", 3600.0)
    monkeypatch.setattr("attnlab.web.runs.list_json", lambda root: reads.append(root) or {})
    assert [got(client, "") for _ in range(3)] == [{}, {}, {}]
    assert len(reads) == 1


def test_a_run_has_scores_classes_settings_and_splits(client: TestClient) -> None:
    run = got(client, "/detail", name="classes")
    assert run["kind"] == "run"
    assert run["scores"]["dev"]["n"] == 60
    tables = [block for block in run["details"] if block.get("shaded")]
    assert tables[0]["columns"] == ["true \\ predicted", "good", "bad", "so so"]
    assert sum(int(cell) for row in tables[0]["rows"] for cell in row[1:]) == 60
    assert "The surest mistakes on dev" in texts(run["details"])
    assert run["splits"] == ["dev"]


def test_an_unfinished_run_has_settings_and_no_scores(client: TestClient) -> None:
    run = got(client, "/detail", name="stopped")
    assert run["scores"] == {}
    assert ["steps", "200"] in run["made"][1]["rows"]


def test_a_cell_names_its_study_and_a_study_its_cells(client: TestClient) -> None:
    assert got(client, "/detail", name="study/reader")["study"] == "study"
    study = got(client, "/detail", name="study")
    assert (study["kind"], study["title"]) == ("study", "Readers & <b>guessers</b>")
    assert len(study["cells"]) == 2
    assert "reader" in texts(study["summary"])
    assert study["problem"] is None


def test_a_study_without_finished_runs_says_so(client: TestClient, root: Path) -> None:
    cells = [{"name": "a", "job": "classify-train"}]
    content = {"job": "classify-select", "format": 3, "runs": [], "cells": cells}
    (root / "young").mkdir()
    (root / "young" / "study.json").write_text(json.dumps(content))
    study = got(client, "/detail", name="young")
    assert "has no runs to compare yet" in study["problem"]
    assert study["waiting"] == ["a"]


def test_answers_come_page_by_page(client: TestClient) -> None:
    page = got(client, "/answers", name="reader", split="test", start=50, count=20)
    assert (page["n"], page["n_wrong"], len(page["rows"])) == (60, 10, 10)
    wrong = got(client, "/answers", name="reader", split="test", only_wrong=True, count=3)
    assert (wrong["n_shown"], len(wrong["rows"])) == (10, 3)
    assert all(row["gold"] != row["prediction"] for row in wrong["rows"])
    losses = got(client, "/answers", name="writer", split="dev")
    assert losses["n_wrong"] is None
    assert losses["rows"][0]["loss"] == 0.5


def test_a_comparison_is_that_of_the_command_line(client: TestClient, root: Path) -> None:
    found = got(client, "/compare", run=["reader", "guesser"])
    blocks = found.pop("blocks")
    runs = [Run.open(root / name) for name in ("reader", "guesser")]
    assert found == json.loads(json.dumps(comparison_json(compare(runs, all_pairs=False))))
    assert found["pairs"][0]["verdict"] in texts(blocks).replace("\\u2009", "\u2009")


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"run": ["reader"]}, 422, "at least 2 items"),
        ({"run": ["reader", "reader"]}, 400, "given more than once"),
        ({"run": ["reader", "stopped"]}, 400, "is not finished"),
        ({"run": ["reader", "writer"]}, 400, ""),
        ({"run": ["reader", "nobody"]}, 404, "there is no run 'nobody'"),
        ({"run": ["reader", "guesser"], "metric": "beauty"}, 400, "beauty"),
        ({"run": ["reader", "guesser"], "split": "../x"}, 400, "../x"),
        ({"run": ["reader", "study"]}, 400, "is not a run directory"),
    ],
)
def test_a_comparison_that_is_not_possible_says_why(
    client: TestClient, query: dict[str, Any], status: int, words: str
) -> None:
    assert words in got(client, "/compare", status=status, **query)["error"]


OUTSIDE = [
    *("..", "../runs", "../runs/reader", "./reader", "reader/", "reader/.", "/", "", "."),
    *("study/../reader", "..%2Freader", "reader\x00", "\\..\\reader", "C:\\reader", "READER"),
    *("study//reader", "reader/predictions", "~", "é" * 200),
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_is_not_in_the_list_is_no_run(client: TestClient, name: str) -> None:
    for path, more in (("/detail", {}), ("/events", {}), ("/answers", {"split": "test"})):
        assert "there is no run" in got(client, path, status=404, name=name, **more)["error"]


def test_an_absolute_path_is_no_run(client: TestClient, root: Path) -> None:
    told = got(client, "/detail", status=404, name=str(root / "reader"))["error"]
    assert "there is no run" in told


@pytest.mark.parametrize("split", ["../../reader/predictions/test", "nothing", "", "test.jsonl"])
def test_a_split_that_the_run_does_not_have_is_refused(client: TestClient, split: str) -> None:
    told = got(client, "/answers", status=400, name="reader", split=split)["error"]
    assert "has no predictions on" in told


def test_a_link_out_of_the_folder_is_not_followed(
    client: TestClient, root: Path, tmp_path: Path
) -> None:
    shutil.move(root / "reader", tmp_path / "elsewhere")
    (root / "reader").symlink_to(tmp_path / "elsewhere")
    metrics = root / "stopped" / "metrics.jsonl"
    shutil.move(metrics, tmp_path / "log")
    metrics.symlink_to(tmp_path / "log")
    for name in ("reader", "stopped"):
        for path in ("/detail", "/events"):
            told = got(client, path, status=400, name=name)["error"]
            assert "is a link that leads out of" in told
    found = got(client, "")
    assert not {"reader", "stopped"} & {line["name"] for line in found["runs"]}
    assert len(found["problems"]) == 2


def test_a_link_inside_the_folder_is_followed(client: TestClient, root: Path) -> None:
    (root / "again").symlink_to(root / "reader")
    assert got(client, "/detail", name="again")["scores"]["test"]["n"] == 60


def test_a_link_to_itself_is_a_sentence(client: TestClient, root: Path) -> None:
    (root / "writer" / "loop").symlink_to("loop")
    assert "leads out of" in got(client, "/detail", status=400, name="writer")["error"]


def test_a_run_that_was_removed_is_a_sentence(client: TestClient, root: Path) -> None:
    got(client, "/detail", name="reader")
    shutil.rmtree(root / "reader")
    assert "there is no run 'reader'" in got(client, "/detail", status=404, name="reader")["error"]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (FileNotFoundError(2, "No such file", "a/record.json"), 404, "a/record.json was removed"),
        (PermissionError(13, "Permission denied", "a/record.json"), 409, "Permission denied"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    error: OSError,
    status: int,
    words: str,
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr("attnlab.web.pages.run_line", fails)
    assert words in got(client, "/detail", status=status, name="reader")["error"]


def test_a_damaged_run_is_a_sentence(client: TestClient, root: Path) -> None:
    (root / "reader" / "record.json").write_text("{")
    assert "is not what the run wrote" in got(client, "/detail", status=400, name="reader")["error"]
    assert any("is not what the run wrote" in line for line in got(client, "")["problems"])


def test_damage_is_seen_although_the_page_was_kept(client: TestClient, root: Path) -> None:
    got(client, "/detail", name="reader")
    config = root / "reader" / "config.json"
    config.write_text(config.read_text() + " ")
    assert "is not what the run wrote" in got(client, "/detail", status=400, name="reader")["error"]


def test_a_run_of_another_version_is_a_sentence(client: TestClient, root: Path) -> None:
    config = json.loads((root / "stopped" / "config.json").read_text())
    (root / "stopped" / "config.json").write_text(json.dumps(config | {"format": 99}))
    told = got(client, "/detail", status=400, name="stopped")["error"]
    assert "was made by another version of attnlab" in told


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({}, "name of the query: Field required."),
        ({"name": "x" * 501}, "name of the query: String should have at most 500 characters."),
        ({"name": "reader", "split": "test", "start": -1}, "start of the query"),
        ({"name": "reader", "split": "test", "count": 10**30}, "count of the query"),
    ],
)
def test_a_field_that_is_wrong_is_named(
    client: TestClient, query: dict[str, Any], words: str
) -> None:
    assert words in got(client, "/answers", status=422, **query)["error"]


def test_an_address_that_is_not_there_is_a_sentence(client: TestClient) -> None:
    for path in ("/nothing", "/../app.py", "/%2e%2e/app.py", "/views/../../app.py"):
        refused = client.get(path)
        assert (refused.status_code, refused.json()) == (404, {"error": "there is no such page."})
