"""What every registered variant promises, checked on each by its name."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import AttentionMask

B, T, D, H = 2, 7, 12, 3
CAUSAL = AttentionMask(causal=True)

every_variant = pytest.mark.parametrize("name", ATTENTION.names())


def make(name: str) -> Any:
    torch.manual_seed(0)
    layer = ATTENTION.get(name)(D, H, T).double().eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.3)
    return layer


def make_x(seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, T, D, dtype=torch.float64, generator=generator)


def mask_for(layer: Any) -> AttentionMask:
    return AttentionMask(causal="bidirectional" not in layer.supports)


@every_variant
def test_the_shape_stays(name: str) -> None:
    layer = make(name)
    assert layer(make_x(), mask=mask_for(layer)).out.shape == (B, T, D)


@every_variant
def test_the_future_changes_nothing(name: str) -> None:
    layer = make(name)
    if "causal" not in layer.supports or "causal" in layer.breaks:
        pytest.skip(f"{name} does not promise it")
    x, other = make_x(), make_x(2)
    out = layer(x, mask=CAUSAL).out
    for t in range(T - 1):
        changed = torch.cat([x[:, : t + 1], other[:, t + 1 :]], dim=1)
        assert torch.equal(layer(changed, mask=CAUSAL).out[:, : t + 1], out[:, : t + 1])
        assert not torch.equal(layer(changed, mask=CAUSAL).out[:, t + 1 :], out[:, t + 1 :])


@every_variant
def test_padding_changes_nothing(name: str) -> None:
    layer, x = make(name), make_x()
    padding = torch.arange(T) < torch.tensor([[T], [4]])
    mask = AttentionMask(causal=mask_for(layer).causal, padding=padding)
    out = layer(x, mask=mask).out
    changed = torch.where(padding[..., None], x, make_x(2))
    torch.testing.assert_close(layer(changed, mask=mask).out[padding], out[padding])


@every_variant
def test_a_batch_equals_its_rows(name: str) -> None:
    layer, x = make(name), make_x()
    rows = [layer(row[None], mask=mask_for(layer)).out for row in x]
    whole = layer(x, mask=mask_for(layer)).out
    torch.testing.assert_close(whole, torch.cat(rows), atol=1e-12, rtol=0)


@every_variant
def test_every_parameter_gets_a_gradient_unless_it_is_declared_null(name: str) -> None:
    layer = make(name)
    layer(make_x(), mask=mask_for(layer)).out.square().sum().backward()
    silent = {n for n, p in layer.named_parameters() if p.grad is None or p.grad.abs().max() < 1e-9}
    assert silent == set(layer.null_directions)
