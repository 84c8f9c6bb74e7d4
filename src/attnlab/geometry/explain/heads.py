"""How steady is the mean of two values if keys are noisy: with one head, with two?"""

import numpy as np

from attnlab.geometry.explanation import Explanation, Part, Table
from attnlab.geometry.noise import NoisyHeads, ignored_probability
from attnlab.geometry.panels import Histogram, NoisyKey

MOST_DOTS = 600
EDGES = np.linspace(0, 1, 42)
"""Of bins, so that ½ is in the middle of one."""
COLUMNS = ("λ", "heads", "mean", "deviation", "without ignored", "5 %", "median", "95 %")


def explain_heads(drawn: NoisyHeads, steady: NoisyHeads) -> Explanation:
    """Sum up many draws: all keys equally noisy (``steady``), and k_a varying in length."""
    draws, n_tokens = drawn.one_head.shape
    found = {one.length_variance: _summaries(one) for one in (steady, drawn)}
    rows = [
        (f"{variance:g}" if count == 1 else "", str(count), *(f"{x:.3f}" for x in row.values()))
        for variance, heads in found.items()
        for count, row in heads.items()
    ]
    return Explanation(
        "The weight on v_a, where ½ is wanted",
        parts=[
            f"{draws:,} draws of {n_tokens} keys, β = {drawn.beta:g}, Σ_i = αI,"
            f" Σ_a = αI + λ μ_a μ_aᵀ, α = {drawn.alpha:g}",
            Table(COLUMNS, rows),
            *_steady_parts(steady),
            *(_varied_parts(drawn) if drawn.length_variance else []),
        ],
        data={
            "n_tokens": n_tokens, "beta": drawn.beta, "alpha": drawn.alpha,
            "length_variance": drawn.length_variance, "draws": draws,
            "ignored": float(drawn.ignored.mean()),
            "steady": found[steady.length_variance], "heads": found[drawn.length_variance],
        },
        panels=[
            NoisyKey(drawn.keys_a[:MOST_DOTS], drawn.ignored[:MOST_DOTS]),
            Histogram("weight on $v_a$, all keys alike (wanted: ½)", EDGES, _shares(steady), 0.5),
            Histogram("weight on $v_a$, $k_a$ varying (wanted: ½)", EDGES, _shares(drawn), 0.5),
        ],
    )  # fmt: skip


def _steady_parts(steady: NoisyHeads) -> list[Part]:
    one, two = (steady.deviation(heads) for heads in (1, 2))
    return [
        f"λ = 0, Σ = αI for all keys: q = β(μ_a + μ_b) scores k_a and k_b near β and the others"
        f" near 0, so one head averages v_a and v_b up to a deviation of {one:.2g}; two heads,"
        f" β μ_a and β μ_b, up to {two:.2g}. Both vanish with α.",
    ]


def _varied_parts(drawn: NoisyHeads) -> list[Part]:
    ignored = float(drawn.ignored.mean())
    expected = ignored_probability(drawn.length_variance, alpha=drawn.alpha)
    return [
        f"λ = {drawn.length_variance:g}, one head: a k_a longer than its mean takes all, a shorter"
        " one nothing, so the output jumps between v_a and v_b.",
        "Two heads: the first finds k_a unless it is very short, the second finds k_b, so the mean"
        " of both stays near ½(v_a + v_b).",
        f"k_a points away from μ_a in {ignored:.1%} of the draws ({expected:.1%} expected); the"
        " assignment leaves them out.",
    ]


def _shares(drawn: NoisyHeads) -> dict[str, np.ndarray]:
    """Give the share of draws in each bin."""
    return {
        name: np.histogram(drawn.weight_on_a(count), EDGES)[0] / len(drawn.one_head)
        for count, name in ((1, "one head"), (2, "two heads"))
    }


def _summaries(drawn: NoisyHeads) -> dict[int, dict[str, float]]:
    return {heads: _summary(drawn, heads) for heads in (1, 2)}


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
