"""The yelp course's handout holds no solution, says what is to do, and trains once it is done."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from course_files import ROOT, YELP, exit_code, forget, load
from grading.yelp import by_hand
from markers import filled

from small_bert import write_reviews, write_small_bert

handout = load("handout.py", course=ROOT / "courses")
SOLUTIONS = (
    "solution>", "self.bert.first(", "nn.Linear(config.d_model, num_labels)", "is_chosen",
    "F.linear(", "from mlm_utils import mask_tokens", "F.cross_entropy(",
)  # fmt: skip
TEACHERS = {"grade.py"}
"""What a student does not get."""
FLAGS = [
    *("--model_name_or_path", "bert", "--data_dir", "reviews", "--do_train", "--do_eval"),
    *("--learning_rate", "3e-3", "--num_train_epochs", "4", "--max_seq_length", "16"),
    *("--evaluate_during_training", "--logging_steps", "2"),
]
JOINT = ["--train_data_file", "reviews/unlabeled.txt", "--block_size", "16", "--line_by_line"]
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    handout.write(YELP, tmp_path / "ada")
    return tmp_path / "ada"


def solve(folder: Path, *problems: str) -> None:
    """Put a student's answers to some problems in the place of the lines that fail."""
    answers = {
        start: text if start.startswith(problems) else f'raise NotImplementedError("{start}")'
        for start, text in by_hand.ANSWERS.items()
    }
    for file in folder.glob("*.py"):
        file.write_text(filled(file.read_text(encoding="utf-8"), answers), encoding="utf-8")


def test_the_folder_holds_what_the_list_names_and_nothing_else(ada: Path) -> None:
    there = {str(path.relative_to(ada)) for path in ada.rglob("*") if path.is_file()}
    assert there == set(tomllib.loads((YELP / "handout.toml").read_text(encoding="utf-8")))
    assert {path.name for path in YELP.glob("*.py")} - TEACHERS == {
        name for name in there if name.endswith(".py")
    }


def test_no_solution_is_handed_out(ada: Path) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ada.glob("*.py"))
    ours = "".join(path.read_text(encoding="utf-8") for path in YELP.glob("*.py"))
    assert [words for words in SOLUTIONS if words in code] == []
    assert [words for words in SOLUTIONS if words not in ours] == [], "the test looks for nothing"
    places = {"2, mymodel": 2, "3, 1(a), mymodel": 3, "3, 1(b), classifier_mlm": 1}
    for place, n in places.items():
        assert code.count(f'raise NotImplementedError("Problem {place}.py: ') == n


@pytest.fixture
def run(
    ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Return what runs `python COMMAND.py WORDS` in a folder with a model and reviews."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ada))
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")

    def go(command: str, *words: str) -> tuple[int, str]:
        forget()
        monkeypatch.setattr(sys, "argv", [f"{command}.py", *FLAGS, *words])
        return exit_code(importlib.import_module(command)), capsys.readouterr().err

    yield go
    forget()


def test_a_command_says_what_is_not_written_yet(run: Run, ada: Path) -> None:
    code, said = run("classifier", "--output_dir", "out")
    assert code == 2
    assert "mymodel.py, line " in said
    assert "is not written yet: Problem 2, mymodel.py: make a dropout of config.dropout" in said
    solve(ada, "Problem 2")
    assert run("classifier", "--output_dir", "out")[0] == 0
    code, said = run("classifier_mlm", *JOINT, "--output_dir", "joint")
    assert code == 2
    assert "classifier_mlm.py, line " in said
    assert "is not written yet: Problem 3, 1(b), classifier_mlm.py" in said


@pytest.mark.slow
def test_what_a_student_writes_into_the_handout_trains_is_packed_and_graded(
    ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve(ada, "Problem")
    monkeypatch.chdir(ada)
    write_small_bert(tmp_path / "bert")
    unlabelled = write_reviews(ada / "data") / "unlabeled.txt"
    unlabelled.rename(unlabelled.with_name("unlabeled_train_50000.txt"))
    Path("assets.yaml").write_text(f"huawei-noah/TinyBERT_General_4L_312D: {tmp_path / 'bert'}\n")
    Path("report.md").write_text("My report.")
    commands = re.findall(r"```bash\n(.*?)```", Path("README.md").read_text(), re.DOTALL)[0]
    Path("run.sh").write_text(commands.replace("NAME", "ada"))
    small = {"MAX_LENGTH": "16", "MLM_BLOCK": "16", "CLS_LR": "1e-2", "CLS_EPOCHS": "8"}
    here = str(Path(sys.executable).parent)
    for name, value in {
        **small, "FEW_EPOCHS": "8", "ATTNLAB_ASSETS": "assets.yaml",
        "PATH": f"{here}:{os.environ['PATH']}",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    done = subprocess.run(["bash", "-e", "run.sh"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    grader = [sys.executable, str(YELP / "grade.py"), "assignment_ada.zip", "--accuracy", "0.2"]
    labels = ["--labels", "data/test.csv", "--json"]
    graded = subprocess.run([*grader, *labels], capture_output=True, text=True)
    (report,) = json.loads(graded.stdout)
    points = {part["name"]: part["points"] for part in report["parts"]}
    assert [points[name] for name in ("2 code", "3.1(a)", "3.1(b)", "3 joint")] == [12, 8, 6, 6]
    failed = [f["check"] for p in report["parts"] for f in p["findings"] if not f["passed"]]
    assert all(check.endswith("not collapsed") for check in failed), "so few steps teach little"
