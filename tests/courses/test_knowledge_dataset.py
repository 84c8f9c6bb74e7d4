"""The knowledge course's data sets, its score and its baseline."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import COURSE, exit_code, load
from torch.utils.data import DataLoader

from attnlab.errors import UserError

TEXT = "Ada Byron. Ada Byron was born in London .\nBéla Kun lived in Lima .\nIon\nWhere?\tOslo\n"
QUESTIONS = "Where was Ada born?\tLondon\n\nWhere was Béla born?\tLima"
LINES = TEXT.splitlines()


def corruption(**options: Any) -> Any:
    return load("src/dataset.py").CharCorruptionDataset(TEXT, 40, **options)


def names(data: str = QUESTIONS, block: int = 40) -> Any:
    module = load("src/dataset.py")
    return module.NameDataset(module.CharCorruptionDataset(TEXT, block), data)


def written(dataset: Any, tokens: torch.Tensor) -> str:
    return "".join(dataset.itos[token] for token in tokens.tolist())


def test_the_vocabulary_is_pad_mark_and_the_sorted_characters_with_the_line_end() -> None:
    dataset = corruption()
    characters = sorted(set(TEXT))
    assert list(dataset.itos.values()) == ["□", "⁇", *characters]
    assert "\n" in dataset.stoi
    assert all(dataset.stoi[character] == token for token, character in dataset.itos.items())
    assert (dataset.vocab_size, dataset.block_size, len(dataset)) == (len(characters) + 2, 40, 4)


@pytest.mark.parametrize("third_mark", [False, True])
def test_a_row_put_together_again_is_the_beginning_of_its_line(third_mark: bool) -> None:
    dataset = corruption(third_mark=third_mark)
    for line, index in [(line, i) for i, line in enumerate(LINES) for _ in range(30)]:
        x, y = dataset[index]
        assert (x.dtype, x.shape, y.shape) == (torch.int64, (39,), (39,))
        assert torch.equal(x[1:], y[:-1])
        row = (written(dataset, x[:1]) + written(dataset, y)).rstrip("□")
        prefix, suffix, span, *after = row.split("⁇")
        assert after == ([""] if third_mark else [])
        whole = prefix + span + suffix
        assert line.startswith(whole)
        assert min(4, len(line)) <= len(whole) <= 35


def test_draws_differ_and_a_seed_repeats_them() -> None:
    dataset = corruption()
    torch.manual_seed(3)
    first = [dataset[0][0] for _ in range(9)]
    torch.manual_seed(3)
    again = [dataset[0][0] for _ in range(9)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert len({tuple(x.tolist()) for x in first}) > 5


def test_epochs_of_a_loader_differ() -> None:
    loader = DataLoader(corruption(), batch_size=4)
    (first, _), (second, _) = next(iter(loader)), next(iter(loader))
    assert first.shape == (4, 39)
    assert not torch.equal(first, second)


def test_a_question_is_read_and_its_answer_alone_predicted() -> None:
    dataset = names()
    x, y = dataset[1]
    assert written(dataset, x) == "Where was Béla born?⁇Lima⁇" + "□" * 13
    assert written(dataset, y) == "□" * 19 + "⁇Lima⁇" + "□" * 14
    assert (len(dataset), dataset.vocab_size, dataset.block_size) == (2, len(set(TEXT)) + 2, 40)
    assert list(dataset[0][0].shape) == list(dataset[0][1].shape) == [39]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", r"^the questions: there is no line with anything in it\.$"),
        ("Where?\tOslo\nWhere?", r"^line 2: 'Where\?' must be a question, a tab and an answer\.$"),
        ("Where?\tLima\tOslo", r"^line 1: .* must be a question, a tab and an answer\.$"),
        ("\tLima", r"^line 1: .* must be a question, a tab and an answer\.$"),
        ("Where?\t ", r"^line 1: .* must be a question, a tab and an answer\.$"),
        ("\n\nWhere?\tZürich", r"^line 3: the character 'Z' is not in the tokenizer: it does not"),
        ("Where⁇\tLima", r"^line 1: the text contains the reserved character '⁇'\. Remove it\.$"),
        (
            f"W{'h' * 34}\tLima",
            r"^line 1: question and answer have 41 characters with their marks,",
        ),
    ],
)
def test_a_wrong_question_is_reported_with_its_line(data: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        names(data)


def test_a_row_that_just_fits_is_taken() -> None:
    dataset = names(f"W{'h' * 33}\tLima")
    assert written(dataset, dataset[0][1]).endswith("⁇Lima⁇")


@pytest.mark.parametrize(
    ("data", "block", "message"),
    [
        (" \n", 40, r"^the text: there is no line with anything in it\.$"),
        ("a\nb □", 40, r"^line 2: the text contains the reserved character '□'\. Remove it\.$"),
        ("a ⁇", 40, r"^line 1: the text contains the reserved character '⁇'\. Remove it\.$"),
        ("a", 23, r"^block_size = 23 is too small: give 24 or more\.$"),
    ],
)
def test_a_wrong_text_is_reported(data: str, block: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load("src/dataset.py").CharCorruptionDataset(data, block)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "wiki.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "birth_places_train.tsv").write_text(QUESTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["dataset.py", *arguments])
        return exit_code(load("src/dataset.py")), *capsys.readouterr()


def test_the_command_shows_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    code, out, _ = said(capsys, "namedata")
    first, second, *_ = out.splitlines()
    assert (code, len(out.splitlines())) == (0, 4)
    assert first.startswith("x: Where was Ada born?⁇London⁇□□")
    assert second.startswith("y: □□")
    code, out, _ = said(capsys, "charcorruption")
    assert (code, [line[:3] for line in out.splitlines()]) == (0, ["x: ", "y: "] * 4)
    assert out.count("⁇") >= 4 * 3


def test_the_command_tells_a_mistake_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "birth_places_train.tsv").unlink()
    code, out, error = said(capsys, "namedata")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("dataset.py: cannot read birth_places_train.tsv in ")
    (folder / "wiki.txt").write_bytes(b"\xff")
    code, _, error = said(capsys, "charcorruption")
    assert (code, error[:40]) == (2, "dataset.py: wiki.txt is no UTF-8 text: i")
    assert said(capsys, "names")[0] == 2
    code, out, _ = said(capsys, "--help")
    assert code == 0
    assert "example: python src/dataset.py charcorruption" in out


def test_places_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    utils = load("src/utils.py")
    file = tmp_path / "dev.tsv"
    file.write_text("Where was A born?\tOslo\nWhere was B born?\tLima\n", encoding="utf-8")
    assert utils.evaluate_places(str(file), ["Oslo", "Bern"]) == (2.0, 1.0)
    with pytest.raises(UserError, match=r"dev\.tsv has 2 questions, but there are 1 predictions"):
        utils.evaluate_places(file, ["Oslo"])
    file.write_text("Where was A born?\n", encoding="utf-8")
    assert utils.evaluate_places(file, ["Oslo"]) == (0, 0)
    assert "holds no answers" in capsys.readouterr().out


def london(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(COURSE / "src" / "london_baseline.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ)


def test_always_london_is_scored(tmp_path: Path) -> None:
    questions = "Where was A born?\tLondon\nWhere was B born?\tLima\n"
    (tmp_path / "birth_dev.tsv").write_text(questions, encoding="utf-8")
    assert london(tmp_path).stdout == "Correct: 1.0 out of 2.0: 50.0%\n"
    missing = london(tmp_path, "none.tsv")
    assert (missing.returncode, missing.stderr) == (
        2,
        "london_baseline.py: there is no file none.tsv.\n",
    )


@pytest.mark.data
def test_the_real_files_give_256_tokens_2000_questions_and_a_twentieth_for_london(
    data_folder: Path,
) -> None:
    module, folder = load("src/dataset.py"), data_folder / "birthplace"
    text = module.CharCorruptionDataset(module.read_text(str(folder / "wiki.txt")), 128)
    questions = module.read_text(str(folder / "birth_places_train.tsv"))
    assert (text.vocab_size, len(module.NameDataset(text, questions))) == (256, 2000)
    told = london(folder, "birth_dev.tsv").stdout
    assert told == "Correct: 25.0 out of 500.0: 5.0%\n"
