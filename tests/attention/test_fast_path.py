"""Torch's fused kernel and plain matmuls give the same numbers, and the choice is kept."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from cases import MASKS, B, D, H, assert_same, drawn, mask_of, prefix, tokens
from torch import Tensor

from attnlab.attention import fast_path
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Positions
from attnlab.attention.positions import POSITIONS
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.checks.leakage import layer_leak

T = 7
CAUSAL = AttentionMask(causal=True)
FUSED, PLAIN = 0, 10**9
SCHEMES = pytest.mark.parametrize("scheme", ["none", "rotary", "alibi"])


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the process its choice back after each test."""
    monkeypatch.setattr(fast_path, "_fused_from", fast_path._fused_from)
    monkeypatch.setattr(fast_path, "FEW", 0)


def make(scheme: str = "none") -> DotProduct:
    positions: Positions = POSITIONS.get(scheme)(D, H, T)
    return drawn(DotProduct(D, H, T, positions=positions))


def check(scheme: str, name: str, n_prefix_rows: int = 0) -> None:
    layer, x, mask = make(scheme), tokens(T).requires_grad_(), mask_of(name, T)
    before = prefix(n_prefix_rows) if n_prefix_rows else None

    def by(way: int) -> Tensor:
        fast_path.use(way)
        return layer(x, mask=mask, prefix=before).out

    assert_same(lambda: by(FUSED), lambda: by(PLAIN), [x, *layer.parameters()])


@SCHEMES
@pytest.mark.parametrize("name", MASKS)
def test_both_ways_give_the_same_numbers(scheme: str, name: str) -> None:
    check(scheme, name)


@SCHEMES
@pytest.mark.parametrize("n_rows", [1, B], ids=["one prefix for all rows", "a prefix a row"])
@pytest.mark.parametrize("name", ["all", "causal", "causal, padded on the left"])
def test_both_ways_give_the_same_numbers_after_a_prefix(
    scheme: str, name: str, n_rows: int
) -> None:
    check(scheme, name, n_rows)


@SCHEMES
def test_both_ways_give_the_same_numbers_with_a_cache(scheme: str) -> None:
    layer, x, rows = make(scheme), tokens(T), []
    for way in (FUSED, PLAIN):
        fast_path.use(way)
        cache = Cache()
        with torch.no_grad():
            pieces = [
                layer(x[:, a:b], mask=CAUSAL, cache=cache).out for a, b in pairwise((0, 3, 4, T))
            ]
        rows.append(torch.cat(pieces, dim=1))
    torch.testing.assert_close(rows[0], rows[1], atol=1e-12, rtol=0)


@pytest.mark.parametrize("way", [FUSED, PLAIN], ids=["fused", "plain"])
def test_a_token_that_sees_nothing_takes_nothing_home(way: int) -> None:
    layer, mask = make(), mask_of("causal, padded on the left", T)
    fast_path.use(way)
    out = layer(tokens(T), mask=mask).out
    assert mask.padding is not None
    blind = mask.padding.cumsum(1) == 0
    assert blind.any()
    assert torch.equal(out[blind], layer.proj.bias.expand(int(blind.sum()), D))


@SCHEMES
@pytest.mark.parametrize("way", [FUSED, PLAIN], ids=["fused", "plain"])
def test_not_even_a_rounding_of_the_future_reaches_the_past(scheme: str, way: int) -> None:
    fast_path.use(way)
    assert layer_leak(make(scheme), tokens(300)).largest_change == 0.0


def uncausal(q: Tensor, k: Tensor, v: Tensor, **_: object) -> Tensor:
    return SDPA(q, k, v)


def unscaled(q: Tensor, k: Tensor, v: Tensor, **how: object) -> Tensor:
    return SDPA(q, k, v, scale=1.0, **how)


SDPA = F.scaled_dot_product_attention


@pytest.mark.parametrize("bug", [uncausal, unscaled], ids=lambda bug: bug.__name__)
def test_the_comparison_notices_a_bug_of_the_fused_way(
    monkeypatch: pytest.MonkeyPatch, bug: object
) -> None:
    monkeypatch.setattr(F, "scaled_dot_product_attention", bug)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check("none", "causal")


def test_the_meter_finds_a_leak_of_the_fused_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(F, "scaled_dot_product_attention", uncausal)
    fast_path.use(FUSED)
    assert layer_leak(make(), tokens(T)).found


def test_weights_and_dropout_take_the_plain_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Tensor:
        raise AssertionError("fused")

    monkeypatch.setattr(F, "scaled_dot_product_attention", refuse)
    fast_path.use(FUSED)
    layer = DotProduct(D, H, T, dropout=0.5).double()
    layer(tokens(T), mask=CAUSAL)
    layer.eval()
    layer(tokens(T), mask=CAUSAL, need_weights=True)
    with pytest.raises(AssertionError, match="fused"):
        layer(tokens(T), mask=CAUSAL)


def test_the_fused_way_begins_at_the_given_length() -> None:
    fast_path.use(5)
    assert [fast_path.is_fused_faster(torch.zeros(2, n, 3)) for n in (4, 5, 6)] == [
        False,
        True,
        True,
    ]


def test_few_heads_in_all_take_the_fused_way_at_every_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fast_path, "FEW", 6)
    fast_path.use(PLAIN)
    taken = [fast_path.is_fused_faster(torch.zeros(rows, 3, 7, 4)) for rows in (1, 2)]
    assert taken == [True, False]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """An empty cache folder, nothing chosen yet, and a measurement that only counts its calls."""
    calls: list[int] = []
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "not" / "yet"))
    monkeypatch.setattr(fast_path, "_fused_from", None)
    monkeypatch.setattr(fast_path, "measure", lambda _: calls.append(1) or 40 + len(calls))
    return calls


def record(tmp_path: Path) -> Path:
    return tmp_path / "not" / "yet" / "fast_path.json"


def test_the_choice_is_measured_once_and_read_again(measured: list[int], tmp_path: Path) -> None:
    keys = torch.zeros(2, 41, 3)
    assert fast_path.is_fused_faster(keys)
    assert fast_path.is_fused_faster(keys)
    assert list(json.loads(record(tmp_path).read_text(encoding="utf-8")).values()) == [41]
    assert [fast_path.recorded_or_measured(torch.float32) for _ in range(2)] == [41, 41]
    assert measured == [1]


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"HERE": null}',
        '{"HERE": "soon"}',
        '{"HERE": [1]}',
        '{"another one": 5}',
        "\udcff",
    ],
)
def test_a_damaged_or_foreign_record_is_measured_again(
    measured: list[int], tmp_path: Path, damaged: str
) -> None:
    fast_path.recorded_or_measured(torch.float32)
    (here,) = json.loads(record(tmp_path).read_text(encoding="utf-8"))
    text = damaged.replace("HERE", here)
    record(tmp_path).write_bytes(text.encode("utf-8", errors="surrogateescape"))
    assert fast_path.recorded_or_measured(torch.float32) == 42
    assert fast_path.recorded_or_measured(torch.float32) == 42  # and recorded anew
    assert measured == [1, 1]


def test_an_endless_length_is_measured_again(measured: list[int], tmp_path: Path) -> None:
    fast_path.recorded_or_measured(torch.float32)
    text = record(tmp_path).read_text(encoding="utf-8")
    record(tmp_path).write_text(text.replace("41", "1e999"), encoding="utf-8")
    assert fast_path.recorded_or_measured(torch.float32) == 42
    assert measured == [1, 1]


def test_another_number_of_threads_is_measured_for_itself(measured: list[int]) -> None:
    threads = torch.get_num_threads()
    fast_path.recorded_or_measured(torch.float32)
    try:
        torch.set_num_threads(threads + 1)
        assert fast_path.recorded_or_measured(torch.float32) == 42
    finally:
        torch.set_num_threads(threads)
    assert measured == [1, 1]


def test_bfloat16_is_measured_for_itself_and_float64_is_not(measured: list[int]) -> None:
    dtypes = (torch.float32, torch.bfloat16, torch.float64, torch.bfloat16)
    assert [fast_path.recorded_or_measured(dtype) for dtype in dtypes] == [41, 42, 41, 42]
    assert measured == [1, 1]


def test_a_folder_that_cannot_be_written_is_no_error(
    measured: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "file" / "folder"))
    assert [fast_path.recorded_or_measured(torch.float32) for _ in range(2)] == [41, 42]
    assert measured == [1, 1]


def test_a_folder_in_the_place_of_the_record_is_no_error(
    measured: list[int], tmp_path: Path
) -> None:
    record(tmp_path).mkdir(parents=True)
    assert fast_path.recorded_or_measured(torch.float32) == 41
    assert measured == [1]


@pytest.mark.parametrize(
    ("wins", "fused_from"),
    [((), 1024), ((512,), 512), ((128, 256, 512), 128), ((64, 128, 256, 512), 0), ((64,), 1024)],
)
def test_the_fused_way_is_taken_from_where_it_always_wins(
    monkeypatch: pytest.MonkeyPatch, wins: tuple[int, ...], fused_from: int
) -> None:
    monkeypatch.setattr(
        fast_path, "_fastest", lambda length, _: [1.0, 0.5 if length in wins else 0.96]
    )
    assert fast_path.measure(torch.float32) == fused_from


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_real_measurement_ends_in_seconds_of_both_ways(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "ROUNDS", 2)
    plain, fused = fast_path._fastest(64, dtype)
    assert 0 < plain < 60
    assert 0 < fused < 60


def test_it_can_be_measured_while_inferring_in_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def fastest(length: int, dtype: torch.dtype) -> list[float]:  # noqa: ARG001
        on = torch.ones(1, requires_grad=True) * 2
        seen.append(on.requires_grad and not torch.is_autocast_enabled("cpu"))
        return [1.0, 1.0]

    monkeypatch.setattr(fast_path, "_fastest", fastest)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        fast_path.measure(torch.bfloat16)
    assert seen == [True]
