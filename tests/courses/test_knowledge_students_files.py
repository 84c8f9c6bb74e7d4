"""What a student writes into src/ is what the course's command trains and evaluates."""

import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import COURSE, edit, exit_code, forget

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.world import write_world
from attnlab.training.step import Stepper, StepResult

SMALL = "n_layer: int = 4", "n_layer: int = 1"
FINETUNE = ("finetune", "vanilla", "wiki.txt", "--finetune_corpus_path", "birth_places_train.tsv")
LOOPS = '''

class SynthesizerAttention(nn.Module):
    """Written with loops, slowly and rightly."""

    def __init__(self, config):
        super().__init__()
        self.n_head, width = config.n_head, config.n_embd
        self.w1, self.value, self.proj = (nn.Linear(width, width) for _ in range(3))
        self.w2 = nn.Parameter(torch.empty(width // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        nn.init.uniform_(self.w2, -0.001, 0.001)

    def forward(self, x):
        n, size = x.shape[1], x.shape[2] // self.n_head
        hidden, values, heads = self.w1(x).relu(), self.value(x), []
        for head in range(self.n_head):
            own = slice(head * size, (head + 1) * size)
            rows = []
            for i in range(n):
                scores = hidden[:, i, own] @ self.w2[:, : i + 1] + self.b2[: i + 1]
                rows.append((scores.softmax(-1)[:, :, None] * values[:, : i + 1, own]).sum(1))
            heads.append(torch.stack(rows, 1))
        return self.proj(torch.cat(heads, -1))
'''
PLAIN = '''

class NameDataset(torch.utils.data.Dataset):
    """As in the course: rows by their number, padded."""

    def __init__(self, pretraining_dataset, data):
        self.stoi, self.block_size = pretraining_dataset.stoi, pretraining_dataset.block_size
        self.lines = [line.split("\\t") for line in data.splitlines()]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        import random
        question, answer = self.lines[index]
        if random.random() < 0.5:
            answer = answer.upper() if all(c in self.stoi for c in answer.upper()) else answer
        x = f"{question}⁇{answer}⁇".ljust(self.block_size, "□")
        y = "□" * (len(question) - 1) + x[len(question):]
        return tuple(torch.tensor([self.stoi[c] for c in row]) for row in (x[:-1], y))
'''


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., tuple[int, str]]]:
    """Return what runs `python src/run.py WORDS` with a student's own src/, which it may change."""
    monkeypatch.chdir(tmp_path)
    write_world(WorldSettings(people=40, biographies=1), tmp_path)
    shutil.copytree(COURSE / "src", "src")
    edit(Path("src/model.py"), *SMALL)
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others

    def go(*words: str) -> tuple[int, str]:
        forget()
        monkeypatch.setattr(sys, "argv", ["run.py", *words])
        code = exit_code(importlib.import_module("run"))
        return code, capsys.readouterr().err

    yield go
    forget()


def append(file: str, text: str) -> None:
    with Path("src", file).open("a", encoding="utf-8") as source:
        source.write(text)


def weights(path: str) -> dict[str, torch.Tensor]:
    return dict(torch.load(path, weights_only=True))


@pytest.mark.parametrize(
    ("file", "before"),
    [
        ("attention.py", "        del layer_past\n"),
        (
            "dataset.py",
            "        del epoch, seed  # always the same rows; the trainer orders them\n",
        ),
        ("model.py", "        n_tokens = idx.shape[1]\n"),
        (
            "trainer.py",
            '        """Let the model compute its mean loss, and turn it into a sum."""\n',
        ),
        ("run.py", "    from trainer import TrainerConfig\n"),
        ("utils.py", '    """Let whatever is drawn from now on be the same every time."""\n'),
    ],
)
def test_a_raise_in_any_file_ends_the_command_with_its_line(
    run: Callable[..., tuple[int, str]], file: str, before: str
) -> None:
    indent = before[: len(before) - len(before.lstrip())]
    edit(Path("src", file), before, f'{before}{indent}raise RuntimeError("not yet")\n')
    code, err = run(*FINETUNE, "--writing_params_path", "a.params", "--length", "1 step")
    number = next(
        number
        for number, line in enumerate(Path("src", file).read_text().splitlines(), 1)
        if "not yet" in line
    )
    assert code == 2
    assert f"src/{file}, line {number}" in err
    assert "RuntimeError: not yet" in err
    assert "Traceback" not in err
    assert not Path("a.params").exists()


def test_a_students_synthesizer_with_loops_is_trained_and_learns_what_ours_learns(
    run: Callable[..., tuple[int, str]],
) -> None:
    words = ["finetune", "synthesizer", *FINETUNE[2:], "--length", "2 steps"]
    assert run(*words, "--writing_params_path", "ours.params")[0] == 0
    append("attention.py", LOOPS)
    assert run(*words, "--writing_params_path", "loops.params")[0] == 0
    ours, theirs = weights("ours.params"), weights("loops.params")
    assert theirs.keys() == {name for name in ours if not name.endswith(".mask")}
    for name in ("blocks.0.attn.w2", "blocks.0.attn.value.weight", "head.weight"):
        assert not torch.equal(theirs[name], ours[name]), "it is another module"
    evaluate = ["evaluate", "synthesizer", "wiki.txt", "--eval_corpus_path", "birth_dev.tsv"]
    evaluate += ["--reading_params_path", "loops.params", "--outputs_path"]
    assert run(*evaluate, "by_loops")[0] == 0
    shutil.copy(COURSE / "src" / "attention.py", "src")
    assert run(*evaluate, "by_ours")[0] == 0
    assert Path("by_loops").read_text() == Path("by_ours").read_text(), "the same equation"


@pytest.mark.parametrize("dataset", ["ours", "any other"])
def test_a_stopped_training_resumes_exactly(
    run: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch, dataset: str
) -> None:
    if dataset == "any other":
        append("dataset.py", PLAIN)
    words = [*FINETUNE, "--length", "4 steps", "--writing_params_path"]
    assert run(*words, "whole.params")[0] == 0
    shutil.rmtree("runs")
    take = Stepper.take

    def take_and_be_asked_to_stop(self: Stepper, step: int, **how: Any) -> StepResult:
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return take(self, step, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Stepper, "take", take_and_be_asked_to_stop)
        assert run(*words, "resumed.params")[0] == 128 + signal.SIGINT
    assert not Path("resumed.params").exists()
    code, err = run(*words, "resumed.params")
    assert code == 0
    assert "resumed at step 2" in err
    whole, resumed = weights("whole.params"), weights("resumed.params")
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
