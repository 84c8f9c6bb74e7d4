"""Reads UTF-8 text files, and says on which line each record starts.

Only a line feed (with or without a carriage return before it) ends a line; other Unicode line
breaks are part of the text. CSV fields may be quoted and then hold commas and line feeds; in TSV
a quote is an ordinary character.
"""

import csv
from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.files import reading

Row = tuple[int, list[str]]
"""The line that a record starts on, and its cells."""


def read_text(path: Path) -> str:
    """Read a UTF-8 file whole, without its byte order mark."""
    with reading(path):
        content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}, line {line}: byte {error.object[error.start]:#04x} is not valid UTF-8"
            f" ({error.reason}). Save the file as UTF-8."
        ) from None
    if "\0" in text:
        line = text.partition("\0")[0].count("\n") + 1
        raise UserError(f"{path}, line {line}: there is a NUL byte. Save the file as UTF-8 text.")
    return text


def all_lines(path: Path) -> list[str]:
    """Read every line, also the blank ones."""
    return [line.removesuffix("\r") for line in read_text(path).split("\n")]


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
    """Split every line at its tabs."""
    return [(number, line.split("\t")) for number, line in numbered_lines(path)]


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
