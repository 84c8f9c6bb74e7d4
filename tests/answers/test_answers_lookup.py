"""*knowledge* 2(g)ii: looking a value up by its key, with one layer of attention or synthesizer.

Two tokens hold a key and a value each, in either order; the last token names a key. Every case is
tried: 2 questions × 2 orders × 4 pairs of values.
"""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor, nn

from attnlab.attention.contract import AttentionMask
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.synthesizer import Synthesizer

KEYS = VALUES = 2
WIDTH, LENGTH = KEYS + VALUES + 4, 3
"""Room for a key and a value; the rest is for the layer to use."""
CASES = list(product(range(KEYS), [(0, 1), (1, 0)], product(range(VALUES), repeat=2)))
HEADS = pytest.mark.parametrize("n_heads", [1, 4])


def tokens() -> Tensor:
    """Return every case as vectors: key and value side by side, so that they simply add up."""
    x = torch.zeros(len(CASES), LENGTH, WIDTH, dtype=torch.float64)
    for row, (asked, keys, values) in enumerate(CASES):
        for place, (key, value) in enumerate(zip(keys, values, strict=True)):
            x[row, place, key] = x[row, place, KEYS + value] = 1.0
        x[row, -1, asked] = 1.0
    return x


def wanted() -> Tensor:
    return torch.tensor([values[keys.index(asked)] for asked, keys, values in CASES])


def share_right(layer: nn.Module, readout: nn.Module, *, steps: int) -> float:
    """Train a layer and what reads its last token on all cases; return how many it gets right."""
    x, y = tokens(), wanted()
    layer, readout = layer.double(), readout.double()

    def scores() -> Tensor:
        out: Tensor = readout(x[:, -1] + layer(x, mask=AttentionMask()).out[:, -1])
        return out

    optimizer = torch.optim.Adam([*layer.parameters(), *readout.parameters()], lr=0.03)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores(), y).backward()
        optimizer.step()
    return float((scores().argmax(-1) == y).double().mean())


def test_one_attention_layer_learns_to_look_up() -> None:
    torch.manual_seed(0)
    found = share_right(DotProduct(WIDTH, 1, LENGTH), nn.Linear(WIDTH, VALUES), steps=150)
    assert found == 1.0


@HEADS
def test_one_synthesizer_layer_does_not(n_heads: int) -> None:
    torch.manual_seed(0)
    found = share_right(Synthesizer(WIDTH, n_heads, LENGTH), nn.Linear(WIDTH, VALUES), steps=200)
    assert found <= 7 / 8


def test_an_mlp_behind_it_makes_up_for_it() -> None:
    torch.manual_seed(0)
    layer = Synthesizer(WIDTH, 2, LENGTH)
    with torch.no_grad():
        layer.b2[:, 0, :2] = 5 * torch.eye(2)  # each head reads one of the two positions
    mlp = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, VALUES))
    assert share_right(layer, mlp, steps=200) == 1.0


def has_solution(features: np.ndarray, signs: np.ndarray) -> bool:
    """Say whether some weighted sum of the features has the right sign in every case."""
    bounds = [(None, None)] * features.shape[1]
    found = linprog(
        0 * features[0], -signs[:, None] * features, -np.ones(len(signs)), bounds=bounds
    )
    return bool(found.status == 0)


def test_no_weights_would_do() -> None:
    """For one question a synthesizer adds up a number for the order and one for each value."""
    cases = np.array([(order, a, b) for order in (0, 1) for a in (-1, 1) for b in (-1, 1)])
    order, first, second = cases.T
    signs = np.where(order == 0, first, second)
    additive = np.stack([1 - order, order, first, second], axis=1)
    assert not has_solution(additive, signs)
    for left_out in np.flatnonzero(first != second):  # seven of eight can be right
        kept = np.arange(8) != left_out
        assert has_solution(additive[kept], signs[kept])
    by_content = np.stack([(1 - order) * first, order * second], axis=1)
    assert has_solution(by_content, signs)  # what attention adds: the order decides which value


@HEADS
def test_its_weights_do_not_depend_on_what_the_others_hold(n_heads: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, LENGTH, WIDTH, dtype=torch.float64)
    x[1, -1] = x[0, -1]  # the same question, everything else differs

    def weights(layer: nn.Module) -> Tensor:
        nn.init.normal_(layer.value.weight)
        given = layer.double()(x, mask=AttentionMask(), need_weights=True).weights
        return given[:, :, -1]

    synthesizer = Synthesizer(WIDTH, n_heads, LENGTH)
    nn.init.normal_(synthesizer.w2)
    first, second = weights(synthesizer)
    assert torch.equal(first, second)
    first, second = weights(DotProduct(WIDTH, n_heads, LENGTH))
    assert not torch.allclose(first, second, atol=1e-3)
