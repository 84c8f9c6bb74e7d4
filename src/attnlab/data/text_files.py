"""Reads text files: UTF-8, in one go, with the line where each record starts.

Only a line feed (with or without a carriage return before it) ends a line, whatever Unicode calls
a break. CSV is quoted, so that a field may hold commas and lines; TSV is not: a quote is a
character like any other.
"""

import csv
from pathlib import Path

from attnlab.errors import UserError

Row = tuple[int, list[str]]
"""The line that a record starts on, and its cells."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file whole, without its byte order mark."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"there is no file {path}.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}, line {line}: the byte {error.object[error.start]:#04x} is no UTF-8"
            f" ({error.reason}). Save the file as UTF-8."
        ) from None
    before, nul, _ = text.partition("\0")
    if nul:
        line = before.count("\n") + 1
        raise UserError(f"{path}, line {line}: there is a NUL byte. Save the file as UTF-8 text.")
    return text


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Read the lines that are not blank, each with its number."""
    lines = enumerate(read_text(path).split("\n"), 1)
    return [(number, line.removesuffix("\r")) for number, line in lines if line.strip()]


def read_lines(path: Path) -> list[str]:
    """Read one text a line; blank lines are left out."""
    texts = [line for _, line in numbered_lines(path)]
    if not texts:
        raise UserError(f"{path} is empty: there is no text in it. Write one text a line.")
    return texts


def tsv_rows(path: Path) -> list[Row]:
    """Cut every line at its tabs."""
    return [(number, line.split("\t")) for number, line in numbered_lines(path)]


def csv_rows(path: Path) -> list[Row]:
    """Read comma-separated records; a quoted field may go on over several lines."""
    text = read_text(path)
    limit = csv.field_size_limit(len(text) + 1)  # a long review is no mistake
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
    """Say what csv's message means for the record that starts on a line."""
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
        return "a carriage return stands outside quotes. End lines with a line feed."
    return f"this is no CSV: {message}. Quote each field that holds commas, quotes or lines."
