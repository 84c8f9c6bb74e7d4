"""Is dot_product as fast as the best that torch offers? Many rounds, since they are close.

    python benchmarks/dot_product.py            # about three minutes

The same layer as in attention_cost.py, beside torch's three own ways; a way that would need more
than a second at a length stops before it, for it is far from the best there.
"""

import argparse

from attention_cost import (
    LENGTHS,
    TORCHS,
    D,
    H,
    Multihead,
    Projected,
    by_matmul,
    by_sdpa,
    ratios,
    work_of,
)
from attnlab.attention import fast_path
from attnlab.checks.cost import Limits, measure_costs
from attnlab.recipes.attention.cost import layer_work
from measure import write_result


def main() -> None:
    """Measure, print the ratios, write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=28, help="rounds a length (default 28)")
    rounds = parser.parse_args().rounds
    fused_from = fast_path.recorded_or_measured()
    fast_path.use(fused_from)
    ways = (lambda: Projected(by_sdpa), lambda: Projected(by_matmul), Multihead)
    candidates = {
        "dot_product": layer_work("dot_product", {"d_model": D, "n_heads": H}),
        **{name: work_of(build) for name, build in zip(TORCHS, ways, strict=True)},
    }
    costs = measure_costs(candidates, LENGTHS, rounds=rounds, limits=Limits(seconds=1.0))
    found = ratios(costs, "dot_product", TORCHS)
    print("over the best of torch:", ", ".join(f"{n} {ratio:.3f}" for n, ratio in found.items()))
    write_result(
        "dot_product",
        claim="seconds of dot_product over the best of torch's own ways, largest over the lengths",
        value=round(max(found.values()), 3),
        interval=[round(min(found.values()), 3), round(max(found.values()), 3)],
        details={
            "interval": "smallest and largest ratio over the lengths",
            "fused_from": fused_from,
            "rounds": rounds,
            "ratios": {str(length): round(ratio, 3) for length, ratio in found.items()},
        },
    )


if __name__ == "__main__":
    main()
