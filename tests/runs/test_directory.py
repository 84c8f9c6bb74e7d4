"""One run, one folder: begun, continued, finished, or refused."""

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attnlab.errors import BusyError, DamagedFileError, RunError, StoppedError, UserError
from attnlab.runs import files, folders
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.folders import run_name
from attnlab.runs.listing import list_runs
from attnlab.runs.lock import hold

SETTINGS: dict[str, Any] = {"model": {"width": 12}, "seed": 3}


def begin(root: Path, settings: dict[str, Any] = SETTINGS, name: str | None = None) -> Run:
    return Run.begin("job", settings, RunPlace(root, name))


def test_a_new_run_holds_its_job_and_settings_and_nothing_else(tmp_path: Path) -> None:
    run = begin(tmp_path / "runs")
    assert run.config == {"format": 3, "job": "job", "settings": SETTINGS, "resolved": {}}
    assert not run.finished
    assert run.metrics() == []
    assert [path.name for path in run.path.parent.iterdir()] == [run.name]
    assert {path.name for path in run.path.iterdir()} == {"config.json", ".lock"}


def test_a_run_without_a_name_is_called_after_job_and_settings(tmp_path: Path) -> None:
    name = begin(tmp_path).name
    job, _, digits = name.rpartition("-")
    assert job == "job"
    assert len(digits) == 8
    assert int(digits, 16) >= 0
    assert run_name("job", dict(reversed(SETTINGS.items()))) == name
    assert run_name("job", {**SETTINGS, "seed": 4}) != name
    assert run_name("work", SETTINGS) == f"work-{digits}"


def test_the_name_of_a_run_stays_the_same_over_versions() -> None:
    """Another way of hashing would begin every stopped run anew."""
    digest = hashlib.sha256(b'{"a":{"x":null},"b":[1,0.5]}').hexdigest()
    assert run_name("job", {"b": [1, 0.5], "a": {"x": None}}) == f"job-{digest[:8]}"


def test_the_same_settings_go_on_with_the_same_run(tmp_path: Path) -> None:
    first = begin(tmp_path)
    first.resolve_once("steps", lambda: 7)
    again = begin(tmp_path)
    assert again.path == first.path
    assert again.config["resolved"] == {"steps": 7}


def test_settings_that_json_writes_alike_are_the_same(tmp_path: Path) -> None:
    begin(tmp_path, {"betas": (0.9, 0.95)}, "mine")
    assert begin(tmp_path, {"betas": [0.9, 0.95]}, "mine").name == "mine"


def test_a_finished_run_is_found_with_its_record(tmp_path: Path) -> None:
    score = {"metric": "accuracy", "value": 0.5, "n": 4, "interval": [0.2, 0.8]}
    begin(tmp_path).finish({"scores": {"test": score}})
    again = begin(tmp_path)
    assert again.finished
    assert again.record == {"scores": {"test": score}}


@pytest.mark.parametrize(
    ("job", "settings", "difference"),
    [
        ("job", {"model": {"width": 15}, "seed": 3}, r"model.width: 12 there, 15 now"),
        ("job", {"model": {"width": 12}}, r"seed: 3 there, None now"),
        ("job", {**SETTINGS, "new": "x"}, r"new: None there, 'x' now"),
        ("work", SETTINGS, r"job: 'job' there, 'work' now"),
    ],
    ids=["another value", "one fewer", "one more", "another job"],
)
def test_other_settings_under_one_name_are_refused_with_the_difference(
    tmp_path: Path, job: str, settings: dict[str, Any], difference: str
) -> None:
    run = begin(tmp_path, name="mine")
    before = (run.path / "config.json").read_bytes()
    with pytest.raises(
        UserError,
        match=rf"^the run {run.path} exists with other settings \({difference}\)\."
        r" Choose another --name, or delete that folder\.$",
    ):
        Run.begin(job, settings, RunPlace(tmp_path, "mine"))
    assert (run.path / "config.json").read_bytes() == before


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "/etc", ".hidden", "a\0b"])
def test_a_name_that_is_no_plain_folder_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"^--name .* is not possible: it must be a plain folder"):
        begin(tmp_path / "runs", name=name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_too_long_for_the_disk_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^--name 'x+' is not possible"):
        begin(tmp_path, name="x" * 300)


@pytest.mark.parametrize("name", ["a", "run 1", "Zoë", "a.b-c_d", "-"])
def test_a_plain_name_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    assert begin(tmp_path, name=name).path == tmp_path / name


def test_a_runs_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("", encoding="utf-8")
    with pytest.raises(
        UserError, match=rf"^--runs {tmp_path}/runs is not possible: .* not a folder"
    ):
        begin(tmp_path / "runs", name="mine")


def die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt  # stands for a kill: nothing of ours catches it


def write_half_and_die(path: Path, content: bytes) -> None:
    path.write_bytes(content[: len(content) // 2])
    raise KeyboardInterrupt


KILLS_WHILE_MADE = [
    pytest.param(folders, "hold", die, id="as an empty folder"),
    pytest.param(folders, "replace_file", die, id="with its lock alone"),
    pytest.param(files, "write_synced", write_half_and_die, id="half written"),
    pytest.param(Path, "replace", die, id="written and not renamed"),
]


@pytest.mark.parametrize(("owner", "name", "kill"), KILLS_WHILE_MADE)
def test_a_kill_while_a_run_is_made_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, kill: object
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, kill)
        with pytest.raises(KeyboardInterrupt):
            begin(tmp_path, name="mine")
    assert list_runs(tmp_path) == ([], [])
    assert Run.find("job", SETTINGS, RunPlace(tmp_path, "mine")) is None
    run = begin(tmp_path, name="mine")
    assert run.is_new
    assert run.config["settings"] == SETTINGS
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert {path.name for path in run.path.iterdir()} == {"config.json", ".lock"}


def test_a_folder_with_a_users_file_is_never_taken_for_a_leftover(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in (".config.json.tmp", "notes.txt"):
        (tmp_path / "mine" / name).write_text("mine")
    with pytest.raises(UserError, match=r"mine is not a run directory: it has no config\.json"):
        begin(tmp_path, name="mine")
    assert len(list((tmp_path / "mine").iterdir())) == 2


def test_a_run_that_another_process_is_making_is_not_made_twice(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with hold(tmp_path / "mine"), pytest.raises(BusyError, match="is working on"):
        begin(tmp_path, name="mine")
    assert begin(tmp_path, name="mine").is_new


def test_a_kill_while_a_run_is_removed_leaves_no_half_and_goes_with_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(tmp_path, name="mine")
    with monkeypatch.context() as patch:
        patch.setattr(folders.shutil, "rmtree", lambda path, **_: path.exists() and die())
        with pytest.raises(KeyboardInterrupt):
            run.discard_if_untouched()
    assert not run.path.exists()
    assert len(list(tmp_path.iterdir())) == 1, "what is being removed has another name"
    begin(tmp_path, name="other")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_an_earlier_version_left_half_made_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    for name, file in ((".mine.99.tmp", "config.json"), (".cat.7.tmp", "cat.jpg")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{")
    begin(tmp_path, name="mine")
    assert {path.name for path in tmp_path.iterdir()} == {".cat.7.tmp", "mine"}


def test_a_missing_run_is_named_with_the_command_that_lists_them(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=rf"^there is no run 'x' in {tmp_path}\. `attnlab runs list` lists the"
    ):
        Run.open(tmp_path / "x")


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_no_run_directory_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "photos"
    if kind == "folder":
        path.mkdir()
        (path / "cat.jpg").write_bytes(b"")
    else:
        path.write_bytes(b"")
    with pytest.raises(
        UserError, match=rf"^{path} is not a run directory: it has no config.json\.$"
    ):
        Run.open(path)


def test_a_folder_that_is_no_run_is_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(UserError, match=r"mine is not a run directory"):
        begin(tmp_path, name="mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_config_without_its_parts_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"format": 3, "job": "x"}', encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"config.json lacks settings, resolved\. Restore"):
        Run.open(tmp_path)


@pytest.mark.parametrize(
    ("there", "message"),
    [
        (None, r"mine was made by an earlier version of attnlab, .* \(format 1, now 3\)\. Run its"),
        (4, r"mine was made by another version of attnlab, .* \(format 4, now 3\)\."),
    ],
    ids=["before", "later"],
)
def test_a_run_that_was_kept_differently_is_refused(
    tmp_path: Path, there: int | None, message: str
) -> None:
    run = begin(tmp_path, name="mine")
    config = {**run.config, "format": there}
    if there is None:
        del config["format"]
    (run.path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for look in (lambda: Run.open(run.path), lambda: begin(tmp_path, name="mine")):
        with pytest.raises(UserError, match=message):
            look()


def test_hashes_of_rows_are_kept_by_split(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.write_rows("train", ["00ff", "ff00"])
    assert run.rows("train") == ["00ff", "ff00"]
    assert (run.path / "rows" / "train.txt").read_text() == "00ff\nff00\n"
    assert run.rows("dev") == []


def test_an_auto_is_decided_once_and_written_down(tmp_path: Path) -> None:
    run = begin(tmp_path)
    assert run.resolve_once("threads", lambda: 2) == 2
    assert run.resolve_once("threads", lambda: pytest.fail("decided twice")) == 2
    assert Run.open(run.path).resolve_once("threads", lambda: 4) == 2
    assert run.resolve_once("device", lambda: "cpu") == "cpu"
    assert run.config == {
        "format": 3,
        "job": "job",
        "settings": SETTINGS,
        "resolved": {"threads": 2, "device": "cpu"},
    }


def test_an_auto_that_cannot_be_decided_is_not_written_down(tmp_path: Path) -> None:
    run = begin(tmp_path)

    def fail() -> None:
        raise UserError("no such device")

    with pytest.raises(UserError, match="no such device"):
        run.resolve_once("device", fail)
    assert run.config["resolved"] == {}


def test_predictions_come_back_in_their_order(tmp_path: Path) -> None:
    run = begin(tmp_path)
    answer = {"input": "?", "prediction": "Oslo", "confidence": 0.5}
    rows = [{"id": "Zoë", "gold": "Oslo\n", **answer}, {"id": "Ada", "gold": "\u2028", **answer}]
    run.write_predictions("dev", rows)
    run.write_predictions("test", rows[:1])
    run.write_predictions("test", iter(rows[1:]))
    assert run.predictions("dev") == rows
    assert run.predictions("test") == rows[1:]
    assert sorted(p.name for p in (run.path / "predictions").iterdir()) == [
        "dev.jsonl",
        "test.jsonl",
    ]


def test_missing_predictions_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^the run mine has no predictions on 'test' \(.*jsonl\)\.$"
    ):
        begin(tmp_path, name="mine").predictions("test")


def test_metrics_are_read_from_the_log(tmp_path: Path) -> None:
    run = begin(tmp_path)
    (run.path / "metrics.jsonl").write_text('{"step": 1}\n{"ste', encoding="utf-8")
    assert run.metrics() == [{"step": 1}]


def test_a_new_run_that_holds_nothing_but_its_request_can_be_taken_back(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with run:
        run.resolve_once("steps", lambda: 7)
        run.discard_if_untouched()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_there_before_is_not_taken_back(tmp_path: Path) -> None:
    begin(tmp_path)
    again = begin(tmp_path)
    again.discard_if_untouched()
    assert again.path.exists()


@pytest.mark.parametrize("name", ["metrics.jsonl", "notes.txt", "checkpoints"])
def test_a_run_that_holds_more_is_not_taken_back(tmp_path: Path, name: str) -> None:
    run = begin(tmp_path)
    (run.path / name).mkdir()
    run.discard_if_untouched()
    assert {path.name for path in run.path.iterdir()} == {"config.json", ".lock", name}


HOLD = """
import sys
from pathlib import Path
from attnlab.runs.directory import Run
with Run.open(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_process_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            with (
                pytest.raises(
                    UserError,
                    match=rf"^process {other.pid} is working on {run.path}\. Wait for it, stop it",
                ),
                run,
            ):
                pytest.fail("two processes hold one run")
        finally:
            other.kill()
    with run:  # a killed process holds nothing
        assert (run.path / ".lock").read_text(encoding="utf-8") == str(os.getpid())


def test_a_run_that_was_let_go_can_be_held_again(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with (
        run,
        pytest.raises(UserError, match=rf"^process {os.getpid()} is working on"),
        begin(tmp_path),
    ):
        pytest.fail("held twice")
    with begin(tmp_path) as again:
        assert again.path == run.path


@pytest.mark.parametrize(
    ("metric", "edit"),
    [
        ("accuracy", {"value": 99.0}),
        ("accuracy", {"value": math.nan}),
        ("accuracy", {"value": -0.1}),
        ("f1", {"interval": [0.5, 1.5]}),
        ("f1", {"interval": [math.nan, 0.5]}),
        ("accuracy", {"n": -1}),
        ("accuracy", {"n": 2.5}),
        ("perplexity", {"value": math.nan}),
        ("perplexity", {"value": -3.0}),
    ],
)
def test_an_impossible_score_is_named(tmp_path: Path, metric: str, edit: dict[str, Any]) -> None:
    run = Run.begin("job", {}, RunPlace(tmp_path, "edited"))
    score = {"metric": metric, "value": 0.5, "n": 10, "interval": [0.2, 0.8]}
    (run.path / "record.json").write_text(json.dumps({"scores": {"test": score}}))
    assert run.record["scores"]["test"] == score
    (run.path / "record.json").write_text(json.dumps({"scores": {"test": {**score, **edit}}}))
    with pytest.raises(DamagedFileError, match=r"record\.json(: scores\.test| is not JSON: NaN)"):
        _ = run.record


def test_a_perplexity_may_be_above_1(tmp_path: Path) -> None:
    run = Run.begin("job", {}, RunPlace(tmp_path, "text"))
    score = {"metric": "perplexity", "value": 42.0, "n": 10, "interval": [30.0, 60.0]}
    run.finish({"scores": {"held_out_text": score}})
    assert run.record["scores"]["held_out_text"] == score


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RunError("the disk is full."), "the disk is full."),
        (KeyError("mask"), "KeyError: 'mask'"),
    ],
)
def test_a_failure_is_noted_until_the_run_is_taken_up_again(
    tmp_path: Path, error: Exception, message: str
) -> None:
    run = begin(tmp_path)
    with pytest.raises(type(error)), run:
        raise error
    assert run.failure is not None
    assert (run.failure["kind"], run.failure["message"]) == (type(error).__name__, message)
    assert run.is_untouched
    with run:
        assert run.failure is None
    assert run.failure is None


@pytest.mark.parametrize(
    "error",
    [StoppedError("stopped.", signal_number=2), UserError("no such file."), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_a_signal_or_a_users_mistake_is_no_failure(tmp_path: Path, error: BaseException) -> None:
    run = begin(tmp_path)
    with pytest.raises(type(error)), run:
        raise error
    assert run.failure is None


def test_a_failure_that_cannot_be_noted_does_not_hide_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise RunError("cannot write failure.json")

    run = begin(tmp_path)
    monkeypatch.setattr("attnlab.runs.directory.replace_file", full)
    with pytest.raises(RunError, match="the disk is full"), run:
        raise RunError("the disk is full.")
    assert run.failure is None


def test_a_finished_run_has_not_failed(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with pytest.raises(RunError), run:
        raise RunError("the disk is full.")
    run.finish({"scores": {}})
    assert run.failure is None
