"""The knowledge course's notebook trains, writes and answers; the student's says what is to do."""

import re

import jupytext
import pytest
from course_files import COURSE
from test_notebooks import run_notebook

# the kernel talks over loopback; zmq warns about its own event loop on some systems
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.mark.slow
def test_the_loss_falls_and_the_trained_questions_are_answered() -> None:
    printed = "".join(run_notebook(COURSE / "play_char.ipynb"))
    losses = [float(loss) for loss in re.findall(r"step +\d+: loss (\d+\.\d+)", printed)]
    assert len(losses) == 12
    assert losses[5] < 0.6 * losses[0]
    assert losses[11] < 0.1 * losses[6]
    assert printed.count("temperature ") == 2
    right, people = map(int, re.findall(r"trained on: (\d+) of (\d+) right", printed)[0])
    assert right >= 0.9 * people


STUDENTS = COURSE / "play_char_student.ipynb"


@pytest.mark.slow
def test_the_students_version_runs_and_says_what_is_to_do() -> None:
    printed = "".join(run_notebook(STUDENTS))
    todo = [line for line in printed.splitlines() if line.startswith("still to do: ")]
    assert len(todo) == 5


def test_the_students_version_holds_no_solution() -> None:
    text = jupytext.writes(jupytext.read(STUDENTS), fmt="py:percent")
    assert text.count("raise NotImplementedError") == 4
    for solution in ("ignore_index=PAD", "rows[:, 1:]", "row[len(asked)", "<sol"):
        assert solution not in text
