"""A handout holds what its list names, without a solution; it imports, and says what is to do."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from course_files import COURSE, ROOT, load
from markers import filled

from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError
from attnlab.recipes.knowledge.world import write_world

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


ANSWERS = {
    "[part c], src/run.py: make": "config = GPTConfig(vocab_size, BLOCK_SIZE, **dropout)",
    "[part c], src/run.py: finetune": """
        from trainer import Trainer
        from utils import write_params
        Trainer(model, names, None, hyperparameters(options)).train()
        write_params(model, path)""",
    "[part d]": """
        total, right = evaluate_places(options.questions, ["London" for _ in questions])
        print(100 * right / total)""",
    "[part e]": """
        import random
        text = self._documents[index]
        text = text[: random.randint(min(4, len(text)), min(len(text), self.block_size * 7 // 8))]
        size = min(len(text), max(1, random.randint(1, max(1, len(text) // 2))))
        start = random.randint(0, len(text) - size)
        row = text[:start] + SENTINEL + text[start + size :] + SENTINEL + text[start : start + size]
        tokens = [self.stoi[character] for character in row]
        tokens += [PAD_TOKEN] * (self.block_size - len(tokens))
        return torch.tensor(tokens[:-1]), torch.tensor(tokens[1:])""",
    "[part f], src/run.py: pretrain": """
        from trainer import Trainer
        from utils import write_params
        model = new_model(options, text.vocab_size)
        Trainer(model, text, None, hyperparameters(options)).train()
        write_params(model, path)""",
    "[part f], src/run.py: read": "model = saved_model(options, text)",
    "[part g], src/run.py": """
        config = GPTConfig(vocab_size, BLOCK_SIZE, synthesizer=True, **dropout)""",
    "[part g], src/model.py": "self.attn = SynthesizerAttention(config)",
    "[part g], src/attention.py": """
        B, T, D = x.shape
        H = self.n_head
        hidden = self.w1(x).relu().view(B, T, H, D // H).transpose(1, 2)
        scores = hidden @ self.w2[:, :T] + self.b2[:T]
        scores = scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        v = self.value(x).view(B, T, H, D // H).transpose(1, 2)
        y = (self.attn_drop(scores.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, D)
        return self.resid_drop(self.proj(y))""",
}
"""What a student writes, who does not know how we did it."""


def solve(folder: Path) -> None:
    """Put the answers in the place of the lines that fail."""
    for file in folder.glob("src/*.py"):
        file.write_text(filled(file.read_text(encoding="utf-8"), ANSWERS), encoding="utf-8")


@pytest.mark.slow
def test_what_a_student_writes_into_the_handout_trains_answers_and_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ada"
    handout.write(COURSE, folder)
    solve(folder)
    write_world(WorldSettings(people=40, biographies=1), folder)
    commands = re.findall(r"```bash\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[0]
    commands = commands.replace("NAME", "ada")
    # as after `. .venv/bin/activate`: collect_submission.sh calls python itself
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TINY", "1")
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "assignment_ada.zip" in done.stdout
    grader = [sys.executable, str(COURSE / "grade.py"), "assignment_ada.zip"]
    graded = subprocess.run(
        [*grader, "--labels", "birth_test.tsv", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    (report,) = json.loads(graded.stdout)
    failed = {f["check"] for part in report["parts"] for f in part["findings"] if not f["passed"]}
    learned_nothing = {"vanilla.pretrain.test.predictions", "synthesizer.pretrain.test.predictions"}
    assert failed == {*learned_nothing, "not collapsed"}, "four steps teach nothing"
    assert [part["points"] for part in report["parts"]] == [5, 10, 0, 0]
