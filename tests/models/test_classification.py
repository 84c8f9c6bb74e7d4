"""The task of an encoder: two losses on one body, each with its own denominator."""

from collections.abc import Mapping, Sequence

import pytest
import torch
import torch.nn.functional as F

from attnlab.data.batches import IGNORED
from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.data.text_batches import JointBatch, TextRow
from attnlab.models.bert import BertForCLSMLM, BertForSequenceClassification
from attnlab.models.classification import (
    CLASSES,
    MASKED,
    TRAIN_ACCURACY,
    Classification,
    class_probabilities,
)
from small_bert import small_size

LABELLED = [
    TextRow(f"text {i}", [2, *range(5, 7 + i), 3], [0] * (4 + i), [i % 3]) for i in range(5)
]
LINES = [
    TextRow(f"line {i}", [2, 4, 6 + i, 4, 3], [0] * 5, [IGNORED, 7, IGNORED, 8 + i, IGNORED])
    for i in range(4)
]


def epochs(rows: list[TextRow], size: int) -> Epochs[TextRow]:
    return Epochs(lambda _: rows, size=rows_per_batch(size), seed=1)


def joint(alpha: float = 0.5) -> Classification:
    torch.manual_seed(0)
    model = BertForCLSMLM(small_size(), 3).double()
    return Classification(model, epochs(LABELLED, 5), unlabelled=epochs(LINES, 3), alpha=alpha)


def test_both_losses_are_plain_cross_entropies() -> None:
    task = joint()
    batch = task.batch(1)
    terms = task.loss(batch)
    model = task.model
    classes, lines = batch.streams[CLASSES], batch.streams[MASKED]
    scores = model(classes.tokens, classes.types, classes.padding)
    wanted = F.cross_entropy(scores, classes.targets[:, 0], reduction="sum")
    torch.testing.assert_close(terms[CLASSES].sum, wanted)
    everywhere = model.guess(model.body(lines.tokens, lines.types, lines.padding))
    wanted = F.cross_entropy(everywhere.flatten(0, 1), lines.targets.flatten(), reduction="sum")
    torch.testing.assert_close(terms[MASKED].sum, wanted)
    assert (terms[CLASSES].weight, terms[MASKED].weight) == (5, 2 * len(lines.ids))
    assert (terms[CLASSES].scale, terms[MASKED].scale) == (1.0, 0.5)


def test_the_shorter_stream_begins_again() -> None:
    task = joint()
    assert [len(task.batch(step).streams[MASKED].ids) for step in range(1, 5)] == [2, 2, 2, 2]
    assert {name for step in (1, 2) for name in task.batch(step).streams[MASKED].ids} == {
        name for step in (3, 4) for name in task.batch(step).streams[MASKED].ids
    }


def test_one_stream_alone_has_one_loss_and_its_accuracy_is_only_measured() -> None:
    model = BertForSequenceClassification(small_size(), 3).eval()
    task = Classification(model, epochs(LABELLED, 2))
    batch = task.batch(1)
    terms = task.loss(batch)
    assert set(terms) == {CLASSES, TRAIN_ACCURACY}
    assert terms[TRAIN_ACCURACY].scale == 0
    texts = batch.streams[CLASSES]
    best = model(texts.tokens, texts.types, texts.padding).argmax(-1)
    assert terms[TRAIN_ACCURACY].sum == (best == texts.targets[:, 0]).sum()


def test_masked_text_needs_a_head_that_fills_it_in() -> None:
    model = BertForSequenceClassification(small_size(), 3)
    with pytest.raises(AssertionError, match="need a head that predicts them"):
        Classification(model, epochs(LABELLED, 2), unlabelled=epochs(LINES, 2), alpha=1.0)


def test_all_parameters_learn_but_the_bias_of_the_keys() -> None:
    task = joint()
    terms = task.loss(task.batch(1))
    sum(term.sum for term in terms.values()).backward()
    still = {
        name
        for name, p in task.model.named_parameters()
        if p.grad is None or p.grad.abs().max() < 1e-12
    }
    assert still == {"body.layers.0.attn.key.bias", "body.layers.1.attn.key.bias"}


def test_probabilities_come_in_the_order_of_the_texts() -> None:
    torch.manual_seed(0)
    model = BertForSequenceClassification(small_size(), 3).eval()
    rows = [*reversed(LABELLED), LABELLED[2]]
    with torch.no_grad():
        table = class_probabilities(model, rows)
        alone = torch.cat([class_probabilities(model, [row]) for row in rows])
    torch.testing.assert_close(table, alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(table.sum(-1), torch.ones(6, dtype=torch.float64))


def test_the_classifier_is_no_matrix_for_muon() -> None:
    groups = joint().parameter_groups()
    assert "classifier.weight" in groups.embeddings
    assert "body.embeddings.words.weight" in groups.embeddings
    assert "body.layers.0.up.weight" in groups.matrices
    assert "masked.bias" in groups.vectors


@pytest.mark.parametrize("count", [2, 3, 9])
def test_the_parts_of_a_batch_add_up_to_its_gradient(count: int) -> None:
    """What several processes, or accumulation, do."""
    whole, cut = joint(), joint()
    batch = whole.batch(1)
    _backward(whole, [batch], batch.weights)
    _backward(cut, [batch.part(i, count) for i in range(count)], batch.weights)
    for (name, first), second in zip(
        whole.model.named_parameters(), cut.model.parameters(), strict=True
    ):
        assert first.grad is not None, name
        torch.testing.assert_close(second.grad, first.grad, atol=1e-10, rtol=0)


def _backward(
    task: Classification, parts: Sequence[JointBatch], denominators: Mapping[str, float]
) -> None:
    for part in parts:
        for name, term in task.loss(part).items():
            assert term.weight == part.weights[name]
            if term.scale:
                (term.sum * term.scale / denominators[name]).backward()
