"""Letting a language model write on.

Prompts of one length are continued together: none is padded, so every attention and every position
scheme gives what it would give for the prompt alone, and a cache makes each new token cost one row.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.errors import UserError


@runtime_checkable
class Writer(Protocol):
    """A language model that can be asked to write on."""

    max_len: int

    def __call__(
        self, tokens: Int[Tensor, "B T"], caches: Sequence[Cache] | None = None
    ) -> Float[Tensor, "B T V"]:
        """Return the logits of the token after each position."""
        ...

    def new_caches(self) -> list[Cache] | None:
        """Return an empty cache a layer, if it can use them."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the weights, to see where they are."""
        ...


Choose = Callable[[Float[Tensor, "B V"]], Int[Tensor, " B"]]
"""Takes log-probabilities and returns a token for each row."""


class Continuation(NamedTuple):
    """What was written after a prompt, and how likely the model found it."""

    tokens: list[int]
    probability: float


def take_likeliest(log_probabilities: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
    """Choose the likeliest token of every row."""
    return log_probabilities.argmax(-1)


def sampler(generator: torch.Generator, *, temperature: float = 1.0) -> Choose:
    """Return what draws tokens as often as the model finds them likely."""

    def draw(log_probabilities: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        weights = (log_probabilities / temperature).softmax(-1)
        return torch.multinomial(weights, 1, generator=generator)[:, 0]

    return draw


def continue_prompts(
    model: Writer,
    prompts: Sequence[Sequence[int]],
    *,
    stop: int,
    max_new: int,
    choose: Choose = take_likeliest,
) -> list[Continuation]:
    """Write on after every prompt until ``stop``, or for ``max_new`` tokens."""
    assert all(prompts), "a prompt needs a token to go on from"
    longest = max(map(len, prompts), default=0)
    if longest + max_new > model.max_len:
        raise UserError(
            f"a prompt of {longest} tokens and an answer of {max_new} do not fit into the model's"
            f" {model.max_len} positions."
        )
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, prompt in enumerate(prompts):
        by_length[len(prompt)].append(index)
    found: dict[int, Continuation] = {}
    for group in by_length.values():
        rows = torch.tensor([list(prompts[index]) for index in group], device=_device(model))
        written = _continue(model, rows, stop=stop, max_new=max_new, choose=choose)
        found |= zip(group, written, strict=True)
    return [found[index] for index in range(len(prompts))]


def _continue(
    model: Writer, rows: Int[Tensor, "B T"], *, stop: int, max_new: int, choose: Choose
) -> list[Continuation]:
    """Write on after prompts of one length."""
    caches = model.new_caches()
    # Chosen on the CPU, because not every device has float64.
    log_probability = torch.zeros(len(rows), dtype=torch.float64)
    going = torch.ones(len(rows), dtype=torch.bool)
    device, prompts = rows.device, rows.cpu()
    new, unseen = prompts[:, :0], rows
    for _ in range(max_new):
        log_probabilities = model(unseen, caches)[:, -1].cpu().double().log_softmax(-1)
        chosen = choose(log_probabilities)
        likely = log_probabilities.gather(1, chosen[:, None])[:, 0]
        log_probability += torch.where(going, likely, 0.0)
        new = torch.cat([new, torch.where(going, chosen, stop)[:, None]], dim=1)
        unseen = (new[:, -1:] if caches else torch.cat([prompts, new], dim=1)).to(device)
        going = going & (chosen != stop)
        if not going.any():
            break
    return [
        Continuation(_before(stop, tokens), probability)
        for tokens, probability in zip(new.tolist(), log_probability.exp().tolist(), strict=True)
    ]


def _before(stop: int, tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(stop)] if stop in tokens else tokens


def _device(model: Writer) -> torch.device:
    return next(model.parameters()).device
