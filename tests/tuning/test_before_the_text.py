"""What prompts and prefixes keep: positions, padding, [CLS], the causal mask, and caches."""

from typing import Any

import pytest
import torch
from torch import Tensor
from tunable import D, H, L, T, V, bert, gpt, shaken, tune

from attnlab.attention.cache import Cache
from attnlab.attention.functional import merge_heads
from attnlab.models.bert import Bert
from attnlab.models.gpt import GPT

P = 4
METHODS = ("prompt", "prefix")
ATTENTION = [("dot_product", "learned"), ("dot_product", "rotary"), ("dot_product", "alibi")]
ATTENTION += [("linear", "sinusoidal"), ("cosine", "none")]


def tokens(count: int = T, *, rows: int = 2) -> Tensor:
    return torch.randint(1, V, (rows, count), generator=torch.Generator().manual_seed(5))


def close(first: Tensor, second: Tensor) -> None:
    torch.testing.assert_close(first, second, atol=1e-12, rtol=0)


def tuned_bert(method: str) -> Any:
    return shaken(tune(bert(), method).model).eval()


def tuned_gpt(method: str, attention: str, positions: str) -> Any:
    return shaken(tune(gpt(attention=attention, positions=positions), method).model).eval()


@pytest.mark.parametrize("method", METHODS)
def test_padding_changes_nothing_and_a_text_of_full_length_fits(method: str) -> None:
    model, row = tuned_bert(method), tokens(rows=1)
    types = torch.zeros_like(row)
    padding = torch.arange(T)[None] < 6
    assert model.body(row, types).shape == (1, T, D)
    close(model(row, types, padding), model(row[:, :6], types[:, :6]))
    close(model.body(row, types, padding)[:, :6], model.body(row[:, :6], types[:, :6]))
    close(model.summary(row, types, padding), model.body(row, types, padding)[:, 0])


def test_a_mask_that_is_not_extended_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the mask is extended at its end, where the prompt is not."""
    embed = Bert._embed

    def at_the_end(self: Bert, tokens: Tensor, types: Tensor, padding: Tensor | None) -> Any:
        x, mask = embed(self, tokens, types, padding)
        if mask.padding is not None:
            object.__setattr__(mask, "padding", mask.padding.roll(-self.n_prompt, 1))
        return x, mask

    monkeypatch.setattr(Bert, "_embed", at_the_end)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        test_padding_changes_nothing_and_a_text_of_full_length_fits("prompt")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("attention", "positions"), ATTENTION)
def test_every_token_sees_what_comes_before_the_text_and_none_its_future(
    method: str, attention: str, positions: str
) -> None:
    model, row = tuned_gpt(method, attention, positions), tokens()
    before = model(row)
    assert before.shape == (2, T, V)
    changed = row.clone()
    changed[:, 6:] = changed[:, 6:] % (V - 1) + 1
    close(model(changed)[:, :6], before[:, :6])
    assert (model(changed)[:, 6:] - before[:, 6:]).abs().amax(-1).min() > 1e-9
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "prompt" in name or "prefix" in name:
                value.add_(torch.randn_like(value))
    assert (model(row) - before).abs().amax(-1).min() > 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("attention", "positions"), ATTENTION)
def test_writing_with_caches_gives_the_same_scores(
    method: str, attention: str, positions: str
) -> None:
    model, row = tuned_gpt(method, attention, positions), tokens()
    whole = model(row)
    caches = model.new_caches()
    with torch.no_grad():
        pieces = [model(part, caches) for part in (row[:, :3], row[:, 3:4], row[:, 4:5])]
    close(torch.cat(pieces, dim=1), whole[:, :5])


@pytest.mark.parametrize("positions", ["none", "rotary", "alibi"])
def test_a_prompt_of_real_tokens_is_these_tokens(positions: str) -> None:
    model = gpt(positions=positions).eval()
    row = tokens()
    wanted = model.hidden(row)[:, P:]
    tune(model, "prompt", length=P)
    with torch.no_grad():
        model.prompt.copy_(model.tok_emb(row[0, :P]))
    close(model.hidden(row[:1, P:]), wanted[:1])


def test_a_prefix_of_real_tokens_is_these_tokens() -> None:
    model: GPT = gpt(positions="none").eval()
    row = tokens(rows=1)
    wanted, caches = model.hidden(row)[:, P:], [Cache() for _ in range(L)]
    with torch.no_grad():
        model.hidden(row[:, :P], caches)
    tune(model, "prefix", length=P)
    with torch.no_grad():
        for block, cache in zip(model.blocks, caches, strict=True):
            empty = torch.empty(1, H, 0, D // H, dtype=torch.float64)
            keys, values = (merge_heads(x)[0] for x in cache.extend(empty, empty))
            block.prefix.keys.copy_(keys)
            block.prefix.values.copy_(values)
    close(model.hidden(row[:, P:]), wanted)


@pytest.mark.parametrize("method", METHODS)
def test_a_text_keeps_its_positions(method: str) -> None:
    model = tuned_bert(method)
    row = tokens(6, rows=1)
    types = torch.zeros_like(row)
    before = model(row, types)
    with torch.no_grad():
        model.body.embeddings.positions.weight[6:] = torch.randn(T - 6, D, dtype=torch.float64)
    assert torch.equal(model(row, types), before), "the text uses its own positions only"
    with torch.no_grad():
        model.body.embeddings.positions.weight[0] += 1
    assert not torch.equal(model(row, types), before)


@pytest.mark.parametrize("method", METHODS)
def test_weights_show_the_keys_before_the_text_first(method: str) -> None:
    model, row = tuned_gpt(method, "dot_product", "learned"), tokens()
    for weights in model.attention_weights(row):
        assert weights.shape == (2, H, T, P + T)
        close(weights.sum(-1), torch.ones(2, H, T, dtype=torch.float64))
        assert weights[..., P:].triu(1).count_nonzero() == 0
        assert (weights[..., :P] > 0).all()
