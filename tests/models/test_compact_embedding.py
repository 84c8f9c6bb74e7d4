"""Leaving unused rows of the table out changes no number."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnlab.data.text_batches import TextRow, collate_texts
from attnlab.models import compact_embedding
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.compact_embedding import CompactEmbedding
from small_bert import small_size

ROWS = [
    TextRow("a", [2, 9, 17, 3], [0] * 4, [1]),
    TextRow("b", [2, 9, 5, 5, 3], [0] * 5, [0]),
    TextRow("c", [2, 20, 3], [0] * 3, [2]),
]


def trained(rows: list[TextRow], model: BertForSequenceClassification) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    for _ in range(4):
        batch = collate_texts(rows)
        optimizer.zero_grad()
        scores = model(batch.tokens, batch.types, batch.padding)
        F.cross_entropy(scores, batch.targets[:, 0]).backward()
        optimizer.step()


def new_model() -> BertForSequenceClassification:
    torch.manual_seed(0)
    return BertForSequenceClassification(small_size(), 3).double()


def test_training_on_the_rows_that_occur_gives_the_same_weights() -> None:
    whole, small = new_model(), new_model()
    table = small.body.embeddings.words.weight.detach().clone()
    used = CompactEmbedding.of(ROWS)
    assert used.ids.tolist() == [0, 2, 3, 5, 9, 17, 20]
    trained(ROWS, whole)
    used.shrink(small.body.embeddings)
    assert small.body.embeddings.words.num_embeddings == 7
    trained(ROWS, small)
    with pytest.raises(IndexError):  # a token that was left out is never taken for another
        small.body.embeddings.words(torch.tensor([[2, 4]]))
    used.grow(small.body.embeddings, table)
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(small.state_dict()[name], value, atol=1e-12, rtol=0)
    unused = np.setdiff1d(np.arange(22), used.ids)
    assert torch.equal(small.body.embeddings.words.weight[unused], table[unused])
    moved = small.body.embeddings.words.weight[torch.tensor([2, 9])] != table[[2, 9]]
    assert bool(moved.any())


@pytest.mark.parametrize("frozen", [True, False])
def test_a_table_stays_frozen_or_trainable_as_it_was(frozen: bool) -> None:
    model = new_model()
    embeddings = model.body.embeddings
    embeddings.words.requires_grad_(not frozen)
    table = embeddings.words.weight.detach().clone()
    used = CompactEmbedding.of(ROWS)
    used.shrink(model.body.embeddings)
    assert embeddings.words.weight.requires_grad is not frozen
    used.grow(model.body.embeddings, table)
    assert embeddings.words.weight.requires_grad is not frozen
    assert torch.equal(embeddings.words.weight, table)


def test_a_new_table_that_forgets_to_be_frozen_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a new nn.Embedding, whose weight has a gradient."""
    monkeypatch.setattr(compact_embedding, "_frozen_like", lambda _, new: new)
    with pytest.raises(AssertionError):
        test_a_table_stays_frozen_or_trainable_as_it_was(frozen=True)
