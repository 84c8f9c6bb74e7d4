"""The Attention Free Transformer equals its formula, coordinate by coordinate, pair by pair."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from cases import MASKS, B, D, H, assert_same, drawn, mask_of, may_look, softmax_where, tokens
from torch import Tensor

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask
from attnlab.attention.variants import aft
from attnlab.attention.variants.aft import AttentionFree
from attnlab.checks.leakage import layer_leak
from attnlab.errors import UserError

SHORT, LONG = 7, 300  # the long one is more than two chunks
WINDOW = 3
CAUSAL = AttentionMask(causal=True)
FORMS = pytest.mark.parametrize("form", ["full", "local", "simple"])


def make(form: str, **options: Any) -> AttentionFree:
    torch.manual_seed(3)
    return drawn(AttentionFree(D, H, LONG, form=form, window=WINDOW, rank=5, **options))


def by_formula(layer: AttentionFree, x: Tensor, mask: AttentionMask) -> Tensor:
    """y_t = σ(q_t) Σ_s softmax_s(k_s + w_ts) v_s, each coordinate with a softmax of its own."""
    n_tokens = x.shape[1]
    w = torch.zeros(n_tokens, n_tokens, dtype=x.dtype)
    if layer.form != "simple":
        w = torch.einsum("tr,sr->ts", layer.left[:n_tokens], layer.right[:n_tokens])
    if layer.form == "local":
        place = torch.arange(n_tokens)
        w = w * ((place[:, None] - place).abs() < WINDOW)
    scores = layer.key(x)[:, None] + w[None, :, :, None]  # (B, T, S, D)
    weights = softmax_where(scores, may_look(mask, n_tokens)[..., None], dim=2)
    mean = torch.einsum("btsd,bsd->btd", weights, layer.value(x))
    return layer.proj(layer.query(x).sigmoid() * mean)


def check(form: str, n_tokens: int, mask: AttentionMask) -> None:
    layer, x = make(form), tokens(n_tokens).requires_grad_()
    assert_same(
        lambda: layer(x, mask=mask).out,
        lambda: by_formula(layer, x, mask),
        [x, *layer.parameters()],
        atol=1e-11,
    )


@FORMS
@pytest.mark.parametrize("name", MASKS)
def test_it_equals_the_formula(form: str, name: str) -> None:
    check(form, SHORT, mask_of(name, SHORT))


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("full", "causal"),
        ("full", "all"),
        ("local", "causal, padded, segments"),
        ("simple", "causal"),
        ("simple", "causal, padded on the left"),
        ("simple", "segments"),
    ],
)
def test_it_equals_the_formula_over_several_chunks(form: str, name: str) -> None:
    check(form, LONG, mask_of(name, LONG))


BUGS = {
    "the reference forgets what was hidden": ("_finite", lambda x: x),
    "who sees nothing is not spared": ("quotient", lambda above, below: above / below),
}


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("form", ["full", "simple"])
def test_the_comparison_notices_a_bug(monkeypatch: pytest.MonkeyPatch, form: str, bug: str) -> None:
    monkeypatch.setattr(aft, *BUGS[bug])
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check(form, SHORT, mask_of("causal, padded on the left", SHORT))


@FORMS
def test_not_even_a_rounding_of_the_future_reaches_the_past(form: str) -> None:
    assert layer_leak(make(form), tokens(LONG)).largest_change == 0.0


def test_the_meter_finds_a_maximum_over_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual way to keep exponents small subtracts the largest of all keys."""
    monkeypatch.setattr(
        Tensor, "logcumsumexp", lambda k, dim: k.amax(dim, keepdim=True).expand_as(k)
    )
    assert layer_leak(make("full"), tokens(LONG)).found


@FORMS
def test_a_cache_in_uneven_pieces_gives_what_the_whole_row_gives(form: str) -> None:
    layer, x, cache = make(form), tokens(LONG), Cache()
    cuts = (0, 1, 130, 131, LONG)
    with torch.no_grad():
        pieces = [
            layer(x[:, start:end], mask=CAUSAL, cache=cache).out for start, end in pairwise(cuts)
        ]
        whole = layer(x, mask=CAUSAL).out
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-12, rtol=0)


def with_keys(layer: AttentionFree, keys: Tensor) -> Tensor:
    """Return tokens whose keys are the given ones, all coordinates alike: (B, T, D)."""
    with torch.no_grad():
        layer.key.weight.copy_(torch.zeros(D, D))
        layer.key.weight[:, 0] = 1.0
        layer.key.bias.zero_()
    x = tokens(len(keys))
    x[..., 0] = keys
    return x


@FORMS
@pytest.mark.parametrize("name", ["all", "causal"])
def test_large_keys_in_float32_give_nearly_the_exact_result(form: str, name: str) -> None:
    layer, mask = make(form), mask_of(name, LONG)
    keys = torch.linspace(0, 12.0, LONG, dtype=torch.float64).cos() * 60
    x = with_keys(layer, keys)
    with torch.no_grad():
        assert float(layer.key(x).abs().max()) == 60
        exact = by_formula(layer, x, mask)
        rough = layer.float()(x.float(), mask=mask).out
    assert rough.isfinite().all()
    torch.testing.assert_close(rough.double(), exact, atol=2e-4, rtol=0)


@FORMS
@pytest.mark.parametrize("name", ["all", "causal"])
def test_keys_that_begin_low_and_end_high_are_weighed_exactly(form: str, name: str) -> None:
    """From −60 to 60 within a chunk, further apart than the largest exponent."""
    layer, mask = make(form), mask_of(name, SHORT)
    x = with_keys(layer, torch.linspace(-60.0, 60.0, SHORT, dtype=torch.float64))
    with torch.no_grad():
        torch.testing.assert_close(
            layer(x, mask=mask).out, by_formula(layer, x, mask), atol=1e-10, rtol=0
        )


def test_a_chunk_that_does_not_end_in_time_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aft, "LARGEST_RISE", 1e9)
    layer = make("simple")
    x = with_keys(layer, torch.linspace(-60.0, 60.0, SHORT, dtype=torch.float64)).float()
    assert not layer.float()(x, mask=CAUSAL).out.isfinite().all()


@FORMS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", MASKS)
def test_a_key_200_larger_than_the_others_gives_no_nan(
    form: str, name: str, dtype: torch.dtype
) -> None:
    for place in (0, 3, SHORT - 1):
        layer, keys = make(form), torch.zeros(SHORT, dtype=torch.float64)
        keys[place] = 200
        x = with_keys(layer, keys).to(dtype).requires_grad_()
        out = layer.to(dtype)(x, mask=mask_of(name, SHORT)).out
        gradients = torch.autograd.grad(out.sum(), [x, *layer.parameters()])
        assert all(tensor.isfinite().all() for tensor in (out, *gradients))


@FORMS
@pytest.mark.parametrize("name", ["segments", "causal, segments"])
def test_a_large_key_of_one_text_does_not_drown_the_other_texts(form: str, name: str) -> None:
    layer, mask = make(form), mask_of(name, SHORT)
    assert mask.segments is not None
    keys = torch.zeros(SHORT, dtype=torch.float64)
    keys[0] = 200
    x = with_keys(layer, keys)
    with torch.no_grad():
        exact = by_formula(layer, x, mask)
        rough = layer.float()(x.float(), mask=mask).out
    torch.testing.assert_close(rough.double(), exact, atol=1e-4, rtol=0)  # outputs reach 40


@pytest.mark.parametrize("form", ["full", "local"])
def test_learned_biases_end_at_max_len(form: str) -> None:
    layer = drawn(AttentionFree(D, H, 5, form=form))
    assert layer(tokens(5), mask=CAUSAL).out.shape == (B, 5, D)
    with pytest.raises(
        UserError,
        match=r"^a sequence of 6 tokens is longer than max_len = 5, where the biases of positions",
    ):
        layer(tokens(6), mask=CAUSAL)


def test_simple_has_no_biases_and_no_end() -> None:
    layer = drawn(AttentionFree(D, H, 5, form="simple"))
    assert layer(tokens(LONG), mask=CAUSAL).out.shape == (B, LONG, D)
    assert {name.partition(".")[0] for name, _ in layer.named_parameters()} == {
        "query", "key", "value", "proj",
    }  # fmt: skip


def test_local_is_full_where_the_window_holds_the_row() -> None:
    full, local = make("full"), make("local")
    local.window = SHORT
    x = tokens(SHORT)
    assert torch.equal(full(x, mask=CAUSAL).out, local(x, mask=CAUSAL).out)
    local.window = WINDOW
    assert not torch.allclose(full(x, mask=CAUSAL).out, local(x, mask=CAUSAL).out)
