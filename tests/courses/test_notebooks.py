"""The courses' notebooks are what their sources give, and run from top to bottom."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbclient
import nbformat
import pytest

from attnlab.recipes.attention.check import check_file

ROOT = Path(__file__).parents[2]
ATTENTION = ROOT / "courses" / "attention"

# the kernel talks over loopback; zmq warns about its own event loop on some systems
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def run_notebook(path: Path) -> list[str]:
    """Execute every cell and return what each wrote."""
    notebook: Any = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


@pytest.mark.slow  # `make check` asks the same
def test_the_notebooks_are_what_their_sources_give() -> None:
    done = subprocess.run(
        [sys.executable, "courses/build.py", "check"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_solutions_by_hand_are_right_and_say_what_the_usual_answers_are_worth() -> None:
    coloured = "".join(run_notebook(ATTENTION / "A2S1.ipynb"))  # as in any kernel
    printed = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    for exercise in ("1.2.1", "1.2.2", "1.3.1", "1.3.2", "1.4.1", "1.4.2"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"{exercise}:")]
        assert line.endswith("right")
    for said in (
        "unequal: error 1 with S·k0, 0 with the best direction",
        "S = 3.9: error 0.0021",
        "S = 10: error 0.0058",
        "q = 5·(k0 + k1): error 0.118",
        "Your answer 10*(k0+k1)",
        "All weight on token 3: never",
    ):
        assert said in printed


def test_the_students_version_by_hand_runs_says_what_is_to_do_and_holds_no_solution() -> None:
    path = ATTENTION / "A2S1_student.ipynb"
    printed = "".join(run_notebook(path))
    todo = [line for line in printed.splitlines() if line.startswith("still to do")]
    assert [line.split()[3] for line in todo] == [
        "1.2.1", "1.2.2", "1.3.1", "1.3.2", "1.3.2", "1.3.2",
    ]  # fmt: skip
    assert "error" not in printed.partition("Usage:")[0]
    text = jupytext.writes(jupytext.read(path), fmt="py:percent")
    for solution in ("1e6", "torch.zeros(K", "q.norm()", "K[0] + K[1]", "convex", "<sol"):
        assert solution not in text
    assert text.count("TODO: your answer.") == 3


TO_TRAIN = "set EXPERIMENT = True to train"


def test_the_tests_of_the_attention_exercise_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = "".join(run_notebook(ATTENTION / "A2S2.ipynb")).splitlines()
    assert printed[4:] == [f"own: {TO_TRAIN}", f"sharing: {TO_TRAIN}"]
    assert all(float(line.rpartition(" ")[2]) < 1e-6 for line in printed[:4])


def test_the_students_version_runs_and_says_what_is_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = "".join(run_notebook(ATTENTION / "A2S2_student.ipynb")).splitlines()
    todo = "still to do: Step 1 - the scaled scores A, in two lines."
    assert printed == [*[todo] * 4, f"own: {TO_TRAIN}"]


@pytest.mark.slow
def test_the_experiment_of_the_notebook_trains_compares_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.2 at a tiny size: a score of one's own, and the topic of shared projections."""
    (tmp_path / "prose.txt").write_text("".join(f"{i} times {i} is {i * i}\n" for i in range(300)))
    tiny = "--seeds 1 --length 2steps --match flops --set base.objective.options.block=16"
    for setting in ("d_model=12", "n_heads=3", "n_layers=1"):
        tiny += f" --set base.model.{setting}"
    for name, value in {"EXPERIMENT": "1", "TEXT": "prose.txt", "OPTIONS": tiny}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    printed = "".join(run_notebook(ATTENTION / "A2S2.ipynb"))
    assert "attnlab says" not in printed, printed
    assert "custom-score-my_score.py-my_score" in printed
    assert "weight on itself" in printed
    page = (tmp_path / "runs" / "sharing" / "report" / "report.html").read_text()
    assert "Question: What is lost when two of query, key and value" in page


def test_the_students_version_holds_no_solution(tmp_path: Path) -> None:
    notebook = jupytext.read(ATTENTION / "A2S2_student.ipynb")
    text = jupytext.writes(notebook, fmt="py:percent")
    assert "the square of" not in text, "nor our own experiment"
    for solution in ("transpose(-2, -1)", "masked_fill(mask", "F.softmax(A", "flatten(2)", "<sol"):
        assert solution not in text
    (tmp_path / "A2S2.py").write_text(text, encoding="utf-8")
    (findings,) = check_file(tmp_path / "A2S2.py").values()
    given = {finding.what for finding in findings if finding.right}
    assert given == {"init_qkv_proj"}
    assert {f.status for f in findings if not f.right} == {"not written yet"}


def test_the_exercise_is_right_function_by_function() -> None:
    (findings,) = check_file(ATTENTION / "A2S2.ipynb").values()
    assert len(findings) == 11
    assert [finding for finding in findings if not finding.right] == []
