"""Plain text: every line as it is, ended by the mark, and every token of it scored."""

import numpy as np
import pytest

from attnlab.data.characters import CharacterTokenizer
from attnlab.data.objectives import OBJECTIVES
from attnlab.data.objectives.text import Text
from attnlab.errors import UserError

CORPUS = ["Ada was born.", "Bela", "C"]
VOCABULARY = CharacterTokenizer.of(CORPUS)


def make(**options: int) -> Text:
    built: Text = OBJECTIVES.build("text", CORPUS, VOCABULARY, None, options=options)
    return built


def test_every_line_is_a_row_that_ends_with_the_mark() -> None:
    rows = make().rows(np.random.default_rng(0))
    assert [row.id for row in rows] == ["document 1", "document 2", "document 3"]
    assert [VOCABULARY.decode(row.tokens) for row in rows] == [f"{line}⁇" for line in CORPUS]
    assert all(row.scored is None and not row.is_read_only for row in rows)


def test_a_row_is_cut_to_the_block_and_the_longest_is_known() -> None:
    objective = make(block=5)
    rows = objective.rows(np.random.default_rng(0))
    assert [VOCABULARY.decode(row.tokens) for row in rows] == ["Ada w", "Bela⁇", "C⁇"]
    assert (objective.longest, make().longest) == (5, 14)


def test_every_epoch_is_the_same() -> None:
    objective, generator = make(), np.random.default_rng(1)
    assert objective.rows(generator) == objective.rows(generator)


def test_a_block_without_a_token_to_predict_is_refused() -> None:
    with pytest.raises(UserError, match=r"^objective 'text': option block = 1 is not possible"):
        make(block=1)


def test_every_objective_is_listed_with_what_it_learns() -> None:
    assert {"salient_spans", "span_corruption", "text"} <= set(OBJECTIVES.names())
    assert all(len(summary) > 20 for summary in OBJECTIVES.summaries().values())
