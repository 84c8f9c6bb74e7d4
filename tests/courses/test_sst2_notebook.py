"""The sst2 course's notebook trains, draws and tests once; the student's says what is to do."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext
import matplotlib.pyplot as plt
import pytest
import torch
from course_files import ROOT
from grading.sst2 import toy
from markers import for_students
from test_notebooks import run_notebook

from attnlab.checks.notebooks import load_submission
from attnlab.errors import UserError
from attnlab.evaluation.intervals import wilson
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.texts import read_texts
from small_hub import write_small_hub

SST2 = ROOT / "courses" / "sst2"
SOURCE = SST2 / "A2S3.py"
RESULTS = "A2S3_results.json"
Load = Callable[..., ModuleType]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand next to a random RoBERTa of two layers and sentences, with a few rows and epochs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sst2").mkdir()
    for split in toy.COUNTS:
        lines = [f"{text}\t{label}\n" for text, label in toy.sentences(split)]
        (tmp_path / "sst2" / f"{split}.tsv").write_text("".join(lines))
    write_small_hub(tmp_path / "roberta", "roberta", max_position_embeddings=130)
    (tmp_path / "assets.yaml").write_text("roberta-base: roberta\n")
    variables = {"ATTNLAB_DATA": str(tmp_path), "ATTNLAB_ASSETS": str(tmp_path / "assets.yaml")}
    variables |= {"TRAIN_ROWS": "70", "EVAL_ROWS": "20", "NUM_EPOCHS": "11", "MPLBACKEND": "agg"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def load() -> Load:
    """Return what loads parts of the notebook, and runs nothing else of it."""
    return lambda *names: load_submission(SOURCE, set(names))


def test_the_notebook_trains_draws_both_curves_and_reads_the_test_set_once(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPARE", "1")
    runpy.run_path(str(SOURCE))
    plt.close("all")
    printed = capsys.readouterr().out
    assert "train: 70, validation: 20, test: 20\n" in printed
    assert "input_ids: Tensor of torch.int64, shape [64, " in printed
    assert "label_encoding: Tensor of torch.int64, shape [64]\n" in printed
    assert printed.index("This run (11 × 70 sentences) takes about ") < printed.index("epoch  1:")
    assert printed.count("epoch 11: train loss ") == 4  # AdamW, and what Q4.5 compares it with
    assert printed.count("== ") == 3
    result = json.loads((small / RESULTS).read_text())
    history = result["history"]
    accuracies = [line["validation_accuracy"] for line in history]
    assert len(history) == 11
    assert result["best_epoch"] == accuracies.index(max(accuracies)) + 1
    assert f"Best on validation: epoch {result['best_epoch']} of 11" in printed
    assert "Best on train: epoch " in printed
    assert printed.count("Test accuracy: ") == 1
    assert (result["test_rows"], result["model"]) == (20, "roberta-base")
    assert result["test_accuracy"] * 20 == pytest.approx(round(result["test_accuracy"] * 20))
    for name in ("A2S3_curves.png", "A2S3_optimizers.png"):
        assert (small / name).read_bytes().startswith(b"\x89PNG")


def test_the_students_version_runs_says_what_is_to_do_and_trains_nothing(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (small / "student.py").write_text(for_students(SOURCE.read_text()))
    runpy.run_path(str(small / "student.py"))
    todo = [line for line in capsys.readouterr().out.splitlines() if line]
    assert all(line.startswith("still to do: Step ") for line in todo)
    assert [line.split()[4] for line in todo] == ["1", "2", "2"]
    assert not (small / RESULTS).exists()


def test_the_students_version_holds_no_solution() -> None:
    text = jupytext.writes(jupytext.read(SST2 / "A2S3_student.ipynb"), fmt="py:percent")
    ours = SOURCE.read_text()
    for solution in (
        "truncation=True, max_length=512, return_tensors=\"pt\"", "loss.backward()", "shuffle=True",
        "with torch.no_grad():\n", "deepcopy", "momentum", "running averages", "<sol",
    ):  # fmt: skip
        assert solution not in text
        assert solution in ours, "or the test looks for nothing"
    assert text.count("raise NotImplementedError") == 9
    assert text.count("TODO: your answer.") == 12


def test_the_documents_values_are_the_defaults_of_the_whole_run(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("batch_size", "learning_rate", "num_epochs", "model_name", "train_rows", "eval_rows")
    monkeypatch.setenv("FULL", "1")
    module = load(*names)
    assert [getattr(module, name) for name in names] == [64, 5e-5, 20, "roberta-base", 0, 0]
    monkeypatch.setenv("FULL", "0")
    monkeypatch.setenv("NUM_EPOCHS", "0")
    with pytest.raises(UserError, match="NUM_EPOCHS=0 is not possible: give a whole number from 1"):
        load(*names)


def test_a_model_that_cannot_be_had_is_replaced_and_the_user_hears_of_it(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load("find_checkpoint")

    def find(name: str) -> Path:
        if name == "roberta-base":
            raise UserError("no network")
        return Path(name)

    monkeypatch.setattr(module, "find_model", find)
    assert module.find_checkpoint("roberta-base")[1] == Path("all-MiniLM-L6-v2")
    assert "fine-tunes all-MiniLM-L6-v2 in its place" in capsys.readouterr().out


def test_without_a_test_file_a_tenth_of_train_is_the_test_set_of_the_lab(
    small: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    (small / "sst2" / "test.tsv").unlink()
    texts = load("load_texts").load_texts()
    assert capsys.readouterr().out == "test: a tenth of train.tsv set aside, not trained on\n"
    files = {"train": str(small / "sst2" / "train.tsv"), "dev": str(small / "sst2" / "dev.tsv")}
    lab = read_texts(ClassifySettings(**files, test_share=0.1))
    assert texts.eval_splits["test"] == lab.eval_splits["test"]
    test = {example.id for example in texts.eval_splits["test"]}
    assert len(test) == 10
    assert not test & {example.id for example in texts.train}


def test_without_sst2_the_sentences_are_others_and_the_user_hears_of_it(
    load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ATTNLAB_DATA", raising=False)
    module = load("load_texts")
    asked: list[Any] = []
    monkeypatch.setattr(module, "fetch_texts", asked.append)
    monkeypatch.setattr(module, "read_texts", lambda _: ClassifyNothing)
    module.load_texts()
    assert (asked[0].train, asked[0].dev, asked[0].test_share) == ("rotten-tomatoes", "", 0.1)
    assert "the sentences are those of rotten-tomatoes" in capsys.readouterr().out


class ClassifyNothing:
    notes: dict[str, str] = {}  # noqa: RUF012 - it stays empty


def epochs(n: int) -> list[dict[str, float]]:
    """Return a history in which the training accuracy rises, and validation is best in epoch 2."""
    return [
        {
            **{"step": i, "train_loss": 1 / i, "train_accuracy": 1 - 0.5 / i},
            **{"validation_loss": 0.3 + 0.01 * i, "validation_accuracy": 0.9 - abs(i - 2) / 100},
        }
        for i in range(1, n + 1)
    ]


@pytest.mark.parametrize(("n", "marks"), [(10, 0), (20, 1)])
def test_q41_draws_loss_and_accuracy_and_marks_the_tenth_of_more_epochs(
    n: int, marks: int, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    load("draw_curves").draw_curves({"AdamW": epochs(n)}, str(tmp_path / "curves.png"))
    loss, accuracy = plt.gcf().axes
    titles = loss.get_title(loc="left"), accuracy.get_title(loc="left")
    assert titles == ("Loss by epoch", "Accuracy by epoch")
    for axis in (loss, accuracy):
        lines = axis.get_lines()
        assert len(lines) == 2 + marks
        assert all(len(line.get_xdata()) == n for line in lines[:2])
        assert all(list(line.get_xdata()) == [10, 10] for line in lines[2:])
    plt.close("all")


def test_q42_says_which_epoch_is_best_on_train_and_on_validation(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("describe").describe(epochs(20))
    assert capsys.readouterr().out.splitlines() == [
        "Best on train: epoch 20 of 20, accuracy 97.5%, loss 0.050.",
        "Best on validation: epoch 2 of 20, accuracy 90.0%, loss 0.320.",
        "The validation loss is lowest in epoch 1: 0.310.",
    ]


def test_q32_evaluation_mode_does_not_switch_batch_normalization_off() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.BatchNorm1d(3), 5 + 2 * torch.randn(40, 3)
    by_batch = layer(x)
    averages = layer.running_mean, layer.running_var
    layer.eval()
    scaled = (x - averages[0]) / (averages[1] + layer.eps).sqrt()
    assert torch.allclose(layer(x), scaled, atol=1e-5)
    assert not torch.allclose(layer(x), x)
    assert not torch.allclose(layer(x), by_batch, atol=0.1)


def test_q51_the_printed_accuracy_has_the_interval_that_the_notebook_says() -> None:
    printed = 1699 / 1821
    assert printed == pytest.approx(0.9330038440417353, abs=1e-15)
    assert wilson(1699, 1821) == pytest.approx((0.921, 0.944), abs=5e-4)
    assert "interval from 0.921 to 0.944" in SOURCE.read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_both_notebooks_run_in_a_kernel() -> None:
    printed = "".join(run_notebook(SST2 / "A2S3.ipynb"))
    assert "Test accuracy: " in printed
    assert Path("A2S3_curves.png").is_file()
    student = "".join(run_notebook(SST2 / "A2S3_student.ipynb"))
    assert student.count("still to do: Step ") == 3
