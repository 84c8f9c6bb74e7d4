"""The knowledge course's attentions are attnlab's, with the course's names and shapes."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from course_files import load

from attnlab.attention.contract import AttentionMask
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.synthesizer import Synthesizer
from attnlab.errors import UserError

B, T, D, H, BLOCK = 2, 7, 12, 3, 8
NAMES = ("CausalSelfAttention", "SynthesizerAttention")


def build(name: str, **changes: Any) -> torch.nn.Module:
    torch.manual_seed(0)
    config = {"n_embd": D, "n_head": H, "block_size": BLOCK, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
    made: torch.nn.Module = getattr(load("src/attention.py"), name)(
        SimpleNamespace(**config | changes)
    )
    return made.double()


def ours(name: str, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Build attnlab's with the same weights."""
    if name == "CausalSelfAttention":
        made: torch.nn.Module = DotProduct(D, H, BLOCK)
    else:
        made = Synthesizer(D, H, BLOCK - 1, shared=True)
    made.load_state_dict({key: value for key, value in weights.items() if key != "mask"})
    return made.double()


def shake(layer: torch.nn.Module) -> None:
    """Make every weight large enough to show."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 4, T])
def test_outputs_and_gradients_are_those_of_attnlab(name: str, length: int) -> None:
    layer = build(name)
    shake(layer)
    twin = ours(name, layer.double().state_dict())
    x = torch.randn(B, length, D, dtype=torch.float64, requires_grad=True)
    z = x.detach().clone().requires_grad_()
    out, expected = layer(x), twin(z, mask=AttentionMask(causal=True)).out
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (expected * direction).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, z.grad, rtol=0, atol=1e-12)
    gradients = dict(twin.named_parameters())
    for key, parameter in layer.named_parameters():
        torch.testing.assert_close(parameter.grad, gradients[key].grad, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_the_future_changes_nothing_at_all(name: str) -> None:
    layer = build(name)
    shake(layer)
    x = torch.randn(B, T, D, dtype=torch.float64)
    later = x.clone()
    later[:, 4:] += 5.0
    assert torch.equal(layer(x)[:, :4], layer(later)[:, :4])
    assert not torch.equal(layer(x)[:, 4], layer(later)[:, 4])


def test_names_and_shapes_are_those_of_the_courses_weight_files() -> None:
    linear = {"weight": (D, D), "bias": (D,)}
    shared = {f"{part}.{key}": s for part in ("value", "proj") for key, s in linear.items()}
    shared["mask"] = (1, 1, BLOCK, BLOCK)
    vanilla = {f"{part}.{key}": s for part in ("key", "query") for key, s in linear.items()}
    own = {f"w1.{key}": s for key, s in linear.items()}
    own |= {"w2": (D // H, BLOCK - 1), "b2": (BLOCK - 1,)}
    for name, wanted in zip(NAMES, (vanilla, own), strict=True):
        found = {key: tuple(value.shape) for key, value in build(name).state_dict().items()}
        assert found == shared | wanted


def test_the_synthesizer_begins_with_small_scores() -> None:
    layer = build("SynthesizerAttention", n_embd=60)
    w2, b2 = layer.get_parameter("w2").detach(), layer.get_parameter("b2").detach()
    assert 0.0008 < float(w2.abs().max()) <= 0.001
    assert float(b2.abs().max()) == 0
    mask = layer.get_buffer("mask")
    assert torch.equal(mask[0, 0], torch.ones(BLOCK, BLOCK).tril().double())


@pytest.mark.parametrize("dropped", ["attn_pdrop", "resid_pdrop"])
@pytest.mark.parametrize("name", NAMES)
def test_dropout_works_in_training_alone(name: str, dropped: str) -> None:
    layer = build(name, **{dropped: 0.5})
    x = torch.randn(B, T, D, dtype=torch.float64)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x, layer_past=None))


@pytest.mark.parametrize(("name", "longest"), [(NAMES[0], BLOCK), (NAMES[1], BLOCK - 1)])
def test_a_row_that_is_too_long_is_reported(name: str, longest: int) -> None:
    message = f"a sequence of {longest + 1} tokens is longer than max_len = {longest}"
    with pytest.raises(UserError, match=re.escape(message)):
        build(name)(torch.zeros(B, longest + 1, D, dtype=torch.float64))


@pytest.mark.parametrize("name", NAMES)
def test_a_width_that_heads_cannot_share_is_reported(name: str) -> None:
    with pytest.raises(UserError, match=r"^d_model = 12 does not divide into n_heads = 5 heads"):
        build(name, n_head=5)
