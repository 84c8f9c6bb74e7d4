"""Which tokens mattered: against finite differences, and against classifying the shorter text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.data.text_batches import TextRow, collate_texts
from attnlab.models.attribution import (
    gradient_times_input,
    leave_one_out,
    log_odds,
    tables_of,
    without,
)
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.classification import class_probabilities
from attnlab.models.encoder import SequenceClassifier, open_checkpoint
from attnlab.models.hub_classifier import HubClassifier
from attnlab.models.sizes import BertSize
from small_hub import write_small_hub

STEP = 1e-4
CLASSES = 5


def row_of(last: int) -> TextRow:
    return TextRow("a", [2, 9, 5, 11, 9, last], [0, 0, 0, 1, 1, 1], [0])


def bert(_: Path) -> SequenceClassifier:
    size = BertSize(31, 12, 3, 2, 20, 11, dropout=0.0, attention_dropout=0.0)
    return BertForSequenceClassification(size, CLASSES)


def hub(kind: str) -> Callable[[Path], SequenceClassifier]:
    def make(folder: Path) -> SequenceClassifier:
        pytest.importorskip("transformers")
        checkpoint = open_checkpoint(write_small_hub(folder / "model", kind))
        return checkpoint.new_model(list("abcde"), pooler=False, fills_in=False)[0]

    return make


MAKERS = {"bert": bert, **{kind: hub(kind) for kind in ("roberta", "distilbert", "t5")}}


@pytest.fixture(params=MAKERS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> SequenceClassifier:
    torch.manual_seed(0)
    made = MAKERS[request.param](tmp_path)
    for parameter in made.parameters():  # so that no token is worth nothing
        nn.init.normal_(parameter, std=0.3)
    return made.double().eval()


def odds_with(model: SequenceClassifier, row: TextRow, factors: Tensor) -> float:
    """Return the log-odds of class 3 if each token's vector is multiplied by a factor."""
    batch = collate_texts([row])

    def scale(_: nn.Module, given: tuple[Tensor], vectors: Tensor) -> Tensor:
        shifted = torch.cat([torch.ones(1), factors[:-1]])  # as T5's decoder reads them
        return vectors * (factors if torch.equal(given[0], batch.tokens) else shifted)[:, None]

    hooks = [table.register_forward_hook(scale) for table in tables_of(model)]
    with torch.no_grad():
        scores = model(batch.tokens, batch.types, batch.padding)
    for hook in hooks:
        hook.remove()
    return float(log_odds(scores, 3))


def near(value: float, model: SequenceClassifier) -> Any:
    """Allow what the steps leave; T5 computes its norms in float32, whatever the model is in."""
    is_rough = isinstance(model, HubClassifier) and model.net.config.model_type == "t5"
    return pytest.approx(value, rel=0.02, abs=1e-3) if is_rough else pytest.approx(value, rel=1e-5)


def test_gradient_times_input_is_the_slope_of_the_log_odds(model: SequenceClassifier) -> None:
    row = row_of(1)  # which ends a text for T5
    found = gradient_times_input(model, row, 3)
    assert len(found) == len(row)
    for place, share in enumerate(found):
        factors = torch.ones(len(row), dtype=torch.float64)
        factors[place] += STEP
        above = odds_with(model, row, factors)
        factors[place] -= 2 * STEP
        slope = (above - odds_with(model, row, factors)) / (2 * STEP)
        assert share == near(slope, model)


def test_the_sum_is_the_slope_along_all_vectors_at_once(model: SequenceClassifier) -> None:
    row = row_of(1)
    ones = torch.ones(len(row), dtype=torch.float64)
    above, below = (odds_with(model, row, ones * (1 + step)) for step in (STEP, -STEP))
    expected = (above - below) / (2 * STEP)
    assert sum(gradient_times_input(model, row, 3)) == near(expected, model)
    assert abs(expected) > 5e-4


def test_leaving_one_out_is_classifying_the_rest(model: SequenceClassifier) -> None:
    row = row_of(1)
    found = leave_one_out(model, row, [1, 3, 4], label=2)
    for place, probability in zip([1, 3, 4], found, strict=True):
        shorter = without(row, place)
        assert len(shorter) == len(row) - 1
        (alone,) = class_probabilities(model, [shorter]).detach()[:, 2].tolist()
        assert probability == pytest.approx(alone, abs=1e-12)


def test_nothing_left_out_is_nothing(model: SequenceClassifier) -> None:
    assert leave_one_out(model, row_of(1), [], label=0) == []


def test_a_row_without_a_token_keeps_the_types_of_the_others() -> None:
    left = without(row_of(3), 2)
    assert (left.tokens, left.types) == ([2, 9, 11, 9, 3], [0, 0, 1, 1, 1])


def test_log_odds_do_not_see_a_shift_and_are_those_of_the_probability() -> None:
    scores = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64)
    p = scores.softmax(-1)[:, 2]
    torch.testing.assert_close(log_odds(scores, 2), (p / (1 - p)).log())
    torch.testing.assert_close(log_odds(scores + 7, 2), log_odds(scores, 2))


def test_the_model_is_left_as_it_was(model: SequenceClassifier) -> None:
    gradient_times_input(model, row_of(1), 0)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(table._forward_hooks for table in tables_of(model))
