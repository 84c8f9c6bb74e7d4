"""Dot-product attention equals PyTorch's own, and the comparison notices a bug."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.attention import contract
from attnlab.attention.context import Bias
from attnlab.attention.contract import AttentionMask
from attnlab.attention.softmax_core import masked_softmax
from attnlab.attention.variants import dot_product
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.errors import UserError

B, T, D, H = 2, 7, 12, 3
PADDING = torch.arange(T) < torch.tensor([[T], [4]])
MASKS = {
    "all": AttentionMask(),
    "causal": AttentionMask(causal=True),
    "padded": AttentionMask(padding=PADDING),
    "causal and padded": AttentionMask(causal=True, padding=PADDING),
}


def make_layer() -> DotProduct:
    torch.manual_seed(0)
    layer = DotProduct(D, H, T).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # so that sums stay near 1
    return layer


def make_x() -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(B, T, D, dtype=torch.float64, generator=generator).requires_grad_()


def torchs_own(layer: DotProduct, x: Tensor, mask: AttentionMask) -> tuple[Tensor, Tensor]:
    """The same weights in PyTorch's function; its masks are True where one may not look."""
    inputs = (layer.query, layer.key, layer.value)
    out, weights = F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3,
        embed_dim_to_check=D,
        num_heads=H,
        in_proj_weight=torch.cat([linear.weight for linear in inputs]),
        in_proj_bias=torch.cat([linear.bias for linear in inputs]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=layer.proj.weight,
        out_proj_bias=layer.proj.bias,
        attn_mask=torch.ones(T, T, dtype=torch.bool).triu(1) if mask.causal else None,
        key_padding_mask=None if mask.padding is None else ~mask.padding,
        average_attn_weights=False,
    )
    assert weights is not None
    return out.transpose(0, 1), weights


def check_parity(mask: AttentionMask) -> None:
    """Compare outputs, weights, and the gradients of the input and of every parameter."""
    layer, x = make_layer(), make_x()
    sources = [x, *layer.parameters()]
    results = []
    for out, weights in (layer(x, mask=mask, need_weights=True), torchs_own(layer, x, mask)):
        gradients = torch.autograd.grad(out.square().mean(), sources)
        results.append([out, weights, *gradients])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", MASKS)
def test_it_equals_pytorchs_own_attention(name: str) -> None:
    check_parity(MASKS[name])


def transposed(mask: AttentionMask, *shape: Any, **_: int) -> Tensor:
    return DENSE(mask, *shape).transpose(-2, -1)


def turned_round(mask: AttentionMask, *shape: Any, **_: int) -> Tensor:
    return ~DENSE(mask, *shape)


def missing(mask: AttentionMask, *shape: Any, **_: int) -> Tensor:
    return torch.ones_like(DENSE(mask, *shape))


DENSE = AttentionMask.dense


@pytest.mark.parametrize("bug", [transposed, turned_round, missing], ids=lambda bug: bug.__name__)
@pytest.mark.parametrize("name", ["causal", "causal and padded"])
def test_the_comparison_notices_a_wrong_mask(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: Callable[..., Tensor]
) -> None:
    monkeypatch.setattr(contract.AttentionMask, "dense", bug)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check_parity(MASKS[name])


@pytest.mark.parametrize("name", MASKS)
def test_the_comparison_notices_a_missing_scale(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(dot_product, "attn_scaled", lambda scores, *_: scores)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check_parity(MASKS[name])


def test_weights_are_given_on_request_only() -> None:
    layer, x = make_layer(), make_x()
    assert layer(x, mask=AttentionMask()).weights is None
    assert layer(x, mask=AttentionMask(), need_weights=True).weights.shape == (B, H, T, T)


def test_a_token_that_sees_nothing_takes_nothing_home_and_stays_finite() -> None:
    layer, x = make_layer(), make_x()
    padding = torch.ones(B, T, dtype=torch.bool)
    padding[0, :3] = False  # the first three tokens of row 0 see padding alone
    out, weights = layer(x, mask=AttentionMask(causal=True, padding=padding), need_weights=True)
    assert torch.equal(weights[0, :, :3], torch.zeros(H, 3, T, dtype=torch.float64))
    assert torch.equal(out[0, :3], layer.proj.bias.expand(3, D))
    assert torch.allclose(weights[0, :, 3:].sum(-1), torch.ones((), dtype=torch.float64))
    out.square().sum().backward()
    for tensor in (out, x.grad, *(p.grad for p in layer.parameters())):
        assert tensor.isfinite().all()


def test_dropout_takes_weights_away_in_training_only() -> None:
    layer, x = DotProduct(D, H, T, dropout=0.5).double(), make_x()
    layer.eval()
    assert torch.equal(layer(x, mask=AttentionMask()).out, layer(x, mask=AttentionMask()).out)
    layer.train()
    assert not torch.equal(layer(x, mask=AttentionMask()).out, layer(x, mask=AttentionMask()).out)


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UserError, match="d_model = 12 does not divide into n_heads = 5 heads") as e:
        DotProduct(12, 5, 7)
    assert str(e.value).endswith("Numbers of heads that do: 1, 2, 3, 4, 6, 12.")


def test_weights_in_bfloat16_are_computed_in_float32_and_rounded_once() -> None:
    scores = torch.randn(B, H, T, T, generator=torch.Generator().manual_seed(2)).bfloat16()
    added = torch.where(PADDING, 0.0, torch.finfo(torch.bfloat16).min)[:, None, None].bfloat16()
    weights = masked_softmax(scores, Bias(added))
    assert weights.dtype == torch.bfloat16
    assert torch.equal(weights, (scores + added).float().softmax(-1).bfloat16())
