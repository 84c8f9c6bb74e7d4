"""Files are read as they stand, records know the line they start on, and bad bytes are named."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from given_files import file

from attnlab.data.knowledge_files import read_corpus
from attnlab.data.text_files import csv_rows, read_lines, read_text, tsv_rows
from attnlab.errors import UserError


@pytest.mark.parametrize("read", [read_lines, read_corpus])
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("\n NA\r\n\r\n \t\nnull", [" NA", "null"]),
        ("a\u2028b\x0cc\x85d\re\n", ["a\u2028b\x0cc\x85d\re"]),
        (b"\xef\xbb\xbfGood.\n", ["Good."]),
    ],
    ids=["without the blank ones", "only line feeds end a line", "a byte order mark is no text"],
)
def test_a_file_has_one_text_per_line(
    tmp_path: Path, read: Callable[[Path], list[str]], content: str | bytes, lines: list[str]
) -> None:
    assert read(file(tmp_path / "given.txt", content)) == lines


def test_a_quote_in_tsv_is_a_character(tmp_path: Path) -> None:
    rows = tsv_rows(file(tmp_path / "given.txt", '"a\t0\n\nb ""\t1\r\n'))
    assert rows == [(1, ['"a', "0"]), (3, ['b ""', "1"])]


def test_a_csv_record_counts_from_the_line_it_starts_on(tmp_path: Path) -> None:
    rows = csv_rows(file(tmp_path / "given.txt", '1,"a\n\nb"\r\n\r\n  \n5,"c, ""d""\r\ne"\r\n3,f'))
    assert rows == [(1, ["1", "a\n\nb"]), (6, ["5", 'c, "d"\r\ne']), (8, ["3", "f"])]


def test_a_lone_carriage_return_inside_quotes_does_not_count_as_a_line(tmp_path: Path) -> None:
    assert csv_rows(file(tmp_path / "given.txt", '"a\rb"\nc\n')) == [(1, ["a\rb"]), (2, ["c"])]


def test_an_empty_quoted_field_is_a_record_and_not_a_blank_line(tmp_path: Path) -> None:
    assert csv_rows(file(tmp_path / "given.txt", 'a\n""\n')) == [(1, ["a"]), (2, [""])]


def test_a_very_long_field_is_read_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 7)
    assert csv_rows(file(tmp_path / "given.txt", f'1,"{long}"')) == [(1, ["1", long])]
    with pytest.raises(UserError):
        csv_rows(file(tmp_path / "given.txt", f'1,"{long}'))
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('1,a\n\n5,"never\n3,closed\n', r"given\.txt, line 3: a field opens .* never closed\. Cl"),
        ('1,a\n5,"so "good" it was"\n', r"line 2: text follows the double quote .* Double the"),
        ('1,"a"\n5,"b\n2,"c"\n', r"line 2: text follows the double quote that closes a field"),
        ("1,a\r5,b\r", r"line 1: there is a carriage return outside quotes\. End lines with a"),
    ],
    ids=["unclosed", "undoubled", "unclosed, and closed by the next", "carriage returns"],
)
def test_a_csv_that_is_none_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        csv_rows(file(tmp_path / "given.txt", content))


@pytest.mark.parametrize("read", [read_text, read_lines, tsv_rows, csv_rows])
def test_what_is_no_text_file_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(UserError, match=r"there is no file .*nothing\.txt\."):
        read(tmp_path / "nothing.txt")
    with pytest.raises(UserError, match=r"is a folder\. Name a file in it"):
        read(tmp_path)
    with pytest.raises(UserError, match=r"cannot read .*x\.txt: Not a directory"):
        read(file(tmp_path / "given.txt", "a") / "x.txt")
    with pytest.raises(
        UserError, match=r"line 2: byte 0xff at offset 7 is not valid UTF-8 .*Save the"
    ):
        read(file(tmp_path / "given.txt", b"\xef\xbb\xbfa\nb \xff.\n"))
    with pytest.raises(
        UserError, match=r"given\.txt, line 3: there is a NUL byte at offset 5\. Save"
    ):
        read(file(tmp_path / "given.txt", b"a\nb\nc\0\n"))


@pytest.mark.parametrize("content", ["", "\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_of_no_lines_is_refused(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(UserError, match=r"given\.txt is empty: there is no text in it\. Write"):
        read_lines(file(tmp_path / "given.txt", content))


@pytest.mark.data
def test_the_courses_unlabelled_reviews_are_read(data_folder: Path) -> None:
    texts = read_lines(data_folder / "yelp" / "unlabeled.txt")
    assert len(texts) == 11_481
    assert texts[0].startswith("The best gyro you will have in Arizona")
