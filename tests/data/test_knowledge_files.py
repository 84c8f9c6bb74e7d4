"""Corpus and questions are read as they stand, and every wrong line is named."""

from pathlib import Path

import pytest
from given_files import file

from attnlab.data.knowledge_files import Question, read_corpus, read_questions
from attnlab.errors import UserError


def test_a_corpus_has_one_document_per_line(tmp_path: Path) -> None:
    assert read_corpus(file(tmp_path / "given.txt", "Ada was.\n\nBela is .\r\n")) == [
        "Ada was.",
        "Bela is .",
    ]


def test_questions_have_answers_or_none(tmp_path: Path) -> None:
    labelled = file(
        tmp_path / "given.txt", "Where was Ada born?\tOslo\nWhere was Bela born?\tNew York\n"
    )
    assert read_questions(labelled)[1] == Question(
        "Where was Bela born?", "New York", f"{labelled}, line 2"
    )
    unlabelled = file(tmp_path / "given.txt", "\nWhere was Ada born?\n")
    assert read_questions(unlabelled) == [
        Question("Where was Ada born?", None, f"{unlabelled}, line 2")
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "given.txt is empty: there is no text"),
        ("\n \n", "given.txt is empty: there is no text"),
        ("Ada.\nBe⁇la.\n", "given.txt, line 2: the text contains the reserved character '⁇'"),
        ("Ada□.\n", "given.txt, line 1: the text contains the reserved character '□'"),
        (b"Ada \xff.\n", "given.txt, line 1: byte 0xff at offset 4 is not valid UTF-8"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_refused(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(UserError) as error:
        read_corpus(file(tmp_path / "given.txt", content))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "labelled", "message"),
    [
        ("", None, "given.txt is empty: there is no question"),
        ("Where?\tOslo\nWho?\n", None, "line 2: 'Who?' must be a question, a tab and an answer"),
        ("Where?\tOslo\tNo\n", None, "line 1: 'Where?\\tOslo\\tNo' must be"),
        ("Where?\t \n", None, "must be a question, a tab and an answer"),
        ("Where?\n", True, "line 1: 'Where?' must be a question, a tab and an answer"),
        ("Where?\n\nWho?\tA\n", None, "line 3: 'Who?\\tA' must be a question alone"),
        ("Where?\tA\n", False, "must be a question alone, without a tab"),
    ],
)
def test_questions_that_cannot_be_used_are_refused(
    tmp_path: Path, content: str, labelled: bool | None, message: str
) -> None:
    with pytest.raises(UserError) as error:
        read_questions(file(tmp_path / "given.txt", content), labelled=labelled)
    assert message in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for read in (read_corpus, read_questions):
        with pytest.raises(UserError, match=r"there is no file .*nothing\.txt"):
            read(tmp_path / "nothing.txt")


@pytest.mark.data
def test_the_courses_files_are_read(data_folder: Path) -> None:
    folder = data_folder / "birthplace"
    assert len(read_corpus(folder / "wiki.txt")) == 2937
    sizes = {
        name: len(read_questions(folder / name, labelled=labelled))
        for name, labelled in (
            ("birth_places_train.tsv", True), ("birth_dev.tsv", True),
            ("birth_test_inputs.tsv", False),
        )
    }  # fmt: skip
    assert list(sizes.values()) == [2000, 500, 437]
