"""``attnlab runs list|rm|diff|compare`` on many runs, on a terminal of 80 columns and piped."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import flowing
from records import answers, classifier_run

from attnlab.errors import RunError
from attnlab.runs.directory import Run, RunPlace

Attnlab = Callable[..., tuple[int, str, str]]
LONG = "a-classifier-with-a-rather-long-name-that-nobody-would-type-1a2b3c4d"


@pytest.fixture
def terminal(attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch) -> Attnlab:
    """Return a function that runs a command on a terminal of 80 columns; colours are left out."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")

    def run(*arguments: str) -> tuple[int, str, str]:
        code, out, err = attnlab(*arguments)
        return code, re.sub(r"\x1b\[[0-9;]*m", "", out), err

    return run


def trained(root: Path, name: str, right: int = 33, *, lr: float = 3e-5) -> Run:
    gold, predicted = answers(right, 40)
    settings = {"model": "models/tinybert", "lr": lr, "seed": 0}
    return classifier_run(
        root / "runs", name, gold=gold, predicted=predicted, job="classify-train", settings=settings
    )


def study_of_two(root: Path) -> None:
    for name in ("a", "b"):
        trained_in(root / "runs" / "mine", name)
    content = {"title": "mine", "runs": ["a", "b"]}
    (root / "runs" / "mine" / "study.json").write_text(json.dumps(content), encoding="utf-8")


def trained_in(folder: Path, name: str) -> None:
    gold, predicted = answers(30, 40)
    classifier_run(folder, name, gold=gold, predicted=predicted)


def test_every_run_is_one_line_of_a_narrow_terminal(terminal: Attnlab, tmp_path: Path) -> None:
    trained(tmp_path, LONG)
    trained(tmp_path, "lr[red]1")
    code, out, err = terminal("runs", "list")
    assert (code, err) == (0, "")
    *lines, hint = out.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert all("test 82.5 % [68.1, 91.3]  finished" in line for line in lines[1:])
    assert any(line.startswith("lr[red]1") for line in lines)
    assert any(line.startswith("a-cl") and "…" in line for line in lines)
    assert hint.startswith("Next: attnlab runs show ")


def test_a_pipe_gets_whole_names_and_no_hint(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    trained(tmp_path, LONG)
    _, out, _ = attnlab("runs", "list")
    assert len(out.splitlines()) == 2
    assert out.splitlines()[1].startswith(f"{LONG}  ")
    assert out.splitlines()[1].endswith("  finished")
    assert re.search(r"\d %? \[[\d.]+, [\d.]+\]", out.splitlines()[1]), "the score is not cut"
    assert "Next:" not in out


def test_predictions_and_cells_are_shown_when_asked_for(attnlab: Attnlab, tmp_path: Path) -> None:
    trained(tmp_path, "reader")
    Run.begin("classify-predict", {"run": "reader"}, RunPlace(tmp_path / "runs", "asked"))
    study_of_two(tmp_path)
    names = [line.split()[0] for line in attnlab("runs", "list")[1].splitlines()[1:]]
    assert sorted(names) == ["mine", "reader"]
    assert "best of 2" in attnlab("runs", "list")[1]
    assert "asked" in attnlab("runs", "list", "--all")[1]
    assert "asked" in attnlab("runs", "list", "--filter", "job=classify-predict")[1]
    _, out, _ = attnlab("runs", "list", "mine")
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["mine", "a", "b"]
    assert "\n  a " in out


def test_a_classifiers_model_folder_is_left_alone(attnlab: Attnlab, tmp_path: Path) -> None:
    run = trained(tmp_path, "reader")
    (run.path / "model").mkdir()
    (run.path / "model" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    code, out, err = attnlab("runs", "list")
    assert (code, err, len(out.splitlines())) == (0, "", 2)


def test_runs_are_sorted_and_filtered(attnlab: Attnlab, tmp_path: Path) -> None:
    trained(tmp_path, "weak", 20, lr=3e-5)
    trained(tmp_path, "strong", 38, lr=5e-4)

    def names(*options: str) -> list[str]:
        code, out, _ = attnlab("runs", "list", "--json", *options)
        assert code == 0
        return [run["name"] for run in json.loads(out)]

    assert names("--sort", "score") == ["strong", "weak"]
    assert names("--sort", "name") == ["strong", "weak"]
    assert names("--filter", "lr=5e-4") == ["strong"]
    assert names("--filter", "model=tinybert", "--filter", "lr=0.00003") == ["weak"]
    assert names("--filter", "state=running") == []
    code, _, err = attnlab("runs", "list", "--filter", "lrr=1")
    assert code == 2
    assert "no run has 'lrr'. Did you mean 'lr'?" in err
    code, _, err = attnlab("runs", "list", "--sort", "size")
    assert code == 2
    assert "no order is called 'size'" in err


def test_a_run_that_a_process_works_on_is_running_and_not_removed(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    with Run.begin("job", {}, RunPlace(tmp_path / "runs", "going")) as run:
        assert "running" in attnlab("runs", "list")[1]
        code, _, err = attnlab("runs", "rm", "going", "--yes")
        assert code == 2
        assert "is working on runs/going" in err
        assert run.path.exists()
    assert attnlab("runs", "rm", "going", "--yes")[0] == 0
    assert not run.path.exists()


def test_a_failed_run_is_listed_as_failed_with_the_reason(
    terminal: Attnlab, tmp_path: Path
) -> None:
    trained(tmp_path, "good")
    Run.begin("job", {}, RunPlace(tmp_path / "runs", "stopped"))
    with (
        pytest.raises(RunError),
        Run.begin("job", {"lr": 9.0}, RunPlace(tmp_path / "runs", "bad")),
    ):
        raise RunError("the loss of step 7 is nan.")
    out = terminal("runs", "list", "--filter", "state=failed")[1]
    assert re.search(r"^bad .* failed$", out, re.MULTILINE)
    assert "bad failed: the loss of step 7 is nan." in out
    assert "stopped" not in out
    shown = flowing(terminal("runs", "show", "bad")[1])
    assert "state failed, begun reason the loss of step 7 is nan. failed at 20" in shown
    (line,) = json.loads(terminal("runs", "list", "--filter", "state=failed", "--json")[1])
    assert line["failure"]["kind"] == "RunError"


def test_a_study_with_a_failed_cell_has_failed(attnlab: Attnlab, tmp_path: Path) -> None:
    study_of_two(tmp_path)
    (tmp_path / "runs" / "mine" / "b" / "record.json").unlink()
    with pytest.raises(RunError), Run(tmp_path / "runs" / "mine" / "b"):
        raise RunError("the disk is full.")
    out = attnlab("runs", "list")[1]
    assert re.search(r"^mine .* 1 of 2 cells +failed$", out, re.MULTILINE)
    assert "mine/b failed: the disk is full." in out


def test_only_runs_are_removed_and_only_after_asking(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = trained(tmp_path, "reader"), trained(tmp_path, "other")
    (tmp_path / "photos").mkdir()
    code, _, err = attnlab("runs", "rm", "photos", "reader", "--yes")
    assert code == 2
    assert "photos is neither a run nor a study" in err
    assert run.path.exists()
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert attnlab("runs", "rm", "reader")[0] == 0
    assert run.path.exists()
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    assert attnlab("runs", "rm", "reader")[0] == 0
    assert not run.path.exists()
    assert other.path.exists()


def test_two_runs_are_told_apart(attnlab: Attnlab, tmp_path: Path) -> None:
    trained(tmp_path, "weak", 20, lr=3e-5)
    trained(tmp_path, "strong", 33, lr=5e-4)
    code, out, _ = attnlab("runs", "diff", "weak", "strong")
    assert code == 0
    assert "lr 3e-5 5e-4" in " ".join(out.split())
    assert "test 50.0 % [35.2, 64.8], n = 40 82.5 % [68.1, 91.3], n = 40" in " ".join(out.split())
    code, out, _ = attnlab("runs", "diff", "weak", "strong", "--json")
    assert json.loads(out)["settings"] == {"lr": [3e-5, 5e-4]}


def test_a_comparison_says_first_what_differs(attnlab: Attnlab, tmp_path: Path) -> None:
    trained(tmp_path, "weak", 20, lr=3e-5)
    trained(tmp_path, "strong", 33, lr=5e-4)
    _, out, _ = attnlab("runs", "compare", "weak", "strong")
    assert out.splitlines()[:2] == ["weak vs strong", "• lr 3e-5 → 5e-4"]


def test_thirty_runs_are_compared_on_one_screen(terminal: Attnlab, tmp_path: Path) -> None:
    names = [f"{LONG}-{number}" for number in range(30)]
    for number, name in enumerate(names[:-1]):
        trained(tmp_path, name, 39 - number, lr=1e-5 * (number + 1))
    gold, _ = answers(0, 40)
    classifier_run(
        tmp_path / "runs", names[-1], gold=gold, predicted=["yes"] * 40, job="classify-train",
        settings={"model": "models/tinybert", "lr": 1.0, "seed": 0},
    )  # fmt: skip
    code, out, err = terminal("runs", "compare", *names)
    assert (code, err) == (0, "")
    table = [line for line in out.splitlines() if line.startswith("a-c") and " %  " in line]
    assert len(table) == 30
    assert max(map(len, table)) <= 80
    heads = ["best ", "indistinguishable", "worse ", "did not learn"]
    places = [out.index(f"\n{head}") for head in heads]
    assert places == sorted(places)
    assert "exact McNemar), Holm's correction for 29" in " ".join(out.split())
    assert " is higher than " not in out
    _, out, _ = terminal("runs", "compare", *names[:5], "--all-pairs", "--json")
    assert len(json.loads(out)["pairs"]) == 10
    assert json.loads(out)["standings"][0]["group"] == "best"


def test_long_names_are_told_apart_and_numbers_stay_whole_at_80_columns(
    terminal: Attnlab, tmp_path: Path
) -> None:
    first, second = f"{LONG}-first", f"{LONG}-second"
    trained(tmp_path, first, 33)
    trained(tmp_path, second, 21, lr=5e-4)
    for command in ("compare", "diff"):
        out = terminal("runs", command, first, second)[1]
        table = [line for line in out.splitlines() if " %" in line and "points" not in line]
        assert max(map(len, table)) <= 80
        names = [line for line in out.splitlines() if "…" in line]
        assert any("-first " in line for line in names)
        assert any("-second" in line for line in names)
    assert re.search(r"test +82.5 % \[68.1, 91.3\], n = 40 +52.5 % \[37.5, 67.1\], n = 40", out)


def test_paths_are_told_apart_by_what_differs(terminal: Attnlab, tmp_path: Path) -> None:
    folder = "/data/of-a-department/with-many-people/sentiment"
    for name in ("one", "two"):
        settings = {"train": f"{folder}/{name}/sentences-for-training.tsv", "lr": 3e-5}
        Run.begin("classify-train", settings, RunPlace(tmp_path / "runs", name))
    out = terminal("runs", "diff", "one", "two")[1]
    assert re.search(r"^train +…/one/sent\S+ +…/two/sent\S+$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(("bad", "said"), [(3, 3), (5, 3)])
def test_many_runs_that_cannot_be_read_take_three_lines(
    attnlab: Attnlab, tmp_path: Path, bad: int, said: int
) -> None:
    trained(tmp_path, "good")
    for number in range(bad):
        run = trained(tmp_path, f"bad{number}")
        (run.path / "record.json").write_text("[]")
        run.path.rename(run.path.with_name(f"bad\n{number}"))  # an escaped line is one line
    code, out, err = attnlab("runs", "list")
    assert code == 0
    assert "good" in out
    assert len(err.splitlines()) == said
    assert "runs/bad\\n0/record.json" in err
    more = "… and 3 more; `attnlab runs check RUN` says what is wrong with one."
    assert (more in err) == (bad > said)
