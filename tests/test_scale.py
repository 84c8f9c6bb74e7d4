"""The cost model of docs/scale.md: one node, many nodes, and what a fit finds again."""

import pytest

from scale import NETWORKS, NODES, ROWS, Cost, fit, predictions

COST = Cost(fixed=0.02, per_row=0.01, latency=0.0003, bandwidth=1e9, parameters=3_000_000)


def measured(cost: Cost) -> dict[str, object]:
    """Return what a machine with just these costs would show, one process or two."""
    steps = {rows: [cost.fixed + rows * cost.per_row] * 3 for rows in (4, 8, 16)}
    sizes = (1e5, 1e6, 12e6)
    reduces = {size: [2 * cost.latency + size / cost.bandwidth] * 3 for size in sizes}
    return {
        "steps": steps,
        "reduces": reduces,
        "saving": [200 * cost.save],
        "parameters": cost.parameters,
    }


def test_a_fit_finds_the_costs_again_and_predicts_two_processes() -> None:
    found = fit(measured(COST), save_every=200)
    assert found.step(2) == pytest.approx(COST.step(2), rel=1e-6)
    assert found.step(1) == pytest.approx(0.02 + ROWS * 0.01)
    # half of the rows, and every gradient once over the wire
    assert found.step(2) == pytest.approx(0.02 + ROWS / 2 * 0.01 + 2 * 0.0003 + 12e6 / 1e9)


def test_one_node_does_not_communicate_and_many_are_never_more_than_many_times_faster() -> None:
    assert COST.all_reduce(1) == 0
    for nodes in NODES:
        assert COST.speedup(nodes) <= nodes


def test_overlap_is_due_earlier_on_a_slower_network() -> None:
    table = predictions(COST)
    slow, fast = (table[name]["overlap_from_nodes"] or 1000 for name in NETWORKS)
    assert slow < fast
