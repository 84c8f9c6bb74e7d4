"""How steady is the mean of two values if one key varies in length: with one head, with two?"""

import numpy as np

from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.noise import NoisyHeads, ignored_probability
from attnlab.geometry.panels import Histogram, NoisyKey

MOST_DOTS = 600
EDGES = np.linspace(0, 1, 42)
"""Of bins, so that ½ is in the middle of one."""


def explain_heads(drawn: NoisyHeads) -> Explanation:
    """Sum up many draws of the keys."""
    draws, n_tokens = drawn.one_head.shape
    heads = {count: _summary(drawn, count) for count in (1, 2)}
    columns = ("heads", "mean", "deviation", "without ignored", "5 %", "median", "95 %")
    rows = [(str(count), *(f"{x:.3f}" for x in row.values())) for count, row in heads.items()]
    shares = {
        name: np.histogram(drawn.weight_on_a(count), EDGES)[0] / draws
        for count, name in ((1, "one head"), (2, "two heads"))
    }
    ignored = float(drawn.ignored.mean())
    return Explanation(
        "The weight on v_a, where ½ is wanted",
        parts=[
            f"{draws:,} draws of {n_tokens} keys, β = {drawn.beta:g}, α = {drawn.alpha:g}",
            Table(columns, rows),
            "One head, q = β(μ_a + μ_b): a k_a longer than its mean takes all, a shorter one"
            " nothing, so the output jumps between v_a and v_b.",
            "Two heads, β μ_a and β μ_b: the first finds k_a unless it is very short, the second"
            " finds k_b, so the mean of both stays near ½(v_a + v_b).",
            f"k_a points away from μ_a in {ignored:.1%} of the draws"
            f" ({ignored_probability():.1%} expected); the assignment leaves them out.",
        ],
        data={
            "n_tokens": n_tokens, "beta": drawn.beta, "alpha": drawn.alpha, "draws": draws,
            "ignored": ignored, "heads": heads,
        },
        panels=[
            NoisyKey(drawn.keys_a[:MOST_DOTS], drawn.ignored[:MOST_DOTS]),
            Histogram("weight on $v_a$ (wanted: ½)", EDGES, shares, 0.5),
        ],
    )  # fmt: skip


def _summary(drawn: NoisyHeads, heads: int) -> dict[str, float]:
    low, middle, high = drawn.quantiles(heads)
    return {
        "mean": float(drawn.weight_on_a(heads).mean()),
        "deviation": drawn.deviation(heads),
        "deviation_without_ignored": drawn.deviation(heads, without_ignored=True),
        "quantile_5": low,
        "median": middle,
        "quantile_95": high,
    }
