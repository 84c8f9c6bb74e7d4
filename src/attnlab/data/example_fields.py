"""Which column of a table, or key of a JSON object, is the label, the text and its pair."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnlab.data.bad_records import BadRecordError
from attnlab.data.header import (
    CALLED,
    NAME_LIKE,
    NAMES,
    SKIP,
    check_fields,
    field_called,
    is_unknown_header,
    named_fields,
    short,
    unknown_columns,
)
from attnlab.data.text_files import Row
from attnlab.errors import UserError, unknown_name

Fields = dict[str, str]
"""The ``text`` of a record, and its ``label`` and ``pair`` if it has them."""

UNNAMED = {
    ".csv": {1: ["text"], 2: ["label", "text"]},
    ".tsv": {1: ["text"], 2: ["text", "label"], 3: ["text", "pair", "label"]},
}
"""The columns of a file without a header, by their number."""
ADVICE = {
    ".csv": "Put double quotes around a text that contains commas",
    ".tsv": "Remove the tabs from the texts",
}
WHOLE_NUMBER = re.compile("-?[0-9]{1,18}")
NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
"""NUL, and half a surrogate pair: only a JSON escape can produce them."""


def table_columns(
    path: Path, rows: Sequence[Row], *, columns: Sequence[str], named: Mapping[str, str]
) -> tuple[Sequence[str], bool]:
    """Name the columns by the caller, the header or the format; say whether there is a header.

    ``named`` is what the header calls the fields.
    """
    if not rows:
        return (), False
    first_line, first = rows[0]
    place = f"{path}, line {first_line}"
    if columns:
        # texts to predict may lack the label
        unlabelled = len(first) == len(columns) - 1
        names = [name for name in columns if name != "label"] if unlabelled else columns
        return names, _is_header_of(first, names)
    if named:
        return named_fields(place, first, named), True
    return _found_columns(place, [cells for _, cells in rows], UNNAMED[path.suffix.lower()])


def row_fields(place: str, cells: Sequence[str], *, names: Sequence[str], advice: str) -> Fields:
    """Name the cells of one row."""
    if len(cells) != len(names):
        reason = (
            f"{short(cells)} has {_count(len(cells))}; expected {_count(len(names))}:"
            f" {', '.join(names)}"
        )
        raise BadRecordError(place, reason, f". {advice}.")
    return {name: cell for name, cell in zip(names, cells, strict=True) if name != SKIP}


def _is_header_of(first: Sequence[str], columns: Sequence[str]) -> bool:
    """Check the caller's columns, and say whether the first row is a header."""
    allowed = (*NAMES, SKIP)
    for name in columns:
        if name not in allowed:
            raise unknown_name("column", name, allowed)
    check_fields("the columns", columns, [name for name in columns if name != SKIP], hint="")
    if len(first) != len(columns):
        return False
    return _holds_names([cell for cell, name in zip(first, columns, strict=True) if name != SKIP])


def _found_columns(
    place: str, table: Sequence[Sequence[str]], unnamed: dict[int, list[str]]
) -> tuple[Sequence[str], bool]:
    """Return what each column is, and whether the first row is a header."""
    first, rest = table[0], table[1:]
    fields = [field for field in map(field_called, first) if field]
    if len(fields) == len(first):
        check_fields(f"{place}: the header", first, fields, hint=CALLED)
        return fields, True
    if _holds_names(first):
        raise unknown_columns(place, first, rest)
    usual = unnamed.get(len(first))
    if usual and is_unknown_header(table, usual):
        if_none = f". If it is no header but an example, give --columns {','.join(usual)}"
        raise unknown_columns(place, first, rest, more=if_none)
    if usual is None and all(map(NAME_LIKE.fullmatch, first)):
        raise unknown_columns(place, first, rest)
    if usual is None:
        allowed = "; ".join(", ".join(known) for known in unnamed.values())
        raise UserError(
            f"{place}: {short(first)} has {_count(len(first))}. Without a header, the columns must"
            f" be: {allowed}. Name them in a header, or with --columns, where - skips one."
        )
    return usual, False


def _holds_names(cells: Sequence[str]) -> bool:
    """Tell a header, such as `rating,review`, from a text of one word, such as `5,review`."""
    unknown = [cell for cell in cells if not field_called(cell)]
    n_known = len(cells) - len(unknown)
    return n_known > 1 or (n_known == 1 and not any(map(WHOLE_NUMBER.fullmatch, unknown)))


def json_fields(place: str, line: str, *, named: Mapping[str, str]) -> Fields:
    """Read one JSON object; unknown keys are ignored."""
    record = _json_object(place, line)
    fields = named_fields(place, list(record), named) if named else map(field_called, record)
    given = [
        (field, key)
        for key, field in zip(record, fields, strict=True)
        if field not in (None, SKIP) and record[key] is not None
    ]
    known = [field_called(key) for key in record]
    if not named and "text" not in known and None in known:
        sample = [value if isinstance(value, str) else "" for value in record.values()]
        raise unknown_columns(place, list(record), [sample])
    check_fields(f"{place}: the keys", list(record), [str(f) for f, _ in given], hint=CALLED)
    return {str(field): _json_text(place, key, record[key], field) for field, key in given}


def _json_object(place: str, line: str) -> dict[str, Any]:
    advice = '. Write one object per line: {"text": "…", "label": "…"}.'

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)  # of two values, json would keep the last and say nothing
        if len(record) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise BadRecordError(place, f"the key {short(twice)} appears twice", ". Remove one.")
        return record

    try:
        record = json.loads(line, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        reason = f"{short(line)} is not JSON: {error.msg} at character {error.colno}"
        raise BadRecordError(place, reason, advice) from None
    except (ValueError, RecursionError):  # thousands of digits or of brackets
        raise BadRecordError(place, f"{short(line)} is too large to read", advice) from None
    if not isinstance(record, dict):
        raise BadRecordError(place, f"{short(line)} is not a JSON object", advice)
    return record


def _json_text(place: str, key: str, value: object, field: str | None) -> str:
    is_label = field == "label"
    if isinstance(value, bool | int | float) and is_label:
        return json.dumps(value)
    if not isinstance(value, str):
        wanted = "text in quotes, a number, true or false" if is_label else "text in quotes"
        reason = f"{key!r} must be {wanted}, not {short(json.dumps(value))}"
        raise BadRecordError(place, reason, ".")
    if found := NO_CHARACTER.search(value):
        reason = f"{key!r} contains {found[0]!r}, which is not text"
        raise BadRecordError(place, reason, ". Remove it.")
    return value


def _count(columns: int) -> str:
    return "1 column" if columns == 1 else f"{columns} columns"
