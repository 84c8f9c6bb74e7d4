"""Every bad row of every format is named with line and reason; no row is lost in silence."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from given_files import file

from attnlab.data.bad_records import MOST_LISTED, BadRecordError, BadRecords
from attnlab.data.classes import check_labels
from attnlab.data.labelled_text import read_labelled
from attnlab.errors import UserError

Row = tuple[str, ...]
"""Text, pair if there is one, and label."""

GOOD: dict[bool, list[Row]] = {
    False: [("good food", "1"), ("bad food", "0")],
    True: [("is it", "It is.", "1"), ("was it", "It was not.", "0")],
}
"""One row before the bad one and one after it, by whether they are pairs."""


def csv_line(row: Row) -> str:
    cells = [row[-1], *row[:-1]] if len(row) == 2 else row  # label,text; pairs have a header
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def json_line(row: Row) -> str:
    return json.dumps(dict(zip(KEYS[len(row)], row, strict=True)), ensure_ascii=False)


KEYS = {2: ("text", "label"), 3: ("question", "passage", "answer")}
WRITE: dict[str, Callable[[Row], str]] = {".csv": csv_line, ".tsv": "\t".join, ".jsonl": json_line}
HEADER = {(".csv", True): "question,passage,answer"}
"""Only a table whose columns are not known by their number needs one: SST-2's has none."""
FORMATS = pytest.mark.parametrize("suffix", WRITE)
PAIRS = pytest.mark.parametrize("pairs", [False, True], ids=["texts", "pairs"])


def written(suffix: str, rows: Sequence[Row | str], end: str = "\n") -> tuple[str, int]:
    """Return a file's content, rows that are a string as they stand, and the line of the second."""
    lines = [row if isinstance(row, str) else WRITE[suffix](row) for row in rows]
    header = HEADER.get((suffix, len(rows[0]) == 3))
    head = [header] if header else []
    return "".join(line + end for line in (*head, *lines)), len(head) + 2


def around(suffix: str, pairs: bool, bad: Row | str) -> tuple[str, int]:
    """Return a file whose second row is bad, and its line."""
    before, after = GOOD[pairs]
    return written(suffix, [before, bad, after])


def rows_of(path: Path) -> list[Row]:
    found = read_labelled(path, labelled=True)
    return [tuple(v for v in (e.text, e.pair, e.label) if v is not None) for e in found]


def refused(path: Path, line: int, reason: str) -> None:
    with pytest.raises(UserError, match=rf"^{re.escape(str(path))}, line {line}: .*{reason}"):
        read_labelled(path, labelled=True)


@FORMATS
@PAIRS
def test_a_quote_that_is_not_closed_is_named_where_it_opens(
    tmp_path: Path, suffix: str, pairs: bool
) -> None:
    row = ('the "best', "It is.", "1") if pairs else ('the "best', "1")
    bad = {".csv": '"the best', ".tsv": "\t".join(row), ".jsonl": '{"text": "the best'}[suffix]
    content, line = around(suffix, pairs, bad)
    path = file(tmp_path / f"a{suffix}", content)
    if suffix == ".tsv":  # a quote is a character there
        assert rows_of(path) == [GOOD[pairs][0], row, GOOD[pairs][1]]
    else:
        reason = {".csv": "text follows the double quote", ".jsonl": "is not JSON: Unterminated"}
        refused(path, line, reason[suffix])


@FORMATS
@PAIRS
@pytest.mark.parametrize("change", ["missing", "extra"])
def test_a_column_missing_or_extra_is_named(
    tmp_path: Path, suffix: str, pairs: bool, change: str
) -> None:
    good = GOOD[pairs][0]
    if suffix == ".jsonl":
        key = KEYS[len(good)][-1]
        record = json.loads(json_line(good))
        label = record.pop(key)
        bad = json.dumps(record)
        if change == "extra":  # a key of its own is ignored; the same key again is not
            bad = f'{bad[:-1]}, "id": 7, "{key}": "{label}", "{key}": "0"}}'
        reason = {"missing": "the label is missing", "extra": f"the key '{key}' appears twice"}
    else:
        separator = "," if suffix == ".csv" else "\t"
        cells = good[:-1] if change == "missing" else (*good, "7")
        bad, n = separator.join(cells), len(good)
        wrong = n - 1 if change == "missing" else n + 1
        reason = dict.fromkeys((change,), f"has {wrong} columns?; expected {n} columns: ")
    content, line = around(suffix, pairs, bad)
    refused(file(tmp_path / f"a{suffix}", content), line, reason[change])


@FORMATS
@PAIRS
@pytest.mark.parametrize("empty", ["", " \u3000"], ids=["empty", "blank"])
def test_an_empty_text_pair_or_label_is_named(
    tmp_path: Path, suffix: str, pairs: bool, empty: str
) -> None:
    good = GOOD[pairs][0]
    reasons = ["the text is empty", "the pair is missing", "the label is missing"]
    if not pairs:
        del reasons[1]
    for i, reason in enumerate(reasons):
        content, line = around(suffix, pairs, (*good[:i], empty, *good[i + 1 :]))
        refused(file(tmp_path / f"a{suffix}", content), line, reason)
    content, line = around(suffix, pairs, tuple(empty for _ in good))
    refused(file(tmp_path / f"a{suffix}", content), line, "the text is empty")


@FORMATS
@PAIRS
def test_an_unknown_label_is_named(tmp_path: Path, suffix: str, pairs: bool) -> None:
    content, line = around(suffix, pairs, (*GOOD[pairs][0][:-1], "NA"))
    path = file(tmp_path / f"a{suffix}", content)
    message = rf", line {line}: the label 'NA' is not one of the 2 classes: 0, 1\. Correct"
    with pytest.raises(UserError, match=message):
        check_labels(read_labelled(path), ["0", "1"])


@FORMATS
@PAIRS
@pytest.mark.parametrize(
    "text",
    ["NA", "so 👩‍👩‍👧 good 🇳🇴", "מסעדה נהדרת \u200fشكرا", "cafe\u0301 a\u0308\u0323",
     "x" * 1_000_000, "a \u2028 b \x85 c \x0c d \ufeff e"],
    ids=["NA", "emoji", "right to left", "combining", "1 MB", "other line breaks"],
)  # fmt: skip
def test_text_comes_back_exactly(tmp_path: Path, suffix: str, pairs: bool, text: str) -> None:
    row = (*([text] * (1 + pairs)), text[:9].strip())
    rows = [GOOD[pairs][0], row, GOOD[pairs][1]]
    for mark, end in (("", "\n"), ("", "\r\n"), ("\ufeff", "\n"), ("\ufeff", "\r\n")):
        content, _ = written(suffix, rows, end)
        assert rows_of(file(tmp_path / f"a{suffix}", mark + content)) == rows


@FORMATS
@PAIRS
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"caf\xe9 x", "byte 0xe9 at offset {} is not valid UTF-8"),
        (b"caf\xc3", "byte 0xc3 at offset {} is not valid UTF-8"),
        (b"caf\xed\xa0\xbd", "byte 0xed at offset {} is not valid UTF-8"),
        (b"caf\0", "there is a NUL byte at offset {}"),
    ],
    ids=["latin-1", "half a character", "half a surrogate pair", "NUL"],
)
def test_bytes_that_are_no_text_are_named_with_their_offset(
    tmp_path: Path, suffix: str, pairs: bool, bad: bytes, reason: str
) -> None:
    good = GOOD[pairs][0]
    content, line = around(suffix, pairs, ("é", *good[1:-1], "HERE"))
    for mark in (b"", b"\xef\xbb\xbf"):
        given = mark + content.encode().replace(b"HERE", bad)
        offset = given.index(b"caf") + 3
        refused(file(tmp_path / f"a{suffix}", given), line, reason.format(offset))


@FORMATS
@PAIRS
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_named(tmp_path: Path, suffix: str, pairs: bool, encoding: str) -> None:
    content, _ = written(suffix, GOOD[pairs])
    marks = {"utf-16": "the bytes ff fe at offset 0 are the byte order mark of UTF-16",
             "utf-32": "the bytes ff fe 00 00 at offset 0 are the byte order mark of UTF-32",
             "utf-16-le": "there is a NUL byte at offset 1",
             "utf-16-be": "there is a NUL byte at offset 0"}  # fmt: skip
    refused(file(tmp_path / f"a{suffix}", content.encode(encoding)), 1, marks[encoding])


@FORMATS
@PAIRS
def test_a_file_of_carriage_returns_is_not_one_row(
    tmp_path: Path, suffix: str, pairs: bool
) -> None:
    content, _ = written(suffix, GOOD[pairs], end="\r")
    refused(file(tmp_path / f"a{suffix}", content), 1, "carriage return")


def test_a_byte_order_mark_between_joined_files_makes_no_class(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "1,good\n\ufeff1,bad\n")
    refused(path, 2, r"the label '\\ufeff1' begins with a byte order mark, .* Remove the mark")
    path = file(tmp_path / "a.jsonl", '{"text": "a", "label": 1}\n\ufeff{"text": "b", "label": 1}')
    refused(path, 2, "is not JSON: Unexpected UTF-8 BOM")


@PAIRS
def test_a_line_of_tabs_is_a_row_and_a_blank_line_is_none(tmp_path: Path, pairs: bool) -> None:
    content, line = around(".tsv", pairs, "\t" * (1 + pairs))
    refused(file(tmp_path / "a.tsv", content), line, "the text is empty")
    content, _ = around(".tsv", pairs, " ")
    assert rows_of(file(tmp_path / "a.tsv", content)) == GOOD[pairs]


def test_one_message_names_every_bad_row_and_counts_all(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "1,a\n2\n\n1,\n,b\n2,c\n2,d,e\n")
    with pytest.raises(UserError) as error:
        read_labelled(path, labelled=True)
    assert str(error.value) == (
        f"{path}, line 2: '2' has 1 column; expected 2 columns: label, text. Put double quotes"
        " around a text that contains commas.\n"
        "3 more of 6 records cannot be used: line 4 (the text is empty), line 5 (the label is"
        " missing, but that of line 1 is '1'), line 7 ('2, d, e' has 3 columns; expected 2"
        " columns: label, text)."
    )


def test_unknown_labels_are_named_together(tmp_path: Path) -> None:
    examples = read_labelled(file(tmp_path / "a.tsv", "a\t1\nb\tone\nc\t0\nd\t2\n"))
    message = (
        r"line 2: the label 'one' .*: 0, 1\. .*\n1 more of 4 records cannot be used:"
        r" line 4 \(the label '2' is not one of the 2 classes\)\.$"
    )
    with pytest.raises(UserError, match=message):
        check_labels(examples, ["0", "1"])


@pytest.mark.parametrize("n_bad", [0, 1, 2, MOST_LISTED + 1, 1_002])
def test_accepted_and_refused_make_up_the_file(n_bad: int) -> None:
    bad, accepted = BadRecords(), 0
    for line in range(1, n_bad + 4):
        with bad.collected():
            if line <= n_bad:
                raise BadRecordError(f"a.csv, line {line}", "it is bad", ". Mend it.")
            accepted += 1
    assert accepted == 3
    if not n_bad:
        bad.refuse(accepted)
        return
    with pytest.raises(UserError, match=r"^a\.csv, line 1: it is bad\. Mend it\.") as error:
        bad.refuse(accepted + n_bad)
    listed = len(re.findall(r"line \d+ \(it is bad\)", str(error.value)))
    assert listed == min(n_bad - 1, MOST_LISTED)
    if n_bad > 1:
        assert f"\n{n_bad - 1:,} more of {n_bad + 3:,} records cannot" in str(error.value)
    more = n_bad - 1 - MOST_LISTED
    assert (f" and {more:,} more." in str(error.value)) == (more > 0)
