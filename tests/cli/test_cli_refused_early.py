"""What can be refused is refused before anything is trained or written, in the user's words."""

from pathlib import Path

import pytest
from command_line import Attnlab

DEMO, EXTRACTION = ("knowledge", "demo"), ("knowledge", "extraction")
LENGTH = "is not possible: give a number above 0 and one of steps, epochs, tokens, seconds"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*DEMO, "--length", "x"), f"--length x: training.length = 'x' {LENGTH}"),
        (
            (*DEMO, "--set", "questions_length=x"),
            f"--set questions_length=x: questions_length = 'x' {LENGTH}",
        ),
        (
            (*EXTRACTION, "--set", "finetuning.length=x"),
            f"--set finetuning.length=x: finetuning.length = 'x' {LENGTH}",
        ),
        (
            (*EXTRACTION, "--set", "pretraining.optimizer.name=adamant"),
            "one-pretrained: no optimizer is called 'adamant'. Did you mean 'adam",
        ),
        (
            (*EXTRACTION, "--set", "finetuning.optimizer.name=adamw"),
            "finetuning.optimizer has no effect: each way of fine-tuning has its own.",
        ),
        (
            (*EXTRACTION, "--set", "finetuning.schedule.options.end=1"),
            "one-adamw-3e-4: schedule 'linear' has no option 'end'",
        ),
        (
            (*EXTRACTION, "--set", "finetuning.patience=2"),
            "one-adamw-3e-4: training.patience = 2 counts evaluations, but there are none",
        ),
    ],
)
def test_a_mistake_in_a_later_cell_leaves_no_study(
    attnlab: Attnlab, words: tuple[str, ...], message: str
) -> None:
    done = attnlab(*words)
    assert done.code == 2
    assert message in done.err
    assert list(Path().iterdir()) == []


BAD_OUTPUTS = [
    ("folder", "folder is a folder; give the name of a file."),
    ("nowhere/a.csv", "nowhere/a.csv: there is no folder nowhere."),
    ("file/a.csv", "file/a.csv: there is no folder file."),
    ("/dev/null", "/dev/null is not a plain file, and would be replaced by one."),
    ("x" * 300, "File name too long. Give another path."),
]
PATHS = {
    "predict": ("classify", "predict", "r", "texts.csv", "--outputs"),
    "predict a text": ("classify", "predict", "r", "--text", "a", "--outputs"),
    "evaluate": ("knowledge", "evaluate", "r", "q.tsv", "--outputs"),
}
FIGURES = {
    "ask": ("knowledge", "ask", "r", "Who?", "--show"),
    "cost": ("attention", "cost", "dot_product", "--out"),
    "solve": ("attention", "solve", "select", "--figure"),
}


@pytest.fixture
def folder(attnlab: Attnlab) -> Attnlab:
    Path("folder").mkdir()
    Path("folder.png").mkdir()
    Path("file").touch()
    return attnlab


@pytest.mark.parametrize(("path", "message"), BAD_OUTPUTS, ids=[p[:12] for p, _ in BAD_OUTPUTS])
@pytest.mark.parametrize("command", PATHS)
def test_answers_that_could_not_be_written_are_refused_first(
    folder: Attnlab, command: str, path: str, message: str
) -> None:
    before = sorted(Path().iterdir())
    done = folder(*PATHS[command], path)
    assert done.code == 2
    assert message in done.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("path", ["folder.png", "nowhere/a.png", "file/a.png"])
@pytest.mark.parametrize("command", FIGURES)
def test_a_figure_that_could_not_be_written_is_refused_first(
    folder: Attnlab, command: str, path: str
) -> None:
    done = folder(*FIGURES[command], path)
    assert done.code == 2
    assert "is a folder" in done.err or "there is no folder" in done.err
    assert done.out == ""


@pytest.mark.parametrize("path", ["file", "file/report"])
def test_a_report_that_could_not_be_written_is_refused_first(folder: Attnlab, path: str) -> None:
    (Path("runs") / "r").mkdir(parents=True)
    done = folder("runs", "report", "r", "--out", path)
    assert done.code == 2
    assert f"{path} cannot be a folder: " in done.err
    assert "file is a file." in done.err
