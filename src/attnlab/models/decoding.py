"""Letting a language model write on."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.errors import UserError


class Continuation(NamedTuple):
    """What was written after a prompt, and how likely the model found it."""

    tokens: list[int]
    probability: float


def continue_greedily(
    model: nn.Module, prompts: Sequence[Sequence[int]], *, stop: int, max_new: int, max_len: int
) -> list[Continuation]:
    """Take the likeliest token again and again, for all prompts at once, until ``stop``.

    Rows are padded at the right, where a causal model never looks.
    """
    assert all(prompts), "a prompt needs a token to go on from"
    longest = max(map(len, prompts), default=0)
    if longest + max_new > max_len:
        raise UserError(
            f"a prompt of {longest} tokens and an answer of {max_new} do not fit into the model's"
            f" {max_len} positions."
        )
    rows = torch.zeros(len(prompts), longest + max_new, dtype=torch.int64)
    for row, prompt in zip(rows, prompts, strict=True):
        row[: len(prompt)] = torch.tensor(prompt)
    rows = rows.to(next(model.parameters()).device)
    ends = torch.tensor([len(prompt) for prompt in prompts], device=rows.device)
    log_probability = torch.zeros(len(prompts), dtype=torch.float64, device=rows.device)
    going = torch.ones_like(ends, dtype=torch.bool)
    for _ in range(max_new):
        if not going.any():
            break
        choice, chosen = _next_tokens(model, rows[:, : int(ends.max())], ends)
        log_probability += torch.where(going, chosen, 0.0)
        rows[going, ends[going]] = choice[going]
        ends = ends + going
        going = going & (choice != stop)
    starts = [len(prompt) for prompt in prompts]
    return [
        Continuation([t for t in row[start:end] if t != stop], probability)
        for row, start, end, probability in zip(
            rows.tolist(), starts, ends.tolist(), log_probability.exp().tolist(), strict=True
        )
    ]


def _next_tokens(model: nn.Module, rows: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    logits = model(rows)[torch.arange(len(rows), device=rows.device), ends - 1]
    best, choice = logits.double().log_softmax(-1).max(-1)
    return choice, best
