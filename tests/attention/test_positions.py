"""Where tokens stand: what each scheme adds, turns or takes away."""

import math

import pytest
import torch
from cases import B, D, H, K, drawn, tokens
from torch import Tensor

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Positions
from attnlab.attention.positions.alibi import AlibiPositions
from attnlab.attention.positions.learned import LearnedPositions
from attnlab.attention.positions.none import NoPositions
from attnlab.attention.positions.rotary import RotaryPositions
from attnlab.attention.positions.sinusoidal import SinusoidalPositions
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.errors import UserError

T = 7
CAUSAL = AttentionMask(causal=True)
ALL_SCHEMES = (AlibiPositions, LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions)


class Later(Positions):
    """The same scheme, with every row moved on by ``offset`` tokens."""

    def __init__(self, scheme: Positions, offset: int) -> None:
        super().__init__()
        self.scheme, self.offset = scheme, offset

    def add(self, x: Tensor, start: int = 0) -> Tensor:
        return self.scheme.add(x, start + self.offset)

    def turn(self, x: Tensor, start: int = 0) -> Tensor:
        return self.scheme.turn(x, start + self.offset)

    def bias(self, distance: Tensor) -> Tensor | None:
        return self.scheme.bias(distance)


def heads(n_tokens: int, seed: int = 2) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, H, n_tokens, K, dtype=torch.float64, generator=generator)


def outputs(positions: Positions) -> Tensor:
    layer = drawn(DotProduct(D, H, T, positions=positions))
    with torch.no_grad():
        return layer(positions.add(tokens(T)), mask=CAUSAL).out


@pytest.mark.parametrize("scheme", [RotaryPositions, AlibiPositions, NoPositions])
def test_where_a_row_begins_does_not_matter_to_distances(scheme: type[Positions]) -> None:
    near, far = (outputs(Later(scheme(D, H, T), offset)) for offset in (0, 29))
    torch.testing.assert_close(near, far, atol=1e-12, rtol=0)


@pytest.mark.parametrize("scheme", [SinusoidalPositions, LearnedPositions])
def test_where_a_row_begins_matters_to_absolute_positions(scheme: type[Positions]) -> None:
    near, far = (outputs(Later(drawn(scheme(D, H, T + 29)), offset)) for offset in (0, 29))
    assert not torch.allclose(near, far)


@pytest.mark.parametrize("scheme", [RotaryPositions, AlibiPositions])
def test_distances_matter(scheme: type[Positions]) -> None:
    """Without this, a scheme that does nothing would pass as one that sees distances alone."""
    assert not torch.allclose(outputs(scheme(D, H, T)), outputs(NoPositions(D, H, T)))


def test_distances_do_not_survive_keys_that_are_not_turned() -> None:
    """The bug that the test of distances must catch: queries turned, keys left as they are."""
    rotary, q, k = RotaryPositions(D, H, T), heads(T), heads(T, seed=3)
    near, far = (rotary.turn(q, start) @ k.mT for start in (0, 29))
    assert not torch.allclose(near, far)


@pytest.mark.parametrize("start", [0, 5])
def test_rotary_changes_no_length_and_turns_each_pair_by_its_angle(start: int) -> None:
    x, rotary = heads(T), RotaryPositions(D, H, T, base=100.0)
    turned = rotary.turn(x, start)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-12, rtol=0)
    for t in range(T):
        for i in range(K // 2):
            angle = (start + t) * 100.0 ** (-2 * i / K)
            a, b = x[:, :, t, i], x[:, :, t, i + K // 2]
            first = a * math.cos(angle) - b * math.sin(angle)
            second = a * math.sin(angle) + b * math.cos(angle)
            for place, wanted in ((i, first), (i + K // 2, second)):
                torch.testing.assert_close(turned[:, :, t, place], wanted, atol=1e-12, rtol=0)


def test_rotary_turns_a_row_as_it_turns_its_pieces() -> None:
    rotary, x = RotaryPositions(D, H, T), heads(T)
    pieces = [rotary.turn(x[:, :, :3]), rotary.turn(x[:, :, 3:], start=3)]
    torch.testing.assert_close(torch.cat(pieces, dim=2), rotary.turn(x), atol=1e-12, rtol=0)


def test_rotary_works_for_every_even_width() -> None:
    failing = []
    for width in range(2, 514, 2):
        try:
            RotaryPositions(width, 1, T).turn(torch.ones(1, 1, 2, width))
        except RuntimeError:
            failing.append(width)
    assert failing == []


def test_rotary_refuses_a_head_of_odd_width() -> None:
    with pytest.raises(
        UserError,
        match=r"^rotary positions rotate pairs of coordinates, so a head needs an even width;"
        r" d_model = 15 and n_heads = 3 give 5\.$",
    ):
        RotaryPositions(15, 3, T)


@pytest.mark.parametrize("start", [0, 4])
@pytest.mark.parametrize("width", [11, 12], ids=["odd width", "even width"])
def test_sinusoidal_positions_are_those_of_the_paper(start: int, width: int) -> None:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i + 1) the cosine."""
    x = torch.zeros(2, T, width, dtype=torch.float64)
    added = SinusoidalPositions(width, 1, T).add(x, start)
    for t in range(T):
        for j in range(width):
            angle = (start + t) / 10_000 ** ((j - j % 2) / width)
            wanted = math.cos(angle) if j % 2 else math.sin(angle)
            assert abs(float(added[1, t, j]) - wanted) < 1e-12


def test_sinusoidal_options_scale_and_stretch_the_waves() -> None:
    x = torch.zeros(1, 3, 4, dtype=torch.float64)
    added = SinusoidalPositions(4, 1, 3, base=100.0, scale=0.5).add(x)
    assert abs(float(added[0, 2, 2]) - 0.5 * math.sin(2 / 10)) < 1e-12


def test_sinusoidal_positions_count_on_in_bfloat16() -> None:
    x = torch.zeros(1, 2, 4, dtype=torch.bfloat16)
    added = SinusoidalPositions(4, 1, 9).add(x, start=515)
    wanted = torch.tensor([math.sin(515), math.sin(516)])
    torch.testing.assert_close(added[0, :, 0].float(), wanted, atol=0.01, rtol=0)


def test_learned_positions_are_added_from_where_the_row_begins() -> None:
    learned, x = drawn(LearnedPositions(D, H, T)), tokens(3)
    assert torch.equal(learned.add(x, start=2), x + learned.table.weight[2:5])


def test_learned_positions_end_at_max_len() -> None:
    learned = drawn(LearnedPositions(D, H, T))
    assert learned.add(tokens(2), start=T - 2).shape == (B, 2, D)
    with pytest.raises(
        UserError,
        match=r"^a sequence of 8 tokens is longer than max_len = 7, where learned positions end\."
        r" Shorten it or build the model with a larger max_len\.$",
    ):
        learned.add(tokens(2), start=T - 1)


@pytest.mark.parametrize("scheme", ALL_SCHEMES)
def test_a_cache_goes_on_where_the_row_stopped(scheme: type[Positions]) -> None:
    positions, x, cache = drawn(scheme(D, H, T)), tokens(T), Cache()
    layer = drawn(DotProduct(D, H, T, positions=positions))
    with torch.no_grad():
        pieces = [
            layer(positions.add(x[:, a:b], cache.n_tokens), mask=CAUSAL, cache=cache).out
            for a, b in ((0, 3), (3, 4), (4, T))
        ]
        whole = layer(positions.add(x), mask=CAUSAL).out
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-12, rtol=0)


def test_alibis_eight_slopes_are_a_half_to_a_256th() -> None:
    bias = AlibiPositions(64, 8, T).bias(torch.tensor([[1, -1, 0, 3]]))
    slopes = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256])
    assert torch.equal(bias[:, 0, 0], -slopes)
    assert torch.equal(bias[:, 0, 1], -slopes)  # ahead counts as behind
    assert torch.equal(bias[:, 0, 2], torch.zeros(8))
    assert torch.equal(bias[:, 0, 3], -3 * slopes)


def test_no_positions_leave_everything_as_it_is() -> None:
    nothing, x, q = NoPositions(D, H, T), tokens(T), heads(T)
    assert nothing.add(x, start=3) is x
    assert nothing.turn(q, start=3) is q
    assert nothing.bias(torch.zeros(2, 2, dtype=torch.long)) is None
    assert list(nothing.parameters()) == []


def test_a_scheme_says_what_it_needs() -> None:
    needs = [scheme(D, H, T).needs for scheme in ALL_SCHEMES]
    assert needs == ["alibi", None, None, "rotary", None]
