"""A user's file that ends the program is named with its line."""

from pathlib import Path

import pytest
from harness import Hostile
from test_streams import ATTNLAB, shell

MY_ATTENTION = Path(__file__).parents[1] / "my_attention.py"
ENDINGS = {
    "os": ("import os\nos._exit(3)\n", "os._exit(3) would end attnlab without a word"),
    "from os": ("from os import _exit\n_exit(0)\n", "os._exit(0) would end attnlab"),
    "exit": ("x = 1\nraise SystemExit(4)\n", "SystemExit: 4"),
    "own": ("class Stop(BaseException): pass\nraise Stop('me')\n", "Stop: me"),
    "like Ctrl-C": ("class Stop(KeyboardInterrupt): pass\nraise Stop('me')\n", "Stop: me"),
    "generator": ("x = 1\nraise GeneratorExit('done')\n", "GeneratorExit: done"),
}


APART = pytest.param("attention check mine.py", marks=pytest.mark.slow)
"""In a process of its own, which loads torch."""


@pytest.mark.parametrize("code", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("command", [APART, "attention show mine.py:Mine"])
def test_a_file_that_ends_the_program_is_named(
    hostile: Hostile, command: str, code: tuple[str, str]
) -> None:
    source, words = code
    Path("mine.py").write_text(source)
    done = hostile(*command.split())
    assert done.code == 2
    assert "mine.py, line 2 fails" in done.err
    assert words in done.err


def test_an_exit_deep_in_a_function_fails_its_check(hostile: Hostile) -> None:
    Path("mine.py").write_text(
        "import os\n\n\ndef attn_softmax(A):\n    os._exit(0)\n", encoding="utf-8"
    )
    done = hostile("attention", "check", "mine.py")
    assert done.code == 1
    assert "os._exit(0) would end attnlab without a word" in " ".join(done.out.split())


FAILING_THREADS = """\
from threading import Thread


def fail():
    raise ValueError("no")


for thread in [Thread(target=fail), Thread(target=fail)]:
    thread.start()
    thread.join()


def attn_softmax(A):
    return A.softmax(-1)
"""


@pytest.mark.parametrize(
    ("command", "code"), [("attention show mine.py:Mine", 2), ("attention check mine.py", 1)]
)
def test_a_thread_that_fails_is_named_once_and_the_rest_goes_on(
    hostile: Hostile, command: str, code: int
) -> None:
    Path("mine.py").write_text(FAILING_THREADS)
    done = hostile(*command.split())
    assert done.code == code
    named = "mine.py, line 5 fails: ValueError: no. Only a thread ended; the command goes on."
    assert done.err.count(named) == 1


@pytest.mark.slow
def test_a_file_that_closes_the_streams_still_ends_with_a_code(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nsys.stdout.close()\nsys.stderr.close()\n")
    assert shell(tmp_path, f"{ATTNLAB} attention show mine.py:Mine").code in (1, 2)


@pytest.mark.parametrize("ending", ["raise SystemExit(5)", "import os; os._exit(0)"])
def test_a_file_that_ends_the_program_in_training_is_named(hostile: Hostile, ending: str) -> None:
    lines = MY_ATTENTION.read_text(encoding="utf-8")
    marked = lines.replace("B, T, D = x.shape", f"B, T, D = x.shape; {ending}")
    Path("mine.py").write_text(marked, encoding="utf-8")
    Path("corpus.txt").write_text("Ada Lund. Ada Lund was born in Oslo.\n" * 20, encoding="utf-8")
    words = "knowledge pretrain corpus.txt --attention mine.py:MyAttention --name one"
    sizes = "--positions none --set model.d_model=12 --set model.n_heads=3 --set model.n_layers=1"
    done = hostile(*words.split(), *sizes.split(), "--length", "1 step")
    line = marked[: marked.index(ending)].count("\n") + 1
    assert done.code == 2
    assert f"mine.py, line {line} fails: SystemExit" in done.err
    assert not Path("runs/one/record.json").exists()
