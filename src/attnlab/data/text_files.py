"""Reads UTF-8 text files, and says on which line each record starts.

Only a line feed (with or without a carriage return before it) ends a line; other Unicode line
breaks are part of the text. CSV fields may be quoted and then hold commas and line feeds; in TSV
a quote is an ordinary character.
"""

import codecs
import csv
from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.files import reading

Row = tuple[int, list[str]]
"""The line that a record starts on, and its cells."""

OTHER_MARKS = {  # UTF-32 first: its mark begins like that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""What a file begins with that is no UTF-8."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file whole, without its byte order mark."""
    with reading(path):
        content = path.read_bytes()
    return decode_text(content, str(path))


def decode_text(content: bytes, source: str) -> str:
    """Decode UTF-8, without its byte order mark; errors name the source, the line and the byte."""
    advice = "Save the text as UTF-8."
    for mark, encoding in OTHER_MARKS.items():
        if content.startswith(mark):
            raise UserError(
                f"{source}, line 1: the bytes {mark.hex(' ')} at offset 0 are the byte order mark"
                f" of {encoding}. {advice}"
            )
    start = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    try:
        text = content[start:].decode()
    except UnicodeDecodeError as error:
        at = error.start + start
        raise UserError(
            f"{_place(source, content, at)}: byte {content[at]:#04x} at offset {at} is not valid"
            f" UTF-8 ({error.reason}). {advice}"
        ) from None
    if (at := content.find(0)) >= 0:
        raise UserError(
            f"{_place(source, content, at)}: there is a NUL byte at offset {at}. {advice}"
        )
    return text


def _place(source: str, content: bytes, at: int) -> str:
    line = content.count(b"\n", 0, at) + 1
    return f"{source}, line {line}"


def all_lines(path: Path) -> list[str]:
    """Read every line, also the blank ones."""
    return split_lines(read_text(path), str(path))


def split_lines(text: str, source: str) -> list[str]:
    """Split a text at its line feeds; one whose lines end in carriage returns alone is refused."""
    if "\r" in text.rstrip("\r") and "\n" not in text:
        raise UserError(
            f"{source}, line 1: there are carriage returns, but no line feeds. End lines with a"
            " line feed."
        )
    return [line.removesuffix("\r") for line in text.split("\n")]


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Read the lines that are not blank, each with its number."""
    return [(number, line) for number, line in enumerate(all_lines(path), 1) if line.strip()]


def read_lines(path: Path) -> list[str]:
    """Read one text per line; blank lines are skipped."""
    texts = [line for _, line in numbered_lines(path)]
    if not texts:
        raise UserError(f"{path} is empty: there is no text in it. Write one text per line.")
    return texts


def tsv_rows(path: Path) -> list[Row]:
    """Split every line at its tabs; a line of tabs alone is a record of empty cells."""
    return [
        (number, line.split("\t"))
        for number, line in enumerate(all_lines(path), 1)
        if line.strip() or "\t" in line
    ]


def csv_rows(path: Path) -> list[Row]:
    """Read comma-separated records; a quoted field may span several lines."""
    text = read_text(path)
    limit = csv.field_size_limit(len(text) + 1)  # a long review is not a mistake
    try:
        return _csv_rows(path, text.split("\n"))
    finally:
        csv.field_size_limit(limit)


def _csv_rows(path: Path, lines: list[str]) -> list[Row]:
    reader = csv.reader((line + "\n" for line in lines), strict=True)
    rows: list[Row] = []
    start = 1
    try:
        for cells in reader:
            if lines[start - 1].strip():
                rows.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}, line {start}: {_csv_advice(str(error))}") from None
    return rows


def _csv_advice(message: str) -> str:
    """Explain the csv module's message in terms of the user's file."""
    if "unexpected end" in message:
        return (
            "a field opens with a double quote that is never closed. Close it, and double the"
            ' quotes inside a field: "so ""good"" it was".'
        )
    if "expected after" in message:
        return (
            "text follows the double quote that closes a field. Double the quotes inside a field:"
            ' "so ""good"" it was".'
        )
    if "new-line" in message:
        return "there is a carriage return outside quotes. End lines with a line feed."
    return f"this is not CSV: {message}. Quote each field that has commas, quotes or line feeds."
