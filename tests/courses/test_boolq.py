"""The BoolQ course's command as printed, its figures, and the traps of its starter code."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from course_files import BOOLQ, exit_code, forget, load

from attnlab.models.encoder import open_checkpoint
from attnlab.runs.directory import Run
from small_bert import TELLING, WORDS, write_small_bert
from small_hub import write_small_hub

Go = Callable[..., tuple[int, str, str]]
SHORT = ("--data_dir", "questions", "--batch_size", "8", "--num_epochs", "2", "--max_length", "16")


def write_questions(folder: Path) -> None:
    generator = np.random.default_rng(0)
    folder.mkdir()
    for split, count in (("train", 24), ("dev", 12), ("test", 12)):
        with (folder / f"{split}.jsonl").open("w") as file:
            for number in range(count):
                stars = "1" if number % 3 else "5"
                words = [*generator.choice(WORDS[:10], 4).tolist(), TELLING[stars]]
                row = {
                    "question": f"{split} {number}: was it {words[0]}",
                    "passage": f"{' '.join(words)} {split}",
                    "answer": "Yes" if stars == "1" else "No",
                }
                file.write(json.dumps(row) + "\n")


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Go:
    """Return a function that runs `python FILE WORDS` in a folder with a model and questions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(BOOLQ))
    forget()
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 1)  # tests share the others
    write_small_bert(tmp_path / "bert")
    write_questions(tmp_path / "questions")

    def run(file: str, *words: str) -> tuple[int, str, str]:
        module = load(file, course=BOOLQ)
        monkeypatch.setattr(sys, "argv", [file, *words])
        return exit_code(module), *capsys.readouterr()

    return run


def test_the_printed_command_learns_ten_questions_and_calls_them_train(go: Go) -> None:
    code, out, err = go(
        "classification.py",
        *("--experiment", "overfit", "--small_subset", "True", "--device", "cuda"),
        *("--model", "\nbert", "--batch_size", "64", "--lr", "1e-4", "--num_epochs", "20"),
        *("--data_dir", "questions", "--max_length", "16"),
    )
    assert code == 0, err
    run = Run.open(Path("runs/overfit"))
    assert run.record["steps"] == 20  # ten questions are one batch
    assert run.record["scores"].keys() == {"dev"}
    assert f"Average TRAIN metrics: accuracy={{'accuracy': {score(run)}}}" in out
    assert "There is no DEV and no TEST score: these 10 questions were trained on." in out
    assert Path("figures/overfit.png").read_bytes().startswith(b"\x89PNG")


def score(run: Run, split: str = "dev") -> float:
    return float(run.record["scores"][split]["value"])


def test_it_prints_the_documents_lines_with_what_they_are_worth(go: Go) -> None:
    code, out, err = go("classification.py", "--experiment", "test1", "--model", "bert", *SHORT)
    assert code == 0, err
    run = Run.open(Path("runs/test1"))
    assert f"Average DEV metrics: accuracy={{'accuracy': {score(run)}}}" in out
    assert f"Average TEST metrics: accuracy={{'accuracy': {score(run, 'test')}}}" in out
    assert out.count("always Yes: 0.6667, chance: 0.5") == 2
    assert run.config["settings"]["training"]["evaluate_every"] == 3  # after every epoch
    again, out_again, _ = go(
        "classification.py", "--experiment", "test1", "--model", "bert", *SHORT
    )
    assert (again, out_again) == (0, out)


@pytest.mark.parametrize(
    ("kind", "tuning", "pooler", "trained"),
    [
        ("auto", "full", True, None),
        ("full", "full", False, None),
        ("head", "head", False, 2 * 24 + 2),
        ("prefix", "prompt", False, (128 + 2) * 24 + 2),
    ],
)
def test_the_types_are_the_documents(
    go: Go, kind: str, tuning: str, pooler: bool, trained: int | None
) -> None:
    code, _, err = go("classification.py", "--type", kind, "--model", "bert", *SHORT)
    assert code == 0, err
    run = Run.open(Path("runs/experiment"))
    assert run.record["tuning"] == tuning
    assert run.config["settings"]["pooler"] is pooler
    if trained:
        assert run.record["n_trainable"] == trained


def test_small_subset_false_is_false_and_anything_else_is_refused(go: Go) -> None:
    """To argparse, bool("False") would be true."""
    code, _, err = go("classification.py", "--small_subset", "False", "--model", "bert", *SHORT)
    assert code == 0, err
    run = Run.open(Path("runs/experiment"))
    assert run.record["ledger"]["splits"]["train"]["n"] == 24
    code, _, err = go("classification.py", "--small_subset", "no", "--model", "bert", *SHORT)
    assert code == 2
    assert "'no' is neither True nor False" in err


def test_every_seed_has_the_same_test_set_and_none_of_it_is_trained_on(go: Go) -> None:
    """The starter code shuffled without a seed before it split."""
    ledgers = []
    for seed in ("0", "1"):
        words = ("--experiment", f"seed{seed}", "--seed", seed, "--model", "bert")
        assert go("classification.py", *words, *SHORT)[0] == 0
        ledgers.append(Run.open(Path(f"runs/seed{seed}")).record["ledger"])
    assert ledgers[0]["splits"] == ledgers[1]["splits"]
    assert ledgers[0]["overlaps"] == []


def test_a_question_and_its_passage_are_a_pair_for_roberta(go: Go, tmp_path: Path) -> None:
    """The starter code put " [SEP] " between them as text, which RoBERTa does not know."""
    folder = write_small_hub(tmp_path / "roberta", "roberta")
    code, _, err = go("classification.py", "--model", str(folder), *SHORT)
    assert code == 0, err
    assert Run.open(Path("runs/experiment")).record["has_pairs"]
    tokenizer = open_checkpoint(folder).read_tokenizer()
    row = tokenizer.row("was it fine", "fine food", max_len=16)
    end = 2
    assert row.tokens.count(end) == 3  # <s> question </s></s> passage </s>
    as_text = tokenizer.row("was it fine [SEP] fine food", max_len=32)
    assert as_text.tokens.count(end) == 1


def test_several_tests_are_drawn_together(go: Go) -> None:
    for lr in ("1e-3", "1e-2"):
        words = ("--experiment", f"lr{lr}", "--lr", lr, "--model", "bert")
        assert go("classification.py", *words, *SHORT)[0] == 0
    code, out, err = go("figures.py", "lr1e-3", "lr1e-2")
    assert code == 0, err
    assert out == "the figure is figures/all_tests.png\n"
    assert Path("figures/all_tests.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = go("figures.py", "lr1e-3", "other")
    assert code == 2
    assert "other" in err
