"""The sentence about a busy machine."""

import pytest

from attnlab.training.pace import Pace


def sentences(*stretches: tuple[int, int, float]) -> list[str]:
    """Take steps in (how many, tokens, seconds) and collect what is said."""
    pace = Pace()
    said = [pace.slowdown(tokens, s) for count, tokens, s in stretches for _ in range(count)]
    return [sentence for sentence in said if sentence]


def test_a_run_that_gets_three_times_slower_says_so_once() -> None:
    (said,) = sentences((1, 100, 9.0), (20, 100, 0.1), (60, 100, 0.5))
    assert said.startswith("the machine is busy: 200 tokens/s now, 1,000 at the start.")


@pytest.mark.parametrize(
    "stretches",
    [
        pytest.param([(21, 100, 0.1), (500, 100, 0.2)], id="twice as slow"),
        pytest.param([(21, 100, 0.1), (300, 500, 0.5)], id="longer texts at the same rate"),
        pytest.param([(21, 100, 0.001), (20, 100, 0.1)], id="too short to tell"),
        pytest.param([(21, 100, 0.1), (5, 100, 4.0), (40, 100, 0.1)], id="a hiccup"),
    ],
)
def test_nothing_is_said(stretches: list[tuple[int, int, float]]) -> None:
    assert not sentences(*stretches)
