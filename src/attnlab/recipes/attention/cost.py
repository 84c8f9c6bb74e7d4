"""Measures the cost of attention by sequence length."""

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence

import torch

from attnlab.attention import fast_path
from attnlab.attention.assemble import attention_builder, build_positions
from attnlab.attention.conditions import with_options
from attnlab.attention.contract import AttentionMask
from attnlab.checks.cost import Cost, Limits, Work, measure_costs
from attnlab.errors import UserError
from attnlab.registry import telling_the_line
from attnlab.runs.memory import need_memory

CAUSAL = AttentionMask(causal=True)


def measure_attention(
    names: Sequence[str],
    lengths: Sequence[int],
    *,
    d_model: int,
    n_heads: int,
    rounds: int,
    on_round: Callable[[], None],
) -> list[Cost]:
    """Measure a causal layer forward and back, one row, no dropout, in float32."""
    # the matrices of a layer twice, with their gradients
    need_memory(2 * 4 * 4 * d_model**2, f"a layer of --d-model {d_model}")
    shape = {"d_model": d_model, "n_heads": n_heads}
    fast_path.use(fast_path.recorded_or_measured(torch.float32))  # before anything is measured
    with contextlib.redirect_stdout(sys.stderr):  # what a user's class prints is not our answer
        candidates = {name: layer_work(name, shape) for name in names}
        costs = measure_costs(
            candidates, lengths, rounds=rounds, limits=Limits(), on_round=on_round
        )
    if not costs:
        raise UserError(
            f"--lengths {','.join(map(str, lengths))}: none of {', '.join(names)} reaches such a"
            " length in 4 GB and 10 seconds. Give shorter ones."
        )
    return costs


def layer_work(name: str, shape: Mapping[str, int]) -> Callable[[int], Work]:
    """Return what makes the work of a layer for a length; ``name`` may carry options."""
    settings = with_options(name)

    def make(length: int) -> Work:
        how = {**shape, "max_len": length}
        torch.manual_seed(0)
        layer = attention_builder(settings, build_positions(settings, **how), **how)()
        x = torch.randn(1, length, shape["d_model"], requires_grad=True)
        gradient = torch.randn(1, length, shape["d_model"])
        sources = [x, *layer.parameters()]

        def work() -> object:
            out = layer(x, mask=CAUSAL).out
            return torch.autograd.grad(out, sources, gradient, allow_unused=True)

        return work

    with telling_the_line(settings.name):
        make(2)()  # what cannot be built or run fails before anything is measured
    return make
