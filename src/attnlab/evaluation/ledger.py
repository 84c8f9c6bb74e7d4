"""The split ledger: what each split holds, and what occurs in two of them.

A row is a mapping of fields. Overlaps are counted by kind: the whole row; the input with another
label, or without one if a split has no labels; and each input field by itself, such as a passage
that two questions share.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]
ROW_DIGITS = 16
"""Of a row's hash: two of a million rows share one once in 37 million."""


def content_sha256(rows: Iterable[Row]) -> str:
    """Hash the rows of a split in their order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_text(row) + b"\n")
    return digest.hexdigest()


def row_hashes(rows: Iterable[Row], *, inputs: Sequence[str]) -> list[str]:
    """Hash every row's inputs, so that it is found again in any file, with its label or without."""
    texts = (_text(_only(row, inputs)) for row in rows)
    return [hashlib.sha256(text).hexdigest()[:ROW_DIGITS] for text in texts]


def split_ledger(splits: Mapping[str, Sequence[Row]], *, inputs: Sequence[str]) -> dict[str, Any]:
    """Count and hash every split, and count what each two of them share.

    ``inputs`` names the fields that a model sees; the others (label, id) only make rows identical.
    """
    return {
        "splits": {
            name: {"n": len(rows), "sha256": content_sha256(rows)} for name, rows in splits.items()
        },
        "overlaps": [
            {"in": later, "of": len(splits[later]), "also_in": earlier, "shared": shared}
            for earlier, later in combinations(splits, 2)
            if any((shared := _shared(splits[later], splits[earlier], inputs)).values())
        ],
    }


def ledger_notes(ledger: Mapping[str, Any], *, about: Collection[str] | None = None) -> list[str]:
    """Say in sentences what is wrong or worth knowing about the splits, or about some of them."""
    about = ledger["splits"].keys() if about is None else about
    by_hash: dict[str, list[str]] = {}
    for name, split in ledger["splits"].items():
        by_hash.setdefault(split["sha256"], []).append(name)
    notes = [
        f"{' = '.join(names)}: the same {ledger['splits'][names[0]]['n']:,} rows; a score there is"
        " memory, not skill"
        for names in by_hash.values()
        if len(names) > 1 and not set(names).isdisjoint(about)
    ]
    for overlap in ledger["overlaps"]:
        if overlap["in"] not in about:
            continue
        if any({overlap["in"], overlap["also_in"]} <= set(names) for names in by_hash.values()):
            continue
        found = ", ".join(f"{n:,} {kind}" for kind, n in overlap["shared"].items() if n)
        notes.append(
            f"of {overlap['of']:,} rows in {overlap['in']}, also in {overlap['also_in']}: {found}"
        )
    return notes


def was_trained_on(record: Mapping[str, Any], split: str) -> bool:
    """Say whether all rows of a split were trained on, so that a score there is memory."""
    ledger = record.get("ledger", {"splits": {}, "overlaps": []})
    hashes = {name: one["sha256"] for name, one in ledger["splits"].items()}
    is_train = split in hashes and split != "train" and hashes[split] == hashes.get("train")
    is_covered = any(
        (one["in"], one["also_in"]) == (split, "train") and _all_seen(one["shared"], one["of"])
        for one in ledger["overlaps"]
    )
    is_warned = any(
        str(note).startswith(f"{split}: ") and "not a test score" in str(note)
        for note in record.get("warnings") or ()
    )
    return is_train or is_covered or is_warned


def _all_seen(shared: Mapping[str, int], of: int) -> bool:
    inputs = [n for kind, n in shared.items() if kind.startswith(("identical", "same input"))]
    return sum(inputs) == of


def _shared(rows: Sequence[Row], others: Sequence[Row], inputs: Sequence[str]) -> dict[str, int]:
    whole, seen = {_text(row) for row in others}, {_text(_only(row, inputs)) for row in others}
    identical = [_text(row) in whole for row in rows]
    same_input = [_text(_only(row, inputs)) in seen for row in rows]
    alike = bool(rows and others) and rows[0].keys() == others[0].keys()
    shared = {
        "identical rows": sum(identical),
        "same input with another label" if alike else "same input": sum(
            b and not a for a, b in zip(identical, same_input, strict=True)
        ),
    }
    for field in inputs if len(inputs) > 1 else ():
        values = {_text(_only(row, [field])) for row in others}
        shared[f"same {field}"] = sum(_text(_only(row, [field])) in values for row in rows)
    return shared


def _only(row: Row, fields: Sequence[str]) -> Row:
    return {field: row[field] for field in fields}


def _text(row: Row) -> bytes:
    return json.dumps(row, sort_keys=True, ensure_ascii=False).encode()
