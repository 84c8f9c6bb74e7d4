"""Cost of attention: every variant next to torch's own paths and two well-known libraries.

    python benchmarks/attention_cost.py            # about fifteen minutes

A causal layer, d_model 256, 8 heads, one row, forward and back, float32. All take turns round by
round, in another order each, so that a noisy machine hurts all alike; ratios are of medians in the
same run. What would need more than 4 GB or 10 seconds at a length stops before it.
"""

import argparse
import re
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from rich.console import Console
from torch import Tensor, nn

from attnlab.attention import ATTENTION, fast_path
from attnlab.checks.cost import Cost, Work, growth, measure_costs
from attnlab.recipes.attention.cost import layer_work
from attnlab.report.attention import costs_view
from measure import write_result
from rivals import use_rivals

D, H = 256, 8
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
LINEAR = ("linear", "performer", "sliding_window", "aft:form=simple")
TORCHS = ("torch sdpa", "torch matmul", "torch MultiheadAttention")
LONG = 512


class Projected(nn.Module):
    """What one writes around torch's functions: three projections in, one out."""

    def __init__(self, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.query, self.key, self.value, self.proj = (nn.Linear(D, D) for _ in range(4))
        self.attend = attend

    def forward(self, x: Tensor) -> Tensor:
        """Split, attend, merge."""
        B, T, _ = x.shape
        q, k, v = (
            linear(x).view(B, T, H, D // H).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        return self.proj(self.attend(q, k, v).transpose(1, 2).reshape(B, T, D))


def by_sdpa(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Torch's fused kernel."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def by_matmul(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As in the textbooks, and in minGPT."""
    T = q.shape[2]
    scores = q @ k.transpose(-2, -1) / (D // H) ** 0.5
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Multihead(nn.Module):
    """torch.nn.MultiheadAttention, asked for no weights."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(D, H, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """Attend causally."""
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        out, _ = self.layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)
        return out


def work_of(build: Callable[[], nn.Module]) -> Callable[[int], Work]:
    """Return what makes the work of a rival for a length."""

    def make(length: int) -> Work:
        torch.manual_seed(0)
        layer = build().train()
        x = torch.randn(1, length, D, requires_grad=True)
        gradient = torch.randn(1, length, D)
        sources = [x, *layer.parameters()]

        def work() -> object:
            out = layer(x)
            out = out[0] if isinstance(out, tuple) else out
            return torch.autograd.grad(out, sources, gradient, allow_unused=True)

        return work

    return make


def rivals() -> dict[str, Callable[[int], Work]]:
    """Return torch's own ways and the libraries', each by its name."""
    use_rivals()
    from performer_pytorch import SelfAttention
    from x_transformers.x_transformers import Attention

    sizes = {"dim": D, "heads": H, "dim_head": D // H, "causal": True}
    return {
        "torch sdpa": work_of(lambda: Projected(by_sdpa)),
        "torch matmul": work_of(lambda: Projected(by_matmul)),
        "torch MultiheadAttention": work_of(Multihead),
        "x-transformers": work_of(lambda: Attention(**sizes)),
        "x-transformers flash": work_of(lambda: Attention(**sizes, flash=True)),
        "performer-pytorch": work_of(lambda: SelfAttention(**sizes)),
    }


def ratios(costs: Sequence[Cost], ours: str, theirs: Sequence[str]) -> dict[int, float]:
    """Return our seconds over those of the best of the others, by length."""
    seconds = {(cost.name, cost.length): cost.seconds for cost in costs}
    found = {}
    for length in sorted({cost.length for cost in costs}):
        others = [seconds[name, length] for name in theirs if (name, length) in seconds]
        if others and (ours, length) in seconds:
            found[length] = seconds[ours, length] / min(others)
    return found


def key(name: str) -> str:
    """Return a name that documents can refer to."""
    return re.sub(r"\W+", "_", name)


def main() -> None:
    """Measure all, print table and ratios, write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="rounds a length (default 9)")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    arguments = parser.parse_args()
    fused_from = fast_path.recorded_or_measured()
    fast_path.use(fused_from)
    shape = {"d_model": D, "n_heads": H}
    ours = {name: layer_work(name, shape) for name in (*ATTENTION.names(), "aft:form=simple")}
    costs = measure_costs({**ours, **rivals()}, arguments.lengths, rounds=arguments.rounds)
    Console(width=110).print(costs_view(costs))

    pairs = {
        "dot_product over the best of torch": ratios(costs, "dot_product", TORCHS),
        "dot_product over x-transformers": ratios(costs, "dot_product", ["x-transformers"]),
        "dot_product over x-transformers flash": ratios(
            costs, "dot_product", ["x-transformers flash"]
        ),
        "performer over performer-pytorch": ratios(costs, "performer", ["performer-pytorch"]),
        **{f"{name} over torch sdpa": ratios(costs, name, ["torch sdpa"]) for name in LINEAR},
    }
    for pair, by_length in pairs.items():
        print(f"{pair}:", ", ".join(f"{n} {ratio:.2f}" for n, ratio in by_length.items()))
    exponents = {name: growth(costs, name, above=LONG) for name in LINEAR}
    against_torch = list(pairs["dot_product over the best of torch"].values())
    write_result(
        "attention_cost",
        claim="seconds of dot_product over the best of torch's own ways, largest over the lengths",
        value=round(max(against_torch), 3),
        interval=[round(min(against_torch), 3), round(max(against_torch), 3)],
        details={
            "interval": "smallest and largest ratio over the lengths",
            "fused_from": fused_from,
            "rounds": arguments.rounds,
            "exponent_from_512": {
                key(name): round(value.exponent, 3) for name, value in exponents.items() if value
            },
            "ratios": {
                key(pair): {str(n): round(ratio, 3) for n, ratio in by_length.items()}
                for pair, by_length in pairs.items()
            },
            "milliseconds": {
                key(name): {
                    str(c.length): round(1e3 * c.seconds, 3) for c in costs if c.name == name
                }
                for name in dict.fromkeys(cost.name for cost in costs)
            },
            "megabytes": {
                key(name): {
                    str(c.length): round(c.peak_bytes / 1e6, 1) for c in costs if c.name == name
                }
                for name in dict.fromkeys(cost.name for cost in costs)
            },
        },
    )


if __name__ == "__main__":
    main()
