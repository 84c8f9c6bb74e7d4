"""What something costs, on work whose cost is known."""

import time

import pytest
import torch

from attnlab.checks.cost import Cost, Limits, crossover, growth, measure_costs, peak_bytes


def test_the_exponent_is_that_of_the_power() -> None:
    costs = [Cost("square", n, 3e-6 * n**2, 0) for n in (64, 128, 256)]
    found = growth(costs, "square")
    assert found is not None
    assert found.exponent == pytest.approx(2.0)
    assert found.interval == pytest.approx((2.0, 2.0))


def test_the_exponent_is_fitted_from_a_length_on() -> None:
    costs = [Cost("a", n, float(max(n, 512)), 0) for n in (64, 512, 1024, 2048)]
    found = growth(costs, "a", above=512)
    assert found is not None
    assert found.exponent == pytest.approx(1.0)
    assert growth(costs, "a", above=2048) is None
    assert growth(costs, "b") is None


def test_the_crossover_is_where_it_stays_cheaper() -> None:
    """At 64 it happens to be quicker, and is not at 128: that is no crossover."""
    seconds = {64: 1.0, 128: 4.0, 256: 5.0, 512: 6.0}
    costs = [Cost("line", n, value, 10) for n, value in seconds.items()]
    costs += [Cost("square", n, (n / 128) ** 2 * 3.9, n) for n in (64, 128, 256)]
    assert crossover(costs, "line", "square") == {"seconds": 256, "peak_bytes": 64}
    assert crossover(costs, "square", "line") == {"seconds": None, "peak_bytes": None}


@pytest.mark.parametrize(
    ("noise", "is_open"),
    [((0.98, 1.0, 1.03), False), ((0.2, 1.0, 6.0), True)],
    ids=["quiet machine", "busy machine"],
)
def test_an_exponent_that_noise_leaves_open_is_not_given(
    noise: tuple[float, ...], is_open: bool
) -> None:
    costs = [Cost("a", n, float(n), 0, tuple(n * k for k in noise)) for n in (512, 1024, 2048)]
    found = growth(costs, "a")
    assert found is not None
    assert found.is_open == is_open
    assert found.interval[0] <= 1.0 <= found.interval[1]
    assert costs[0].spread == pytest.approx((noise[2] - noise[0]) / 4)


def test_the_peak_is_what_lives_at_once() -> None:
    def work() -> None:
        x = torch.ones(1000)  # 4 kB
        y = x + 1  # 8 kB
        del x
        z = y * 2  # 8 kB again
        torch.cat([y, z])  # 16 kB

    assert peak_bytes(work) == 16_000


def test_views_hold_nothing_of_their_own() -> None:
    assert peak_bytes(lambda: torch.ones(1000).view(10, 100).T[2:]) == 4_000


def test_what_backward_needs_is_counted() -> None:
    def work(grad: bool) -> None:
        x = torch.ones(1000, requires_grad=grad)
        for _ in range(5):
            x = x.exp()

    assert peak_bytes(lambda: work(True)) == 24_000
    assert peak_bytes(lambda: work(False)) == 8_000


def test_candidates_take_turns_and_stop_before_the_limit() -> None:
    done: list[tuple[str, int]] = []

    def candidate(name: str, size: int):
        def make(length: int):
            def work() -> None:
                done.append((name, length))
                torch.ones(size * length**2)

            return work

        return make

    costs = measure_costs(
        {"small": candidate("small", 1), "large": candidate("large", 100)},
        [20, 10, 40],
        rounds=2,
        limits=Limits(peak_bytes=200_000),
    )
    assert [(c.name, c.length, c.peak_bytes) for c in costs] == [
        ("small", 10, 400), ("large", 10, 40_000),
        ("small", 20, 1600), ("large", 20, 160_000),
        ("small", 40, 6400),
    ]  # fmt: skip
    assert done[:4] == [("small", 10)] * 2 + [("large", 10)] * 2  # to know what longer ones need
    assert done[4:6] == [("small", 10), ("large", 10)]  # to see the memory
    unwatched, timed = done[6:14:2], done[7:14:2]
    assert unwatched == timed
    assert sorted(timed[:2]) == sorted(timed[2:]) == [("large", 10), ("small", 10)]


def test_what_would_take_too_long_stops() -> None:
    costs = measure_costs(
        {"slow": lambda length: lambda: time.sleep(0.02)},  # noqa: ARG005
        [10, 100],
        rounds=1,
        limits=Limits(seconds=1.0),
    )
    assert [cost.length for cost in costs] == [10]
