"""What a student writes is what the yelp course's commands train and evaluate."""

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
from course_files import YELP, edit, exit_code, forget
from torch.utils.flop_counter import FlopCounterMode

from attnlab.config import from_dict
from attnlab.models.compact_embedding import CompactTable
from attnlab.phases import messages
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.step import Stepper, StepResult
from small_bert import write_reviews, write_small_bert

Go = Callable[..., tuple[int, str]]
PROBLEM_2, PROBLEM_3 = "classifier", "classifier_mlm"
FLAGS = {
    PROBLEM_2: [
        *("--model_name_or_path", "bert", "--data_dir", "reviews", "--do_train", "--do_eval"),
        *("--learning_rate", "3e-3", "--num_train_epochs", "2", "--max_seq_length", "16"),
        *("--output_dir", "out", "--evaluate_during_training", "--logging_steps", "2"),
    ]
}
FLAGS[PROBLEM_3] = [
    *FLAGS[PROBLEM_2],
    *("--train_data_file", "reviews/unlabeled.txt", "--block_size", "16", "--line_by_line"),
]
ONE_BY_ONE = '''

class Patient(BertModel):
    """Reads every text alone, without its padding."""

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        found = torch.zeros(*input_ids.shape, self.size.d_model)
        for row, length in enumerate(attention_mask.sum(1).tolist()):
            one = input_ids[row : row + 1, :length], token_type_ids[row : row + 1, :length]
            found[row, :length] = Bert.forward(self, *one)[0]
        return found


class BertForSequenceClassification(nn.Module):
    """A module of its own, which is not ours in anything but the weights it begins with."""

    def __init__(self, config, num_labels):
        super().__init__()
        self.encoder = Patient(config)
        self.drop = nn.Dropout(config.dropout)
        self.out = nn.Linear(config.d_model, num_labels)

    @classmethod
    def from_pretrained(cls, name, num_labels):
        pretrained = read_bert(find_model(name))
        model = cls(pretrained.size, num_labels)
        initialize(model, pretrained.size)
        body = {k.removeprefix("body."): v for k, v in pretrained.tensors.items()}
        model.encoder.load_state_dict({k: body[k] for k in model.encoder.state_dict()})
        return model

    def save_pretrained(self, folder):
        Path(folder).mkdir()
        torch.save(self.state_dict(), Path(folder) / "weights.pt")

    def forward(self, input_ids, attention_mask, token_type_ids, labels=None):
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)
        scores = self.out(self.drop(hidden[:, 0]))
        if labels is None:
            return None, scores
        picked = scores.log_softmax(-1)[torch.arange(len(labels)), labels]
        return -picked.mean(), scores
'''
PLAIN = '''

class Plain(Dataset):
    """Tensors padded to one length; now and then a token is unknown."""

    def __init__(self, rows, length):
        self.rows, self.length = rows, length

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        import random
        row = self.rows[index]
        tokens = [1 if random.random() < 0.1 else token for token in row.tokens]
        pad = [0] * (self.length - len(tokens))
        parts = tokens + pad, [1] * len(tokens) + pad, list(row.types) + pad, row.targets[0]
        return tuple(torch.tensor(part) for part in parts)


TextClassificationDataset = Plain
'''
LOOPED_LINES = '''

class LineByLineTextDataset(Dataset):
    """Only what a Dataset must have."""

    def __init__(self, tokenizer, file_path, block_size):
        lines = Path(file_path).read_text().splitlines()
        cut = [tokenizer.encode(line)[: block_size - 2] for line in lines]
        self.rows = [torch.tensor([tokenizer.cls, *row, tokenizer.sep]) for row in cut]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
'''


@pytest.fixture
def go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Go]:
    """Return what runs `python FILE.py FLAGS WORDS` with a student's own folder, yelp/."""
    monkeypatch.chdir(tmp_path)
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    shutil.copytree(YELP, "yelp", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(str(tmp_path / "yelp"))
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    monkeypatch.setenv("ATTNLAB_PRECISION", "float32")

    def run(command: str, *words: str) -> tuple[int, str]:
        forget()
        monkeypatch.setattr(sys, "argv", [f"{command}.py", *FLAGS[command], *words])
        code = exit_code(importlib.import_module(command))
        return code, capsys.readouterr().err

    yield run
    forget()


def append(file: str, text: str) -> None:
    with Path("yelp", file).open("a", encoding="utf-8") as source:
        source.write(text)


def dev_losses(folder: str = "out") -> list[float]:
    return [row["loss"] for row in Run.open(Path(folder)).predictions("dev")]


@pytest.mark.parametrize(
    ("command", "file", "before"),
    [
        (PROBLEM_2, "classifier.py", "        from data_utils import load_examples\n"),
        (PROBLEM_2, "data_utils.py", "    examples = read_labelled("),
        (PROBLEM_2, "data_utils.py", "        del epoch, seed  # always the same rows"),
        (PROBLEM_2, "mymodel.py", "        first = self.bert.first("),
        (PROBLEM_2, "trainer.py", "        terms = {}\n"),
        (PROBLEM_2, "batches.py", "    size, seed = settings.batch_size"),
        (PROBLEM_3, "classifier_mlm.py", "    from mlm_utils import mask_tokens\n"),
        (PROBLEM_3, "classifier.py", "        from data_utils import load_examples\n"),
        (PROBLEM_3, "data_utils.py", "    folder = find_model(model)\n"),
        (PROBLEM_3, "mlm_utils.py", "    seed = int(torch.randint(2**62, ()))\n"),
        (PROBLEM_3, "mymodel.py", "        is_chosen = masked_lm_labels"),
        (PROBLEM_3, "batches.py", "        rows = self.rows.rows_of_step(step)\n"),
    ],
)
def test_a_raise_in_any_file_ends_the_command_with_its_line(
    go: Go, command: str, file: str, before: str
) -> None:
    indent = before[: len(before) - len(before.lstrip())]
    edit(Path("yelp", file), before, f'{indent}raise RuntimeError("not yet")\n{before}')
    lines = Path("yelp", file).read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "not yet" in line)
    code, err = go(command)
    assert code == 2
    assert f"yelp/{file}, line {number} fails: RuntimeError: not yet." in err
    assert "Traceback" not in err
    assert not Path("out").exists()


def test_what_is_not_written_yet_is_said(go: Go) -> None:
    edit(
        Path("yelp/classifier_mlm.py"),
        "    from mlm_utils import mask_tokens\n",
        '    raise NotImplementedError("Problem 3, 1(b): get the MLM inputs.")\n',
    )
    code, err = go(PROBLEM_3)
    assert code == 2
    assert "is not written yet: Problem 3, 1(b): get the MLM inputs." in err


@pytest.mark.slow
def test_our_files_learn_what_classify_train_learns_with_as_much_arithmetic(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    flops: list[int] = []
    take = Stepper.take

    def count(self: Stepper, step: int, **how: Any) -> StepResult:
        with FlopCounterMode(display=False) as counter:
            result = take(self, step, **how)
        flops.append(counter.get_total_flops())
        return result

    monkeypatch.setattr(Stepper, "take", count)
    code, err = go(PROBLEM_2)
    assert code == 0, err
    run = Run.open(Path("out"))
    settings = from_dict(ClassifySettings, run.config["settings"], origin="config.json")
    place = RunPlace(Path.cwd(), "recipe")
    find_job("classify-train").run(settings, place=place, console=messages())
    assert dev_losses() == pytest.approx(dev_losses("recipe"), abs=1e-4)
    assert run.record["best_step"] == Run.open(Path("recipe")).record["best_step"]
    assert len(flops) == 8
    assert flops[:4] == flops[4:], "the same tokens, no padding more, and no token computed twice"


def tables_of_every_step(monkeypatch: pytest.MonkeyPatch) -> list[torch.nn.Embedding]:
    """Return a list that gets the table of tokens that each step trains."""
    tables: list[torch.nn.Embedding] = []
    take = Stepper.take

    def look(self: Stepper, step: int, **how: Any) -> StepResult:
        tables.append(self.task.model.bert.embeddings.words)
        return take(self, step, **how)

    monkeypatch.setattr(Stepper, "take", look)
    return tables


def test_only_the_tokens_that_occur_are_trained(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of_every_step(monkeypatch)
    assert go(PROBLEM_2)[0] == 0
    assert isinstance(tables[0], CompactTable)
    forget()
    whole = importlib.import_module("mymodel").BertForSequenceClassification
    model = whole.from_pretrained("out/model", num_labels=5)
    assert model.bert.embeddings.words.num_embeddings == 22 > tables[0].num_embeddings
    assert go(PROBLEM_3, "--output_dir", "joint")[0] == 0
    assert not isinstance(tables[-1], CompactTable), "a head that scores all tokens needs them all"


def test_code_that_reads_the_table_itself_gets_the_whole_table(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(
        Path("yelp/mymodel.py"),
        "        first = self.bert.first(",
        "        table = self.bert.embeddings.words.weight\n"
        "        self.bert.embeddings.words.forward = lambda tokens: table[tokens]\n"
        "        first = self.bert.first(",
    )
    tables = tables_of_every_step(monkeypatch)
    code, err = go(PROBLEM_2)
    assert code == 0, err
    assert tables[0].num_embeddings == 22


@pytest.mark.slow
def test_a_students_own_slow_module_is_trained_and_learns_what_ours_learns(go: Go) -> None:
    assert go(PROBLEM_2)[0] == 0
    append("mymodel.py", ONE_BY_ONE)
    code, err = go(PROBLEM_2, "--output_dir", "slow")
    assert code == 0, err
    ours, theirs = dev_losses(), dev_losses("slow")
    assert theirs == pytest.approx(ours, abs=1e-4), "the same equation"
    assert Path("slow/model/weights.pt").is_file()


def test_changed_code_is_another_run(go: Go) -> None:
    assert go(PROBLEM_2)[0] == 0
    before = dev_losses()
    append("mymodel.py", "\n# a comment is code, too\n")
    code, err = go(PROBLEM_2)
    assert code == 2
    assert "holds a run of other settings (the code in this folder)" in err
    code, err = go(PROBLEM_2, "--overwrite_output_dir")
    assert code == 0, err
    assert dev_losses() == before


@pytest.mark.slow
@pytest.mark.parametrize("command", [PROBLEM_2, PROBLEM_3])
@pytest.mark.parametrize("files", ["ours", "any other"])
def test_a_stopped_training_resumes_exactly(
    go: Go, monkeypatch: pytest.MonkeyPatch, command: str, files: str
) -> None:
    write_small_bert(Path("dropping"), dropout=0.1, attention_dropout=0.1)
    words = ["--model_name_or_path", "dropping", "--output_dir"]
    if files == "any other":
        append("data_utils.py", PLAIN)
        append("mlm_utils.py", LOOPED_LINES)
    code, err = go(command, *words, "whole")
    assert code == 0, err
    take = Stepper.take

    def take_and_be_asked_to_stop(self: Stepper, step: int, **how: Any) -> StepResult:
        if step == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return take(self, step, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Stepper, "take", take_and_be_asked_to_stop)
        assert go(command, *words, "cut")[0] == 128 + signal.SIGINT
    code, err = go(command, *words, "cut")
    assert (code, "resumed at step 3 of 4" in err) == (0, True), err
    for file in ("model/model.safetensors", "predictions/dev.jsonl", "predictions/test.jsonl"):
        assert Path("cut", file).read_bytes() == Path("whole", file).read_bytes()


@pytest.mark.parametrize(
    ("command", "file", "old", "new", "message"),
    [
        (
            *(PROBLEM_2, "data_utils.py", "    return TextClassificationDataset(rows,"),
            "    return TextClassificationDataset(rows[1:],",
            "made 59 items of the 60 texts of train: it must make one per text, in their order.",
        ),
        (
            *(PROBLEM_2, "mymodel.py", "    def save_pretrained", "    def write"),
            "BertForSequenceClassification has no method 'save_pretrained', which training needs.",
        ),
        (
            *(PROBLEM_3, "mymodel.py", "    def masked(", "    def mlm("),
            "BertForCLSMLM has no method 'masked', which training needs. Write it in mymodel.py.",
        ),
        (
            *(PROBLEM_3, "mlm_utils.py", "    return _padded(tokens, tokenizer.pad), _padded("),
            "    return _padded(tokens, tokenizer.pad)[:, :5], _padded(",
            "the MLM inputs have the shape [20, 5] and their labels [20, 10]: both must be",
        ),
    ],
)
def test_what_does_not_fit_is_said_before_the_first_step(
    go: Go, command: str, file: str, old: str, new: str, message: str
) -> None:
    edit(Path("yelp", file), old, new)
    code, err = go(command)
    assert (code, message in err) == (2, True), err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("row.flip(0), mask.flip(0), types, label", "attention_mask has a 0 before a 1. Pad a"),
        ("row, mask, label", "has 3 parts: it must have 4, input_ids, attention_mask,"),
    ],
)
def test_an_item_of_another_form_is_refused(go: Go, item: str, message: str) -> None:
    append("data_utils.py", PLAIN)
    edit(
        Path("yelp/data_utils.py"),
        "        return tuple(torch.tensor(part) for part in parts)\n",
        "        row, mask, types, label = (torch.tensor(part) for part in parts)\n"
        f"        return {item}\n",
    )
    code, err = go(PROBLEM_2)
    assert (code, message in err) == (2, True), err
