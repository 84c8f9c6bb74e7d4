"""A run is named wherever a command takes one; commands end with one to try next."""

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from records import answers, classifier_run, seal_again

from attnlab.cli.commands import app
from attnlab.cli.options import complete_run
from attnlab.cli.show import say_next_of
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.lookup import as_typed

Attnlab = Callable[..., tuple[int, str, str]]
ANSWER = {"prediction": "Oslo", "confidence": 0.5}


@pytest.fixture
def reader(tmp_path: Path) -> Run:
    return Run.begin("knowledge-pretrain", {}, RunPlace(tmp_path / "runs", "reader"))


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (["knowledge", "evaluate", "reader", "q.tsv"], "run"),
        (["knowledge", "evaluate", "runs/reader", "q.tsv"], "run"),
        (["knowledge", "finetune", "--start", "reader"], "start"),
        (["classify", "predict", "reader", "new.csv"], "run"),
        (["run", "classify-predict", "--set", "run=reader"], "run"),
    ],
)
def test_a_name_becomes_the_runs_path(
    attnlab: Attnlab, reader: Run, command: list[str], key: str
) -> None:
    code, out, err = attnlab(*command, "--settings")
    assert (code, err) == (0, "")
    assert f"{key}: {reader.path.resolve()}" in out


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    "command",
    [
        ["knowledge", "ask", "raeder", "Where?"],
        ["knowledge", "evaluate", "raeder", "q.tsv"],
        ["knowledge", "finetune", "q.tsv", "--start", "raeder"],
        ["classify", "predict", "raeder", "new.csv"],
        ["runs", "show", "raeder"],
        ["runs", "rm", "raeder"],
    ],
    ids=" ".join,
)
def test_a_wrong_name_suggests_the_nearest(
    attnlab: Attnlab, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "q.tsv").write_text("Where was Ada Lund born?\tOslo\n")
    (tmp_path / "new.csv").write_text("1,good\n")
    code, out, err = attnlab(*command)
    assert (code, out) == (2, "")
    assert "there is no run 'raeder' in " in err
    assert "Did you mean 'reader'?" in err


@pytest.mark.usefixtures("reader")
def test_the_shell_is_offered_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = typer.main.get_command(app)
    context = typer.Context(command)
    assert complete_run(context, "re") == ["reader"]
    context.params["runs"] = Path("elsewhere")
    assert complete_run(context, "re") == []


def test_a_run_is_typed_by_name_or_else_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_typed(reader.path) == "reader"
    monkeypatch.setenv("ATTNLAB_RUNS", str(tmp_path / "other"))
    assert as_typed(reader.path) == str(reader.path)


def test_a_report_of_several_runs_keeps_the_warnings_of_each(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    for name, right in (("weak", 20), ("strong", 33)):
        gold, predicted = answers(right, 40)
        run = classifier_run(tmp_path / "runs", name, gold=gold, predicted=predicted, split="dev")
        leak = {"largest_change": 0.5, "sentence": "token 3 moves"} if name == "weak" else None
        run.finish({**run.record, "best_step": 50, "chosen_on": "dev", "leak": leak})
    code, out, _ = attnlab("runs", "report", "weak", "strong", "--markdown")
    assert code == 0
    text = Path(out.strip()).read_text(encoding="utf-8")
    assert "# weak vs strong" in text
    assert "weak: it sees the future (token 3 moves)" in text
    assert "weak, strong: its step was chosen on dev, so this score is optimistic." in text


def test_the_table_of_jobs_says_what_to_try_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], reader: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    reader.finish({"scores": {}})
    say_next_of(reader)
    assert capfd.readouterr().out == ""  # not on a terminal
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "dumb")
    say_next_of(reader)
    assert 'Next: attnlab knowledge write reader "The"' in capfd.readouterr().out
    row = {"id": "1", "input": "Where was Ada born?", **ANSWER}
    reader.write_predictions("test", [row])
    seal_again(reader)
    say_next_of(reader)
    assert "Next: attnlab knowledge ask reader 'Where was Ada born?'" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("has_pairs", "wanted"),
    [
        (False, "classify predict mine --text 'it'\"'\"'s a film that one sees twice and'"),
        (True, "runs report mine"),
    ],
)
def test_a_classifier_is_tried_next_on_the_first_words_of_a_text(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    has_pairs: bool,
    wanted: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "dumb")
    run = Run.begin("classify-train", {}, RunPlace(tmp_path / "runs", "mine"))
    text = "it's a film that  one sees twice and then never again"
    run.write_predictions("dev", [{"id": "1", "input": text, **ANSWER}])
    run.finish({"scores": {}, "has_pairs": has_pairs})
    say_next_of(run)
    assert capfd.readouterr().out == f"Next: attnlab {wanted}\n"
