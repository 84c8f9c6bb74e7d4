"""Our dropout: the right share and scale, independent neighbours, nothing outside of training."""

import math

import pytest
import torch
from torch import nn

from attnlab.dropout import Dropout

N = 300_000
FAR = 6
"""Standard deviations; farther off has a probability below 2e-9."""


def dropped(p: float, seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(p).train()(torch.ones(N)) == 0


@pytest.mark.parametrize("p", [0.05, 0.1, 0.5, 0.9])
def test_the_share_is_right_and_what_stays_is_scaled(p: float) -> None:
    torch.manual_seed(1)
    out = Dropout(p).train()(torch.ones(N))
    share = float((out == 0).double().mean())
    assert abs(share - p) < FAR * math.sqrt(p * (1 - p) / N) + 2**-17
    kept = out[out != 0]
    assert float(kept[0]) == pytest.approx(1 / (1 - p), abs=1e-3)
    assert bool((kept == kept[0]).all())


@pytest.mark.parametrize("distance", [1, 2, 3, 4])
def test_neighbours_are_dropped_independently(distance: int) -> None:
    """Four activations share one drawn number; it must not show."""
    gone = dropped(0.3).double()
    both = float((gone[:-distance] * gone[distance:]).mean())
    assert abs(both - 0.09) < FAR * math.sqrt(0.09 * 0.91 / N) * 2


def test_every_place_within_a_drawn_number_has_the_same_share() -> None:
    gone = dropped(0.1).double().view(-1, 4).mean(0)
    assert bool(((gone - 0.1).abs() < FAR * math.sqrt(0.09 / (N / 4))).all())


def test_the_seed_decides() -> None:
    assert torch.equal(dropped(0.5, seed=3), dropped(0.5, seed=3))
    assert not torch.equal(dropped(0.5, seed=3), dropped(0.5, seed=4))


def test_the_gradient_goes_where_the_activation_went() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    out = Dropout(0.4).train()(x)
    out.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad * x.detach(), out.detach())


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_nothing_is_dropped_outside_of_training_or_at_0(p: float, training: bool) -> None:
    x = torch.randn(5)
    assert Dropout(p).train(training)(x) is x


def test_everything_is_dropped_at_1() -> None:
    assert not Dropout(1.0).train()(torch.ones(9)).any()


def test_it_is_a_dropout_for_whoever_asks() -> None:
    assert isinstance(Dropout(0.1), nn.Dropout)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Dropout(1.5)
