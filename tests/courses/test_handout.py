"""A handout holds what its list names, without a solution; it imports, and says what is to do."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from course_files import COURSE, ROOT, load

from attnlab.errors import UserError

handout = load("handout.py", course=ROOT / "courses")
KNOWLEDGE_SOLUTIONS = (
    "solution>", "corrupt(", ".relu()", "train_and_write(",
    '["London"]', "synthesizer=True", "= saved_model(options, text, dropout",
    "SynthesizerAttention(config)",
)  # fmt: skip


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "ada"
    handout.write(COURSE, folder)
    return folder


def test_the_folder_holds_what_the_list_names_and_nothing_else(knowledge: Path) -> None:
    there = {str(path.relative_to(knowledge)) for path in knowledge.rglob("*") if path.is_file()}
    assert there == set(tomllib.loads((COURSE / "handout.toml").read_text(encoding="utf-8")))
    assert {f"src/{path.name}" for path in (COURSE / "src").glob("*.py")} <= there
    assert "mingpt-demo/play_char.ipynb" in there


def test_no_solution_is_handed_out(knowledge: Path) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in knowledge.glob("src/*.py"))
    ours = "".join(path.read_text(encoding="utf-8") for path in COURSE.glob("src/*.py"))
    assert [words for words in KNOWLEDGE_SOLUTIONS if words in code] == []
    assert sum(words in ours for words in KNOWLEDGE_SOLUTIONS) == len(KNOWLEDGE_SOLUTIONS), (
        "or the test looks for nothing"
    )
    for part, places in {"c": 2, "d": 1, "e": 1, "f": 2, "g": 3}.items():
        assert code.count(f'raise NotImplementedError("[part {part}], src/') == places


def test_every_file_imports_and_an_unsolved_part_says_what_to_do(knowledge: Path) -> None:
    program = "import attention, dataset, london_baseline, model, run, trainer, utils\nrun.main()"
    (knowledge / "wiki.txt").write_text("Ada was born in London .\n", encoding="utf-8")
    words = ["pretrain", "vanilla", "wiki.txt", "--writing_params_path", "a.params"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=knowledge, capture_output=True, text=True,
        env={"PYTHONPATH": ":".join([str(knowledge / "src"), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("run.py: src/run.py, line ")
    assert "is not written yet: [part f], src/run.py: pretrain a new model" in done.stderr
    assert done.stderr.count("\n") == 1
    (knowledge / "wiki.txt").unlink()
    shutil.rmtree(knowledge / "src" / "__pycache__", ignore_errors=True)


def test_a_folder_with_something_else_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    handout.write(COURSE, tmp_path)
    handout.write(COURSE, tmp_path)  # an earlier handout is replaced
    (tmp_path / "src" / "mine.py").write_text("")
    (tmp_path / "README.md").write_text("changed")
    with pytest.raises(UserError, match=r"src/mine\.py is no part of the handout: remove it, or"):
        handout.write(COURSE, tmp_path)
    assert (tmp_path / "README.md").read_text() == "changed"
