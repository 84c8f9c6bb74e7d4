"""The loss of a language model, computed by hand."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attnlab.data.batches import TokenRow, collate
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken, row_losses
from attnlab.models.sizes import NGramTableSize
from attnlab.training.task import Evaluation

ROWS = [
    TokenRow("a", [1, 2, 3]),
    TokenRow("b", [3, 1, 2, 0, 1], scored=[False, False, False, True, True]),
]
LOGITS = torch.tensor(
    [[0.0, 1.0, 2.0, 3.0], [0.5, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 2.0], [0.0, 4.0, 0.0, 0.0]],
    dtype=torch.float64,
)


class Table(GPT):
    """Answers each token with one row of a table; keeps which rows it was told only read."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.table = nn.Parameter(LOGITS.clone())
        self.head = nn.Identity()
        self.told: list[bool] | None = None

    def hidden(
        self, tokens: Tensor, caches: None = None, *, is_read_only: Tensor | None = None
    ) -> Tensor:
        assert caches is None
        self.told = None if is_read_only is None else is_read_only.tolist()
        return self.table[tokens]


def make_epochs() -> Epochs[TokenRow]:
    return Epochs(lambda _: ROWS, size=tokens_per_batch(6), seed=0)


def make_task() -> NextToken:
    return NextToken(Table(), make_epochs())


def surprise(token: int, following: int) -> float:
    scores = LOGITS[token].tolist()
    return math.log(sum(math.exp(score) for score in scores)) - scores[following]


def test_the_loss_is_the_summed_surprise_at_the_scored_tokens() -> None:
    term = make_task().loss(collate(ROWS))["cross_entropy"]
    by_hand = surprise(1, 2) + surprise(2, 3) + surprise(2, 0) + surprise(0, 1)
    assert term.sum.item() == pytest.approx(by_hand, abs=1e-12)
    assert term.weight == 4
    assert term.scale == 1


def test_the_model_is_told_which_rows_only_read() -> None:
    task = make_task()
    rows = [replace(ROWS[0], is_read_only=True), ROWS[1]]
    task.loss(collate(rows))
    assert task.model.told == [True, False]


@torch.no_grad()
def test_each_row_has_the_summed_surprise_at_its_own_scored_tokens() -> None:
    by_hand = [surprise(1, 2) + surprise(2, 3), surprise(2, 0) + surprise(0, 1)]
    assert row_losses(Table(), ROWS) == pytest.approx(by_hand, abs=1e-12)
    nothing = TokenRow("c", [1, 2], scored=[False, False])
    assert row_losses(Table(), [ROWS[1], nothing]) == pytest.approx([by_hand[1], 0], abs=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_the_losses_of_the_parts_add_up_to_that_of_the_batch(n: int) -> None:
    task, batch = make_task(), collate(ROWS)
    terms = [task.loss(batch.part(i, n))["cross_entropy"] for i in range(n)]
    whole = task.loss(batch)["cross_entropy"]
    total = sum(term.sum.item() for term in terms)
    assert total == pytest.approx(whole.sum.item(), abs=1e-12)
    assert sum(term.weight for term in terms) == whole.weight


def test_a_part_declares_the_weight_that_its_loss_has() -> None:
    batch = collate(ROWS)
    term = make_task().loss(batch)["cross_entropy"]
    assert {"cross_entropy": term.weight} == batch.weights


def test_what_is_not_scored_has_no_gradient() -> None:
    task = make_task()
    task.loss(collate([ROWS[1]]))["cross_entropy"].sum.backward()
    touched = task.model.table.grad.abs().sum(-1) > 0
    assert touched.tolist() == [True, False, True, False]


def test_the_head_belongs_with_the_embeddings_and_the_blocks_are_matrices() -> None:
    model = GPT(5, 7, d_model=12, n_heads=3, n_layers=1)
    groups = NextToken(model, make_epochs()).parameter_groups()
    assert set(groups.embeddings) == {"tok_emb.weight", "positions.table.weight", "head.weight"}
    assert all(name.startswith("blocks.0.") for name in groups.matrices)
    assert len(groups.matrices) == 6
    groups.check(model)


def test_the_memory_is_a_sparse_table() -> None:
    model = GPT(5, 7, d_model=12, n_heads=3, n_layers=1, ngram_table=NGramTableSize(rows=17))
    groups = NextToken(model, make_epochs()).parameter_groups()
    assert groups.sparse == ("ngram_table.table.weight",)
    groups.check(model)


def test_without_anything_to_score_on_there_is_no_score() -> None:
    assert make_task().evaluate() is None
    epochs = make_epochs()
    scored = NextToken(Table(), epochs, evaluate=lambda: Evaluation(0.5, {"accuracy": 0.5}))
    assert scored.evaluate() == Evaluation(0.5, {"accuracy": 0.5})
