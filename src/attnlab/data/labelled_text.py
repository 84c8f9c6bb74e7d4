"""Texts to classify, alone or in pairs, with their labels: CSV, TSV or JSON lines.

    .csv     label,text              *yelp*:  5,"Great gyros.<newline>Will come back."
    .tsv     text<TAB>label          *sst2*:  one long string of cliches<TAB>0
    .jsonl   one object per line     *boolq*: {"question": …, "passage": …, "answer": true}

A first row of column names is a header, and the columns may then come in any order. Labels are kept
as written: "5" and "5.0" are two classes, and "NA" and "null" are ordinary words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attnlab.data.bad_records import BadRecordError, BadRecords, line_in
from attnlab.data.example_fields import ADVICE, Fields, json_fields, row_fields, table_columns
from attnlab.data.header import short
from attnlab.data.text_files import csv_rows, numbered_lines, tsv_rows
from attnlab.errors import UserError
from attnlab.phases import phase

FORMATS = {
    ".csv": "label,text",
    ".tsv": "text, a tab, label",
    ".jsonl": '{"text": "…", "label": "…"} on each line',
}
NOTHING: Mapping[str, str] = MappingProxyType({})
BYTE_ORDER_MARK = "\ufeff"
LONGEST_LABEL = 100
"""In characters; anything longer is probably a text in the label column."""


@dataclass(frozen=True)
class Example:
    """A text, the text it is paired with, and its label, where the file gives them."""

    id: str
    """File name and line, such as ``train.csv:12``; the line is where the record starts."""
    text: str
    pair: str | None
    label: str | None
    place: str
    """Path and line, for messages."""


def read_labelled(
    path: Path,
    *,
    labelled: bool = False,
    columns: Sequence[str] = (),
    named: Mapping[str, str] = NOTHING,
) -> list[Example]:
    """Read the examples of a file; ``labelled`` insists on labels, else the first record decides.

    ``columns`` says what the columns of a CSV or TSV file are: ``label``, ``text``, ``pair``, or
    ``-`` for one to skip; the label's may be missing from the file. ``named`` says what the header,
    or the keys of JSON lines, call the label, the text and the pair, if they have no usual name.
    Either all examples have a label or none has, and the same holds for the pair.
    """
    bad, examples = BadRecords(), list[Example]()
    with phase(f"reading {path.name}"):
        records, fields_of = _records(path, columns, named)
        for line, record in records:
            place = f"{path}, line {line}"
            with bad.collected():
                example = _example(f"{path.name}:{line}", fields_of(place, record), place)
                _check_alike(example, examples[0] if examples else example)
                examples.append(example)
    wanted = f"Write {FORMATS[path.suffix.lower()]}."
    if not records:
        raise UserError(f"{path} is empty: there is no example in it. {wanted}")
    if labelled and examples and examples[0].label is None:
        place = examples[0].place
        if "label" in named and not columns:
            raise UserError(
                f"{place}: there is no label in {named['label']!r}, which --label-column names;"
                " every example needs one here."
            )
        raise UserError(f"{place}: the label is missing; every example needs one here. {wanted}")
    bad.refuse(len(records))
    return examples


def _records(
    path: Path, columns: Sequence[str], named: Mapping[str, str]
) -> tuple[Sequence[tuple[int, Any]], Callable[[str, Any], Fields]]:
    """Return every record with its line, and how to read one; the file name decides the format."""
    if path.is_dir():
        raise UserError(f"{path} is a folder. Name a {' or '.join(FORMATS)} file in it.")
    match path.suffix.lower():
        case ".csv" | ".tsv" as suffix:
            rows = csv_rows(path) if suffix == ".csv" else tsv_rows(path)
            names, has_header = table_columns(path, rows, columns=columns, named=named)
            return rows[has_header:], partial(row_fields, names=names, advice=ADVICE[suffix])
        case ".jsonl":
            return numbered_lines(path), partial(json_fields, named=named)
        case suffix:
            allowed = "; ".join(f"{known} ({what})" for known, what in FORMATS.items())
            raise UserError(
                f"{path}: files ending in {suffix!r} cannot be read. Allowed: {allowed}."
            )


def _example(name: str, fields: Fields, place: str) -> Example:
    text, pair, label = fields["text"], fields.get("pair", ""), fields.get("label", "").strip()
    if not text.strip():
        raise BadRecordError(place, "the text is empty", ". Write one, or remove the record.")
    if len(label) > LONGEST_LABEL:
        reason = (
            f"the label {short(label)} is {len(label)} characters long, and at most"
            f" {LONGEST_LABEL} are allowed"
        )
        raise BadRecordError(place, reason, ". If it is the text, name the columns in a header.")
    if label.startswith(BYTE_ORDER_MARK):
        reason = f"the label {short(label)} begins with a byte order mark"
        raise BadRecordError(place, reason, ", as in files that were joined. Remove the mark.")
    return Example(name, text, pair if pair.strip() else None, label or None, place)


def _check_alike(example: Example, first: Example) -> None:
    """Refuse a label or a pair that only one of the two has."""
    for role in ("label", "pair"):
        value, wanted = getattr(example, role), getattr(first, role)
        if (value is None) != (wanted is None):
            reason = (
                f"the {role} is {_or_missing(value)}, but that of {line_in(first.place)} is"
                f" {_or_missing(wanted)}"
            )
            raise BadRecordError(example.place, reason, f". Give every example a {role}, or none.")


def _or_missing(value: str | None) -> str:
    return "missing" if value is None else short(value)
