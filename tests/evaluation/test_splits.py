"""Two splits have one hash exactly if they hold the same rows in the same order."""

import hashlib
from typing import Any

import pytest

from attnlab.evaluation.splits import content_sha256

ROWS: list[dict[str, Any]] = [{"id": "Zoë", "place": "Oslo"}, {"id": "Ada", "place": "Lima"}]


def test_the_hash_is_that_of_one_sorted_json_line_a_row() -> None:
    text = '{"id": "Zoë", "place": "Oslo"}\n{"id": "Ada", "place": "Lima"}\n'
    assert content_sha256(ROWS) == hashlib.sha256(text.encode()).hexdigest()


def test_the_order_of_the_keys_does_not_matter() -> None:
    turned = [dict(reversed(row.items())) for row in ROWS]
    assert content_sha256(iter(turned)) == content_sha256(ROWS)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[::-1],
        ROWS[:1],
        [*ROWS, ROWS[0]],
        [ROWS[0], {"id": "Ada", "place": "Lima "}],
        [ROWS[0], {"id": "Ada", "home": "Lima"}],
        [ROWS[0], {"id": "Ada", "place": None}],
        [],
    ],
    ids=["turned", "one fewer", "one twice", "a space", "a key", "a null", "none"],
)
def test_any_other_content_or_order_has_another_hash(rows: list[dict[str, Any]]) -> None:
    assert content_sha256(rows) != content_sha256(ROWS)
