"""What a step keeps for backpropagation is estimated, never above what it is."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import ATTENTION, fast_path
from attnlab.attention.settings import AttentionSettings
from attnlab.checks.cost import peak_bytes
from attnlab.data.batches import IGNORED, TokenRow, collate
from attnlab.data.text_batches import TextRow, collate_texts
from attnlab.models.activations import Part, activations
from attnlab.models.bert import BertForCLSMLM, Layer
from attnlab.models.gpt import GPT, Block
from attnlab.models.sizes import BertSize, ModelSettings
from attnlab.recipes.knowledge.settings import RECIPES

B, T, V = 5, 40, 71


@pytest.fixture(autouse=True)
def _fused_for_long_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing on this machine first."""
    monkeypatch.setattr(fast_path, "_fused_from", T)


def kept_by(model: nn.Module, loss: Callable[[], Tensor]) -> int:
    """Measure forward and back, without the gradients of the parameters."""
    parameters = list(model.parameters())
    peak = peak_bytes(lambda: torch.autograd.grad(loss(), parameters, allow_unused=True))
    return peak // 4 - sum(parameter.numel() for parameter in parameters)


@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("name", ATTENTION.names())
def test_a_gpts_step_keeps_at_least_the_estimate(name: str, dropout: float) -> None:
    attention = AttentionSettings(name, positions="none")
    size = ModelSettings(48, 6, 3, dropout=dropout, attention=attention)
    model = GPT(V, T, **vars(size)).train()
    rows = [TokenRow(str(i), [(i + j) % V for j in range(T + 1)]) for i in range(B)]
    batch, part = collate(rows), Part.of(rows, 1, n_scored=B * T)
    assert sum(row.n_scored for row in rows) == B * T

    def loss() -> Tensor:
        logits = model(batch.inputs).flatten(0, 1)
        return nn.functional.cross_entropy(logits, batch.targets.flatten())

    block = model.blocks[0]
    assert isinstance(block, Block)
    estimate = activations(size, block.attn, part, vocab_size=V)
    kept = kept_by(model, loss)
    assert 0.28 * kept < estimate <= kept


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_a_berts_step_keeps_at_least_the_estimate(dropout: float) -> None:
    size = BertSize(V, 24, 4, 3, 96, T, dropout=dropout, attention_dropout=dropout)
    model = BertForCLSMLM(size, 2).train()
    targets = [3 if j % 7 == 0 else IGNORED for j in range(T)]
    rows = [TextRow(str(i), [5] * T, [0] * T, targets) for i in range(B)]
    batch = collate_texts(rows)

    def loss() -> Tensor:
        hidden = model.body(batch.tokens, batch.types, batch.padding)
        chosen = batch.targets != IGNORED
        return nn.functional.cross_entropy(model.guess(hidden[chosen]), batch.targets[chosen])

    layer = model.body.layers[0]
    assert isinstance(layer, Layer)
    part = Part.of(rows, 1, n_scored=B * len(range(0, T, 7)))
    estimate = activations(size, layer.attn, part, vocab_size=V)
    kept = kept_by(model, loss)
    assert 0.2 * kept < estimate <= kept


def test_a_batch_is_cut_into_parts_before_it_is_counted() -> None:
    rows = [TokenRow("a", [1] * n) for n in (3, 6, 4, 4, 2)]
    assert Part.of(rows, 1, n_scored=14) == Part(5, 5, 14)
    assert Part.of(rows, 2, n_scored=14) == Part(3, 5, 7)
    assert Part.of(rows, 9, n_scored=14) == Part(1, 5, 1)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_recipes_batches_need_less_than_a_gigabyte(recipe: str) -> None:
    for settings in RECIPES[recipe]:
        part = Part(settings.batch_tokens // 128, 128, settings.batch_tokens)
        count = activations(settings.model, nn.Identity(), part, vocab_size=2048)
        assert 4 * count < 2**30
