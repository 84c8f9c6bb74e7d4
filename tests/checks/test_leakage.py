"""The leak meter: exactly 0 for a causal model; a leak is found, told and worth its bits."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask, AttentionOutput
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.late_mask import LateMask
from attnlab.checks.leakage import (
    Leak,
    breaks_of,
    layer_leak,
    model_leak,
    refuse_undeclared,
)
from attnlab.errors import UserError
from attnlab.models.gpt import GPT

B, T, D, H, V = 2, 7, 12, 3, 11


def make_gpt(attention: str = "dot_product", **how: Any) -> GPT:
    torch.manual_seed(0)
    return GPT(
        V, T, d_model=D, n_heads=H, n_layers=2, attention=AttentionSettings(attention), **how
    )


def make_tokens(n_tokens: int = T) -> Tensor:
    return torch.randint(V, (B, n_tokens), generator=torch.Generator().manual_seed(1))


def drawn_again(tokens: Tensor) -> Tensor:
    """The tokens that the meter puts in the place of the future."""
    generator = torch.Generator().manual_seed(0)
    return (tokens + torch.randint(1, V, tokens.shape, generator=generator)) % V


class Reader(nn.Module):
    """A model made by hand: the logits at ``to`` are sure of the token at ``from_``."""

    def __init__(self, to: int, from_: int) -> None:
        super().__init__()
        self.to_, self.from_ = to, from_

    def forward(self, tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, V, dtype=torch.float64)
        logits[:, self.to_] = F.one_hot(tokens[:, self.from_], V).double()
        return logits


class NextReader(nn.Module):
    """Every position is as good as sure of the next token, for it reads it."""

    def forward(self, tokens: Tensor) -> Tensor:
        return 20.0 * F.one_hot(tokens.roll(-1, dims=1), V).double()


@pytest.mark.parametrize("training", [True, False], ids=["in training", "in evaluation"])
def test_a_causal_model_changes_by_exactly_nothing_and_stays_as_it_is(training: bool) -> None:
    model = make_gpt(dropout=0.5).train(training)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    random_state = torch.get_rng_state()
    leak = model_leak(model, make_tokens())
    assert leak == Leak(0.0, 0.0, None, None)
    assert not leak.found
    assert {module.training for module in model.modules()} == {training}
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), random_state)


def test_a_model_without_its_mask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.models.gpt.CAUSAL", AttentionMask())
    leak = model_leak(make_gpt(), make_tokens())
    assert leak.found
    assert leak.largest_change > 0
    assert leak.bits != 0


def test_a_late_mask_is_found_and_believed_since_it_is_declared() -> None:
    model = make_gpt("late_mask")
    leak = model_leak(model, make_tokens())
    assert leak.found
    assert leak.largest_change > 0
    assert breaks_of(model) == {"causal"}
    refuse_undeclared(leak, model)


def test_a_leak_that_nobody_declared_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sly.py"
    path.write_text(
        "from attnlab.attention.variants.late_mask import LateMask\n"
        "class Sly(LateMask):\n"
        "    breaks = frozenset()\n",
        encoding="utf-8",
    )
    model = make_gpt(f"{path}:Sly")
    with pytest.raises(
        UserError,
        match=r"^this model sees the future: the output at position \d changes by \S+ when the"
        r" tokens from position \d on are drawn again, worth \S+ bits per token\. Its loss would"
        r" mean nothing\. Mask the scores before the softmax\.",
    ):
        refuse_undeclared(model_leak(model, make_tokens()), model)


def test_a_model_that_hides_the_future_is_not_refused() -> None:
    model = make_gpt()
    refuse_undeclared(model_leak(model, make_tokens()), model)


def test_another_declaration_is_no_excuse() -> None:
    model = make_gpt("late_mask")
    for block in model.blocks:
        block.attn.breaks = frozenset({"padding"})
    with pytest.raises(UserError, match=r"^this model sees the future"):
        refuse_undeclared(Leak(0.5, 0.1, 2, 3), model)


def test_reading_the_next_token_is_worth_more_bits_than_a_token_has() -> None:
    """Drawn again, the token it was sure of costs its whole logit, 20 nats, where it differs.

    That is more than the log₂ V bits of a guess: a reader who trusts the leak is surely wrong.
    """
    tokens = make_tokens()
    differs = (drawn_again(tokens) != tokens)[:, 1:].double().mean()  # at T = 7 each place is a cut
    bits = model_leak(NextReader(), tokens).bits
    assert bits is not None
    assert abs(bits - float(differs) * 20 / math.log(2)) < 1e-9
    assert bits > math.log2(V)


def test_reading_the_last_token_but_one_is_worth_nothing() -> None:
    """The meter counts what the future tells, and not what the past does."""

    class Parrot(nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            return 20.0 * F.one_hot(tokens, V).double()

    assert model_leak(Parrot(), make_tokens()) == Leak(0.0, 0.0)


@pytest.mark.parametrize("n_tokens", [2, T, 40])
def test_a_leak_into_the_first_or_from_the_last_place_alone_is_found(n_tokens: int) -> None:
    tokens = make_tokens(n_tokens)
    tokens[0] = (drawn_again(tokens)[0] + 1) % V  # so that each token does change
    first = model_leak(Reader(to=0, from_=1), tokens)
    assert (first.largest_change, first.reached, first.from_) == (1.0, 0, 1)
    last = model_leak(Reader(to=n_tokens - 2, from_=n_tokens - 1), tokens)
    assert (last.largest_change, last.reached) == (1.0, n_tokens - 2)
    assert last.from_ == n_tokens - 1


def test_another_draw_finds_the_same_leak() -> None:
    leaks = [model_leak(make_gpt("late_mask"), make_tokens(), seed=seed) for seed in (2, 3, 4)]
    assert all(leak.found for leak in leaks)
    assert len({leak.largest_change for leak in leaks}) == 3


def test_tokens_drawn_with_the_meters_own_seed_do_change() -> None:
    """A test's tokens are often drawn as the meter draws its own: then nothing would change."""
    tokens = drawn_again(make_tokens())
    assert model_leak(NextReader(), tokens).found


class Nan(nn.Module):
    """Gives no number where ``spoilt`` says so."""

    def __init__(self, spoilt: Any) -> None:
        super().__init__()
        self.spoilt = spoilt

    def forward(self, tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, V, dtype=torch.float64)
        logits[self.spoilt(tokens)] = math.nan
        return logits


@pytest.mark.parametrize("place", [0, 3])
def test_a_model_that_gives_no_number_is_found(place: int) -> None:
    model = Nan(lambda tokens: (torch.arange(T) == place).expand(tokens.shape))
    leak = model_leak(model, make_tokens())
    assert leak.found
    assert math.isnan(leak.largest_change)
    with pytest.raises(UserError, match=r"^this model returns outputs that are not a number"):
        refuse_undeclared(leak, model)


def test_a_future_that_makes_no_number_is_not_forgotten_at_the_next_cut() -> None:
    """Only a change of token 1 spoils position 0: the first cut shows it, the later ones do not."""
    tokens = make_tokens()
    tokens[:, 1] = (drawn_again(tokens)[:, 1] + 1) % V

    def spoilt(given: Tensor) -> Tensor:
        return (given[:, 1:2] != tokens[:, 1:2]) & (torch.arange(T) == 0)

    assert model_leak(Nan(spoilt), tokens).found


def test_a_layer_is_measured_without_bits() -> None:
    x = torch.randn(B, T, D, generator=torch.Generator().manual_seed(2)).double()
    torch.manual_seed(3)
    assert layer_leak(DotProduct(D, H, T).double(), x) == Leak(0.0, None)
    late = layer_leak(LateMask(D, H, T).double(), x)
    assert late.found
    assert late.bits is None
    assert late.reached is not None
    assert late.from_ is not None
    assert late.reached < late.from_


def test_a_leak_says_what_it_is() -> None:
    assert Leak(0.0, 0.0).sentence() == "nothing before a change feels it"
    assert Leak(0.25, None, 2, 5).sentence() == (
        "the output at position 2 changes by 0.25 when the tokens from position 5 on are drawn"
        " again"
    )
    assert Leak(0.25, 1.5, 2, 5).sentence().endswith(" drawn again, worth 1.5 bits per token")


def test_a_leak_says_so_where_not_all_cuts_were_measured() -> None:
    assert Leak(0.0, 0.0, cuts=6, possible_cuts=6).sentence() == "nothing before a change feels it"
    assert Leak(0.0, 0.0, cuts=4, possible_cuts=6).sentence() == (
        "nothing before a change feels it (measured at 4 of 6 cuts)"
    )
    assert (
        Leak(0.25, 1.5, 2, 5, cuts=4, possible_cuts=6)
        .sentence()
        .endswith(", worth 1.5 bits per token (measured at 4 of 6 cuts)")
    )


def test_a_record_stores_it_by_plain_names() -> None:
    leak = Leak(0.25, 1.5, 2, 5, cuts=4, possible_cuts=6)
    stored = leak.to_dict()
    assert stored.pop("sentence") == leak.sentence()
    assert stored.pop("cuts") == 4
    assert stored.pop("possible_cuts") == 6
    assert stored == {"largest_change": 0.25, "bits": 1.5, "reached": 2, "from": 5}


class Peek(nn.Module):
    """A layer that gives some places a look at the next token."""

    def __init__(self, places: list[int]) -> None:
        super().__init__()
        self.places = torch.tensor(places)

    def forward(self, x: Tensor, *, mask: AttentionMask) -> AttentionOutput:  # noqa: ARG002
        out = x.clone()
        out[:, self.places] += x[:, self.places + 1]
        return AttentionOutput(out)


@pytest.mark.parametrize(
    ("n_tokens", "places"), [(40, [15]), (300, [63, 127, 191, 255]), (300, [31]), (300, [298])]
)
def test_a_peek_at_one_next_token_is_found_wherever_a_chunk_may_end(
    n_tokens: int, places: list[int]
) -> None:
    x = torch.randn(1, n_tokens, 2, generator=torch.Generator().manual_seed(1)).double()
    leak = layer_leak(Peek(places), x)
    assert leak.found
    assert leak.from_ in [place + 1 for place in places]


def test_what_is_not_a_number_is_not_called_a_look_into_the_future() -> None:
    leak = model_leak(Nan(lambda given: torch.ones_like(given, dtype=torch.bool)), make_tokens())
    assert leak.sentence() == "some outputs are not a number"
    with pytest.raises(UserError, match=r"^this model returns outputs that are not a number"):
        refuse_undeclared(leak, nn.Identity())
