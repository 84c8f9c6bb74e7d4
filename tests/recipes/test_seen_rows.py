"""What a split is called after its file, and how rows that were seen are counted."""

from pathlib import Path

import pytest

from attnlab.recipes.seen_rows import SeenRows, split_named_after


@pytest.mark.parametrize(
    ("file", "split"),
    [
        ("data/train.csv", "train"),
        ("my reviews (new).csv", "my_reviews_new"),
        ("v1.2.jsonl", "v1.2"),
        ("unseen.tsv", "unseen_file"),
        ("???.csv", "file"),
        (f"{'x' * 90}.csv", "x" * 60),
    ],
)
def test_a_split_is_called_after_its_file(file: str, split: str) -> None:
    assert split_named_after(Path(file)) == split


def test_a_row_that_was_trained_on_is_not_also_counted_as_read() -> None:
    seen = SeenRows(trained={"a", "b"}, read={"b", "c"}, chose=set())
    assert seen.warnings("new", ["a", "b", "c", "d"]) == [
        "new: 2 of 4 rows were trained on",
        "new: 1 of 4 rows were read in training, without labels",
    ]
    assert seen.warnings("new", ["d"]) == []
