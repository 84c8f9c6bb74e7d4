"""Files are read as they stand, records know the line they start on, and bad bytes are told."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab.data.text_files import csv_rows, read_lines, read_text, tsv_rows
from attnlab.errors import UserError


def file(folder: Path, content: str | bytes) -> Path:
    path = folder / "given.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_text_a_line_without_the_blank_ones(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, "\n NA\r\n\r\n \t\nnull")) == [" NA", "null"]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, "a\u2028b\x0cc\x85d\re\n")) == ["a\u2028b\x0cc\x85d\re"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"\xef\xbb\xbfGood.\n")) == ["Good."]


def test_a_quote_in_tsv_is_a_character(tmp_path: Path) -> None:
    rows = tsv_rows(file(tmp_path, '"a\t0\n\nb ""\t1\r\n'))
    assert rows == [(1, ['"a', "0"]), (3, ['b ""', "1"])]


def test_a_csv_record_counts_from_the_line_it_starts_on(tmp_path: Path) -> None:
    rows = csv_rows(file(tmp_path, '1,"a\n\nb"\r\n\r\n  \n5,"c, ""d""\r\ne"\r\n3,f'))
    assert rows == [(1, ["1", "a\n\nb"]), (6, ["5", 'c, "d"\r\ne']), (8, ["3", "f"])]


def test_a_lone_carriage_return_inside_quotes_does_not_count_as_a_line(tmp_path: Path) -> None:
    assert csv_rows(file(tmp_path, '"a\rb"\nc\n')) == [(1, ["a\rb"]), (2, ["c"])]


def test_an_empty_quoted_field_is_a_record_and_not_a_blank_line(tmp_path: Path) -> None:
    assert csv_rows(file(tmp_path, 'a\n""\n')) == [(1, ["a"]), (2, [""])]


def test_a_very_long_field_is_read_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 7)
    assert csv_rows(file(tmp_path, f'1,"{long}"')) == [(1, ["1", long])]
    with pytest.raises(UserError):
        csv_rows(file(tmp_path, f'1,"{long}'))
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
        csv_rows(file(tmp_path, content))


@pytest.mark.parametrize("read", [read_text, read_lines, tsv_rows, csv_rows])
def test_what_is_no_text_file_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    with pytest.raises(UserError, match=r"there is no file .*nothing\.txt\."):
        read(tmp_path / "nothing.txt")
    with pytest.raises(UserError, match=r"is a folder\. Name a file in it"):
        read(tmp_path)
    with pytest.raises(UserError, match=r"cannot read .*x\.txt: Not a directory"):
        read(file(tmp_path, "a") / "x.txt")
    with pytest.raises(UserError, match=r"line 2: byte 0xff is not valid UTF-8 .*Save the file as"):
        read(file(tmp_path, b"\xef\xbb\xbfa\nb \xff.\n"))
    with pytest.raises(UserError, match=r"given\.txt, line 3: there is a NUL byte\. Save"):
        read(file(tmp_path, b"a\nb\nc\0\n"))


@pytest.mark.parametrize("content", ["", "\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_of_no_lines_is_refused(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(UserError, match=r"given\.txt is empty: there is no text in it\. Write"):
        read_lines(file(tmp_path, content))


@pytest.mark.data
def test_the_courses_unlabelled_reviews_are_read(data_folder: Path) -> None:
    texts = read_lines(data_folder / "yelp" / "unlabeled.txt")
    assert len(texts) == 11_481
    assert texts[0].startswith("The best gyro you will have in Arizona")
