"""Generating text with a language model: greedy or sampled, with a cache.

Prompts of similar length are continued together, and all are at the same position in every step: a
longer prompt is still read while a shorter one is already continued. None is padded, so every
attention and position scheme gives the same as for the prompt by itself, and a cache makes each
new token cost one row.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.errors import UserError
from attnlab.phases import phase


@runtime_checkable
class Writer(Protocol):
    """A language model that can generate text."""

    max_len: int

    def __call__(
        self, tokens: Int[Tensor, "B T"], caches: Sequence[Cache] | None = None
    ) -> Float[Tensor, "B T V"]:
        """Return the logits of the token after each position."""
        ...

    def new_caches(self) -> list[Cache] | None:
        """Return an empty cache per layer, if the model can use them."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the weights, to see where they are."""
        ...


SPREAD = 32
"""By how many tokens the prompts that are continued together may differ."""
TOGETHER = 128
"""How many prompts at most: the caches of more do not stay near the processor."""

Choose = Callable[[Float[Tensor, "B V"]], Int[Tensor, " B"]]
"""Takes log-probabilities and returns a token for each row."""


class Continuation(NamedTuple):
    """The generated tokens, and the probability that the model gave them."""

    tokens: list[int]
    probability: float


def take_likeliest(log_probabilities: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
    """Choose the likeliest token of every row."""
    return log_probabilities.argmax(-1)


def sampler(generator: torch.Generator, *, temperature: float = 1.0) -> Choose:
    """Return a function that draws tokens from the model's distribution."""

    def draw(log_probabilities: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        weights = (log_probabilities / temperature).softmax(-1)
        return torch.multinomial(weights, 1, generator=generator)[:, 0]

    return draw


def truncated_sampler(
    generator: torch.Generator,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
) -> Choose:
    """Return a function that draws among the most likely tokens; the temperature acts first.

    ``top_k`` keeps so many of them. ``top_p`` keeps the fewest that together are at least that
    likely (nucleus sampling, Holtzman et al. 2020, arXiv:1904.09751), counted within ``top_k``.
    """
    draw = sampler(generator)

    def choose(log_probabilities: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        # The likeliest stays at 0, so that no temperature is too small.
        behind = log_probabilities - log_probabilities.max(-1, keepdim=True).values
        weights = (behind / temperature).softmax(-1)
        sorted_weights, order = weights.sort(stable=True, dim=-1, descending=True)
        if top_k is not None:
            sorted_weights[:, top_k:] = 0.0
        shares = sorted_weights / sorted_weights.sum(-1, keepdim=True)
        is_past = shares.cumsum(-1) - shares >= top_p  # those before it are likely enough
        drawn = draw(sorted_weights.log().masked_fill(is_past, -math.inf))
        chosen: Tensor = order.gather(1, drawn[:, None])[:, 0]
        return chosen

    return choose


def write_on(
    model: Writer, prompt: Sequence[int], *, max_new: int, choose: Choose = take_likeliest
) -> Iterator[int]:
    """Yield the tokens after one prompt as they are chosen, without an end of their own.

    Past the model's positions, what stands furthest to the left is forgotten.
    """
    assert prompt, "a prompt needs a token to go on from"
    tokens = list(prompt)
    caches, read = model.new_caches(), 0
    for _ in range(max_new):
        if len(tokens) > model.max_len:
            caches = None  # every token moves, so that nothing that was read before helps
        first = read if caches else max(0, len(tokens) - model.max_len)
        row = torch.tensor([tokens[first:]], device=_device(model))
        read = len(tokens)
        tokens.append(int(choose(_next_token(model, row, caches))))
        yield tokens[-1]


def continue_prompts(
    model: Writer,
    prompts: Sequence[Sequence[int]],
    *,
    stop: int,
    max_new: int,
    choose: Choose = take_likeliest,
    slides: bool = False,
) -> list[Continuation]:
    """Continue every prompt until ``stop``, or for ``max_new`` tokens.

    If it ``slides``, what does not fit into the model's positions is forgotten from the left, as
    minGPT does; otherwise a prompt that is too long for its answer is refused.
    """
    assert all(prompts), "a prompt needs a token to go on from"
    room = model.max_len - max_new
    longest = max(map(len, prompts), default=0)
    if longest > room and not slides:
        raise UserError(
            f"a prompt of {longest} tokens and an answer of {max_new} do not fit into the model's"
            f" {model.max_len} positions."
        )
    found = {
        index: _slide(model, list(prompt), stop=stop, max_new=max_new, choose=choose)
        for index, prompt in enumerate(prompts)
        if len(prompt) > room
    }
    fitting = [index for index, prompt in enumerate(prompts) if len(prompt) <= room]
    with phase("answering", total=len(prompts)) as answering:
        answering.advance(len(found))
        for places in groups_of_like_length([len(prompts[index]) for index in fitting]):
            group = [fitting[place] for place in places]
            some = [prompts[index] for index in group]
            written = _continue(model, some, stop=stop, max_new=max_new, choose=choose)
            found |= zip(group, written, strict=True)
            answering.advance(len(group))
    return [found[index] for index in range(len(prompts))]


def groups_of_like_length(lengths: Sequence[int]) -> list[list[int]]:
    """Put prompts together whose lengths differ by at most ``SPREAD``, the shortest first."""
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = groups and len(groups[-1]) == TOGETHER
        if not groups or full or lengths[index] > lengths[groups[-1][0]] + SPREAD:
            groups.append([])
        groups[-1].append(index)
    return groups


def _continue(
    model: Writer,
    prompts: Sequence[Sequence[int]],
    *,
    stop: int,
    max_new: int,
    choose: Choose,
) -> list[Continuation]:
    """Continue prompts of similar length, all of them at the same position in every step."""
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    ends, device = lengths + max_new, _device(model)
    rows = torch.zeros(len(prompts), int(ends.max()), dtype=torch.int64)
    for row, prompt in zip(rows, prompts, strict=True):
        row[: len(prompt)] = torch.tensor(list(prompt))
    caches, read = model.new_caches(), 0
    log_probability = torch.zeros(len(prompts), dtype=torch.float64)
    going = torch.ones(len(prompts), dtype=torch.bool)
    for position in range(int(lengths.min()), rows.shape[1]):
        unread = rows[:, read if caches else 0 : position].to(device)
        log_probabilities = _next_token(model, unread, caches)
        read, chosen = position, choose(log_probabilities)
        writes = going & (lengths <= position)  # the others still read their prompt
        likely = log_probabilities.gather(1, chosen[:, None])[:, 0]
        log_probability += torch.where(writes, likely, 0.0)
        rows[:, position] = torch.where(writes, chosen, rows[:, position])
        going &= ~(writes & (chosen == stop)) & (position + 1 < ends)
        if not going.any():
            break
    return [
        Continuation(_before(stop, row[length:end]), probability)
        for row, length, end, probability in zip(
            rows.tolist(),
            lengths.tolist(),
            ends.tolist(),
            log_probability.exp().tolist(),
            strict=True,
        )
    ]


def _slide(
    model: Writer, tokens: list[int], *, stop: int, max_new: int, choose: Choose
) -> Continuation:
    """Continue one prompt; every token changes its position, so that no cache helps."""
    read, log_probability = len(tokens), 0.0
    while len(tokens) < read + max_new and (len(tokens) == read or tokens[-1] != stop):
        row = torch.tensor([tokens[-model.max_len :]], device=_device(model))
        log_probabilities = _next_token(model, row)
        chosen = choose(log_probabilities)
        log_probability += float(log_probabilities[0, chosen])
        tokens.append(int(chosen))
    return Continuation(_before(stop, tokens[read:]), math.exp(log_probability))


def _next_token(
    model: Writer, tokens: Int[Tensor, "B T"], caches: Sequence[Cache] | None = None
) -> Float[Tensor, "B V"]:
    """Return the log-probabilities of what follows each row, on the CPU in float64."""
    # Chosen on the CPU, because not every device has float64.
    logits: Tensor = model(tokens, caches)[:, -1].cpu().double()
    return logits.log_softmax(-1)


def _before(stop: int, tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(stop)] if stop in tokens else tokens


def _device(model: Writer) -> torch.device:
    return next(model.parameters()).device
