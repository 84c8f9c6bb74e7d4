"""Every promise catches the bug it is there for, in its own words; a healthy layer passes."""

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask, AttentionOutput
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.late_mask import LateMask
from attnlab.checks import promises
from attnlab.checks.promises import ALWAYS, IF_SUPPORTED, D, H, Subject, T, promises_of


class Healthy(DotProduct):
    """Dot-product attention: what the bugs below are put into."""


class Narrower(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return AttentionOutput(super().forward(x, **how).out[..., :-1])


class Rougher(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return AttentionOutput(super().forward(x, **how).out.float())


class Unmasked(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        return super().forward(x, mask=replace(mask, causal=False), **how)


class Backwards(Healthy):
    """A transposed mask: it reads the row from its end."""

    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        out, weights = super().forward(x.flip(1), mask=mask, **how)
        return AttentionOutput(out.flip(1), weights)


class Lonely(Healthy):
    def forward(self, x: Tensor, **_: Any) -> AttentionOutput:
        return AttentionOutput(self.proj(self.value(x)))


class SeesPadding(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        return super().forward(x, mask=replace(mask, padding=None), **how)


class MixesTexts(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        return super().forward(x, mask=replace(mask, segments=None), **how)


class Infinite(Healthy):
    """Hides keys with −∞, and so gives NaN to a query that sees nothing."""

    def forward(self, x: Tensor, *, mask: AttentionMask, **_: Any) -> AttentionOutput:
        q, k, v = (
            linear(x).unflatten(-1, (H, -1)).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        allowed = mask.dense(x.shape[1], x.shape[1], x.device)
        scores = (q @ k.mT / (D // H) ** 0.5).masked_fill(~allowed, -torch.inf)
        y = scores.softmax(-1) @ v
        return AttentionOutput(self.proj(y.transpose(1, 2).flatten(2)))


class MixesRows(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        out, weights = super().forward(x, **how)
        return AttentionOutput(out - out.mean(0), weights)


class Idle(Healthy):
    def __init__(self, *shape: int) -> None:
        super().__init__(*shape)
        self.idle = nn.Parameter(torch.zeros(2))


class Cut(Healthy):
    """A gradient is cut off by detach."""

    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        out, weights = super().forward(x, **how)
        return AttentionOutput(out.detach() + self.proj.bias - self.proj.bias.detach(), weights)


class Modest(Healthy):
    def __init__(self, *shape: int) -> None:
        super().__init__(*shape)
        self.null_directions = ("key.bias", "query.weight")


class Forgetful(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return super().forward(x, **{**how, "cache": None})


class Confused(Healthy):
    """Remembers, but takes the first query to stand at the first key."""

    def forward(self, x: Tensor, *, cache: Any = None, **how: Any) -> AttentionOutput:
        if cache is None or cache.n_tokens == 0:
            return super().forward(x, cache=cache, **how)
        how["mask"] = AttentionMask(
            causal=True, padding=(torch.arange(cache.n_tokens + 1) < 1).expand(len(x), -1)
        )
        return super().forward(x, cache=cache, **how)


class IgnoresPrefix(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return super().forward(x, **{**how, "prefix": None})


class PaddedPrefix(Healthy):
    """Puts an empty key before those of the prefix."""

    def forward(self, x: Tensor, *, prefix: Any = None, **how: Any) -> AttentionOutput:
        if prefix is not None:
            prefix = prefix._make(nn.functional.pad(part, (0, 0, 1, 0)) for part in prefix)
        return super().forward(x, prefix=prefix, **how)


class Talkative(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return super().forward(x, **{**how, "need_weights": True})


class Secretive(Healthy):
    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        return super().forward(x, **{**how, "need_weights": False})


class Reweighed(Healthy):
    """Shows other weights than those of attention."""

    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        out, weights = super().forward(x, **how)
        return AttentionOutput(out, None if weights is None else self.other(weights))

    def other(self, weights: Tensor) -> Tensor:
        raise NotImplementedError


class Averaged(Reweighed):
    def other(self, weights: Tensor) -> Tensor:
        return weights.mean(1)


class Doubled(Reweighed):
    def other(self, weights: Tensor) -> Tensor:
        return 2 * weights


class Smeared(Reweighed):
    def other(self, weights: Tensor) -> Tensor:
        return weights / 2 + 0.5 / T


class Negative(Reweighed):
    def other(self, weights: Tensor) -> Tensor:
        return weights.where(weights == 0, 2 * weights - 1)


class Unsaved(Healthy):
    def __init__(self, *shape: int) -> None:
        super().__init__(*shape)
        self.secret = torch.randn(D).double()

    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        out, weights = super().forward(x, **how)
        return AttentionOutput(out + self.secret, weights)


class Short(Healthy):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__(d_model, n_heads, max_len)
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x: Tensor, *, cache: Any = None, **how: Any) -> AttentionOutput:
        start = 0 if cache is None else cache.n_tokens
        placed = x + self.table(torch.arange(start, start + x.shape[1]))
        return super().forward(placed, cache=cache, **how)


class Overflowing(DotProduct):
    """An output beyond the largest number: compared with itself, it is not a number."""

    def forward(self, x: Tensor, **how: Any) -> AttentionOutput:
        found = super().forward(x, **how)
        return found._replace(out=found.out + torch.inf)


BUGS: list[tuple[promises.Promise, type[nn.Module], str]] = [
    (
        promises.keeps_the_shape,
        Narrower,
        r"^it turns tokens of shape \(2, 7, 12\) into \(2, 7, 11\)",
    ),
    (promises.keeps_the_shape, Rougher, r"^it turns float64 into torch\.float32$"),
    (promises.hides_the_future, Unmasked, r"^the future is seen: the output at position \d cha"),
    (promises.hides_the_future, LateMask, r"^the future is seen: the output at position \d cha"),
    (
        promises.hides_the_future,
        Backwards,
        r"^the mask is transposed, a token sees only those after it: the output at position \d",
    ),
    (promises.hides_the_future, Overflowing, r"^some outputs are not a number"),
    (promises.looks_around, Lonely, r"^no token looks at another: the last output ignores all"),
    (promises.ignores_padding, SeesPadding, r"^padding is looked at: .* real tokens by \d"),
    (promises.keeps_segments_apart, MixesTexts, r"^texts packed into one row see each other: one"),
    (
        promises.survives_seeing_nothing,
        Infinite,
        r"^a token that sees nothing becomes NaN \(softma",
    ),
    (promises.treats_rows_alone, MixesRows, r"^rows of a batch change each other by \d"),
    (promises.teaches_every_parameter, Idle, r"^no gradient reaches idle: it cannot learn$"),
    (promises.teaches_every_parameter, Cut, r"^no gradient reaches key\.weight, proj\.weight, que"),
    (promises.teaches_every_parameter, Modest, r"^query\.weight is declared null and gets a grad"),
    (promises.remembers_by_cache, Forgetful, r"^with a cache, token by token, the outputs differ"),
    (promises.remembers_by_cache, Confused, r"^with a cache, token by token, the outputs differ"),
    (promises.takes_a_prefix, IgnoresPrefix, r"^no token sees the prefix$"),
    (promises.takes_a_prefix, PaddedPrefix, r"^a prefix of no keys changes the output$"),
    (promises.shows_its_weights, Talkative, r"^it returns weights although need_weights is False$"),
    (promises.shows_its_weights, Secretive, r"^its weights are of shape None$"),
    (promises.shows_its_weights, Averaged, r"^its weights are of shape \(2, 7, 7\)$"),
    (promises.shows_its_weights, Doubled, r"^the weights of a query do not sum to 1$"),
    (promises.shows_its_weights, Smeared, r"^a hidden key has weight, or a weight is negative$"),
    (promises.shows_its_weights, Negative, r"^a hidden key has weight, or a weight is negative$"),
    (promises.comes_back_from_disk, Unsaved, r"^something that matters is not in its state_dict: "),
    (promises.says_what_is_too_long, Short, r"^a row of 14 tokens, max_len 7, ends in IndexError"),
]


def subject(variant: type[nn.Module], **declared: frozenset[str]) -> Subject:
    return Subject(lambda: variant(D, H, T), **{"supports": DotProduct.supports, **declared})


@pytest.mark.parametrize(
    ("promise", "bug", "sentence"), BUGS, ids=[f"{p.__name__}-{bug.__name__}" for p, bug, _ in BUGS]
)
def test_a_bug_is_caught_by_its_promise(
    promise: promises.Promise, bug: type[nn.Module], sentence: str
) -> None:
    said = promise(subject(bug))
    assert said is not None
    assert re.search(sentence, said), said


@pytest.mark.parametrize("promise", [*ALWAYS, *IF_SUPPORTED.values()], ids=lambda p: p.__name__)
def test_a_healthy_layer_keeps_every_promise(promise: promises.Promise) -> None:
    assert promise(subject(Healthy)) is None


def test_every_promise_has_a_bug_to_catch() -> None:
    assert {promise for promise, _, _ in BUGS} == {*ALWAYS, *IF_SUPPORTED.values()}


def test_a_declared_leak_is_no_broken_promise_and_an_undeclared_one_is() -> None:
    declared = subject(LateMask, breaks=frozenset({"causal"}))
    assert promises.hides_the_future(declared) is None
    assert promises.shows_its_weights(declared) is None
    assert promises.hides_the_future(subject(LateMask)) is not None


def test_a_leak_that_is_declared_and_not_there_is_told() -> None:
    said = promises.hides_the_future(subject(Healthy, breaks=frozenset({"causal"})))
    assert said == "it declares to break causality and keeps it: take 'causal' out of breaks"


class CausalSeesPadding(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        padding = None if mask.causal else mask.padding
        return super().forward(x, mask=replace(mask, padding=padding), **how)


class CausalMixesTexts(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        segments = None if mask.causal else mask.segments
        return super().forward(x, mask=replace(mask, segments=segments), **how)


class CausalIgnoresPrefix(Healthy):
    def forward(self, x: Tensor, *, mask: AttentionMask, **how: Any) -> AttentionOutput:
        prefix = how.pop("prefix", None)
        return super().forward(x, mask=mask, prefix=None if mask.causal else prefix, **how)


@pytest.mark.parametrize(
    ("promise", "bug"),
    [
        (promises.ignores_padding, CausalSeesPadding),
        (promises.keeps_segments_apart, CausalMixesTexts),
        (promises.takes_a_prefix, CausalIgnoresPrefix),
    ],
    ids=["padding", "segments", "prefix"],
)
def test_a_bug_under_a_causal_mask_alone_is_caught(
    promise: promises.Promise, bug: type[nn.Module]
) -> None:
    assert promise(subject(bug)) is not None


def test_a_layer_promises_what_it_supports() -> None:
    assert promises_of(frozenset()) == list(ALWAYS)
    assert promises_of(frozenset({"causal", "weights", "alibi"})) == [
        promises.keeps_the_shape,
        promises.hides_the_future,
        promises.shows_its_weights,
        *ALWAYS[1:],
    ]
    assert set(promises_of(DotProduct.supports)) == {*ALWAYS, *IF_SUPPORTED.values()}


def test_a_layer_under_test_has_the_same_weights_each_time() -> None:
    first, second = (subject(Healthy).layer() for _ in range(2))
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )
    assert not first.training
    assert first.proj.weight.dtype == torch.float64
