"""The leak meter under a limit of seconds: it keeps to it, and still finds what it can."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask
from attnlab.attention.settings import AttentionSettings
from attnlab.checks.cuts import LEAST_CUTS
from attnlab.checks.leak_meter import in_float64
from attnlab.checks.leakage import Leak, model_leak, seconds_after_training
from attnlab.models.gpt import GPT
from attnlab.models.sizes import NGramTableSize

B, T, V = 2, 128, 11


def make_gpt(attention: str = "dot_product", *, rows: int = 0) -> GPT:
    torch.manual_seed(0)
    return GPT(
        V,
        T,
        d_model=12,
        n_heads=3,
        n_layers=1,
        attention=AttentionSettings(attention),
        ngram_table=NGramTableSize(rows=rows),
    )


def make_tokens() -> Tensor:
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))


class Slow(nn.Module):
    """Takes a second a row, by a clock of its own, and writes down how many rows it was given."""

    now = 0.0
    given: list[int]

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.given = []

    def __deepcopy__(self, memo: dict[int, object]) -> "Slow":
        return self

    def forward(self, tokens: Tensor) -> Tensor:
        self.now += len(tokens)
        self.given.append(len(tokens))
        logits: Tensor = self.model(tokens)
        return logits

    def measure(self, seconds: float) -> Leak:
        return model_leak(self, make_tokens(), seconds=seconds, clock=lambda: self.now)


class Peek(nn.Module):
    """Is sure of the next token at some places, for it reads it there."""

    def __init__(self, *places: int) -> None:
        super().__init__()
        self.places = list(places)

    def forward(self, tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, V, dtype=torch.float64)
        following = F.one_hot(tokens.roll(-1, dims=1), V).double()
        logits[:, self.places] = 20.0 * following[:, self.places]
        return logits


class NoNumber(nn.Module):
    """Gives no number at one place."""

    def forward(self, tokens: Tensor) -> Tensor:
        logits = torch.zeros(*tokens.shape, V, dtype=torch.float64)
        logits[:, 77] = math.nan
        return logits


@pytest.mark.parametrize("seconds", [10.0, 11.9, 50.0, 253.9])
def test_the_meter_keeps_to_its_seconds(seconds: float) -> None:
    slow = Slow(Peek())
    leak = slow.measure(seconds)
    assert slow.now <= seconds
    assert slow.now + B > seconds, "there was time for another cut"
    assert set(slow.given) == {B}
    assert leak.cuts == len(slow.given) - 1  # the first forward reads the text as it is
    assert leak.possible_cuts == T - 1


@pytest.mark.parametrize("seconds", [0.0, 1.0, 9.9])
def test_the_least_cuts_are_measured_in_one_row_where_time_is_short(seconds: float) -> None:
    slow = Slow(Peek())
    leak = slow.measure(seconds)
    assert slow.given[:2] == [B, 1]
    assert set(slow.given[1:]) == {1}
    assert leak.cuts is not None
    assert leak.cuts == len(slow.given) - 2
    assert leak.cuts == max(LEAST_CUTS, int(seconds) - 3)


def test_without_a_limit_every_cut_is_measured() -> None:
    slow = Slow(Peek())
    leak = slow.measure(math.inf)
    assert slow.given == [B] * T
    assert (leak.cuts, leak.possible_cuts) == (T - 1, T - 1)


def test_a_limit_that_is_not_reached_changes_no_number() -> None:
    model, tokens = make_gpt("late_mask"), make_tokens()
    free = model_leak(model, tokens)
    assert free.found
    assert model_leak(model, tokens, seconds=1e9) == free


def without_mask(monkeypatch: pytest.MonkeyPatch) -> nn.Module:
    monkeypatch.setattr("attnlab.models.gpt.CAUSAL", AttentionMask())
    return make_gpt().double()


LEAKS: dict[str, Callable[[pytest.MonkeyPatch], nn.Module]] = {
    "no mask": without_mask,
    "late mask": lambda _: make_gpt("late_mask").double(),
    "every place reads the next token": lambda _: Peek(*range(T - 1)),
    "the first place alone": lambda _: Peek(0),
    "the last place alone": lambda _: Peek(T - 2),
    "chunks of 16": lambda _: Peek(*range(15, T - 1, 16)),
    "chunks of 32": lambda _: Peek(*range(31, T - 1, 32)),
    "chunks of 64": lambda _: Peek(*range(63, T - 1, 64)),
    "no number": lambda _: NoNumber(),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_the_least_cuts_find_a_leak(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leak = Slow(LEAKS[kind](monkeypatch)).measure(0.0)
    assert leak.cuts == LEAST_CUTS
    assert leak.found


def test_one_row_is_compared_with_one_row() -> None:
    """Outputs of a larger batch may differ in the last bit, which would look like a leak."""

    class RoundedByBatch(nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            return torch.full((*tokens.shape, V), 1 / 3 / len(tokens), dtype=torch.float64)

    assert not Slow(RoundedByBatch()).measure(0.0).found


def test_a_peek_at_one_place_is_missed_where_time_is_short_and_the_record_says_so() -> None:
    slow = Slow(Peek(40))
    missed = slow.measure(0.0)
    assert not missed.found
    assert missed.sentence().endswith(f"(measured at {LEAST_CUTS} of {T - 1} cuts)")
    assert slow.measure(math.inf).from_ == 41


def test_a_run_pays_a_second_or_two_percent_for_both_measurements() -> None:
    assert seconds_after_training(0.0) == 0.5
    assert seconds_after_training(50.0) == 0.5
    assert seconds_after_training(1000.0) == 19.5


def test_a_large_table_is_not_copied_and_gives_the_same_numbers() -> None:
    model, tokens = make_gpt("late_mask", rows=64), make_tokens()
    assert model.ngram_table is not None
    nn.init.normal_(model.ngram_table.table.weight)
    exact = in_float64(model)
    shared = exact.get_parameter("ngram_table.table.weight")
    assert shared.data_ptr() == model.ngram_table.table.weight.data_ptr()
    with torch.no_grad():
        assert torch.equal(exact(tokens), copy.deepcopy(model).double().eval()(tokens))
    assert model.ngram_table.table.weight.requires_grad
    assert model.ngram_table.table(tokens).dtype == torch.float32


def test_a_table_that_is_shared_or_changed_by_reading_is_copied() -> None:
    tied = nn.Sequential(nn.Embedding(V, 4, sparse=True), nn.Linear(4, V, bias=False))
    tied[1].weight = tied[0].weight
    shortened = nn.Embedding(V, 4, sparse=True, max_norm=0.1)
    for model in (tied, shortened):
        before = copy.deepcopy(model.state_dict())
        assert in_float64(model)(make_tokens()).dtype == torch.float64
        assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
