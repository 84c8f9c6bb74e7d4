"""Which of two equal computations is faster here: torch's fused kernel or plain matmuls.

On a CPU plain matmuls win for many short rows and the fused kernel for long ones; where they cross
depends on the machine and on the precision: in bfloat16 the kernel's way back takes several times
as long. It is measured once per machine and precision, and recorded. A run records it as well and
keeps to it, because the two differ in rounding. With few rows and heads one call costs less than
several, whatever the length, and the fused kernel is used.
"""

import contextlib
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.assets.cache import cache_folder
from attnlab.attention.context import Bias
from attnlab.attention.functional import (
    attn_scaled,
    compute_outputs,
    merge_heads,
    pairwise_similarities,
    split_heads_qkv,
)
from attnlab.attention.softmax_core import masked_softmax
from attnlab.errors import AttnlabError
from attnlab.phases import phase
from attnlab.runs import machine
from attnlab.runs.files import read_json, replace_file, to_json

FEW = 32
"""Rows times heads; below it the fused kernel won at every length from 16 to 256."""
LENGTHS = (64, 128, 256, 512)
ROUNDS = 7
CLEARLY = 0.95
"""The fused kernel must take less than this share of the time: near a tie either will do."""

_fused_from: int | None = None


def use(fused_from: int) -> None:
    """Use the fused kernel for rows of this length and longer, in this process."""
    global _fused_from
    _fused_from = fused_from


def is_fused_faster(k: Tensor) -> bool:
    """Say which way is faster for these keys; on a GPU the fused one."""
    if k.device.type != "cpu":
        return True
    if _fused_from is None:
        use(recorded_or_measured(k.dtype))
    assert _fused_from is not None
    n_heads_in_all = k.shape[0] * k.shape[1]
    return n_heads_in_all < FEW or k.shape[-2] >= _fused_from


def recorded_or_measured(dtype: torch.dtype) -> int:
    """Return the length from which the fused kernel is faster, as recorded for this machine."""
    path = cache_folder() / "fast_path.json"
    here = f"{machine.cpu()['name']}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    # float64 is for tests, and needs no measurement of its own
    dtype = torch.bfloat16 if dtype == torch.bfloat16 else torch.float32
    here += f", {dtype}".replace("torch.", "")
    recorded: dict[str, int] = {}
    with contextlib.suppress(AttnlabError, TypeError, ValueError, OverflowError, OSError):
        recorded = {str(key): int(value) for key, value in read_json(path).items()}
    if here not in recorded:
        recorded[here] = measure(dtype)
        with contextlib.suppress(AttnlabError, OSError):  # no place to write: measure again then
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, to_json(recorded))
    return recorded[here]


@phase("measuring attention speed, once per machine")
def measure(dtype: torch.dtype) -> int:
    """Time both ways forward and back, in turns, and return where the fused one begins to win."""
    fused_from = 2 * LENGTHS[-1]
    # the caller may be in inference mode or autocast; the measurement is not
    with torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False):
        for length in reversed(LENGTHS):
            plain, fused = _fastest(length, dtype)
            if fused > CLEARLY * plain:
                break
            fused_from = length
    return 0 if fused_from == LENGTHS[0] else fused_from


def _fastest(length: int, dtype: torch.dtype) -> list[float]:
    """Return the seconds of the plain and the fused way at one length."""
    shape = (max(1, 1024 // length), length, 256)
    generator = torch.Generator().manual_seed(0)
    *rows, gradient = (torch.randn(shape, generator=generator).to(dtype) for _ in range(4))
    rows = [row.requires_grad_() for row in rows]
    hidden = torch.ones(length, length, dtype=dtype).triu(1) * torch.finfo(dtype).min

    def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = pairwise_similarities(attn_scaled(q, 256, 8), k)
        return compute_outputs(masked_softmax(scores, Bias(hidden)), v)

    def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    seconds: dict[Callable[..., Tensor], list[float]] = {plain: [], fused: []}
    for _ in range(ROUNDS):
        for way, taken in seconds.items():
            began = time.perf_counter()
            q, k, v = split_heads_qkv(rows[0], rows[1], rows[2], 8)
            y = merge_heads(way(q, k, v))
            torch.autograd.grad(y, rows, gradient)
            taken.append(time.perf_counter() - began)
    return [min(taken) for taken in seconds.values()]  # other processes only ever add to it
