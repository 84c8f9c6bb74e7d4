"""How a language model reads: token by token, beyond its training length, without a future."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention.positions.learned import LearnedPositions
from attnlab.models.attention_maps import gpt_layers
from attnlab.models.gpt import GPT, INITIAL_STD


def token_losses(model: GPT, tokens: Int[Tensor, "B N"]) -> Float[Tensor, "B N-1"]:
    """Return the loss of every token but the first, in nats."""
    return _losses(model(tokens[:, :-1]), tokens[:, 1:])


def losses_without_future(model: GPT, tokens: Int[Tensor, "B N"]) -> Float[Tensor, "B N-1"]:
    """Return the losses when no token after the one that predicts has been written yet.

    Those of a causal model are the same as ever, up to rounding. One that sees the future has none
    to see here, as when it writes a text of its own.
    """
    ends = range(1, tokens.shape[1])
    last = [_losses(model(tokens[:, :end])[:, -1:], tokens[:, end, None]) for end in ends]
    return torch.cat(last, dim=1)


def give_room(model: GPT, n_tokens: int, *, seed: int = 0) -> None:
    """Let learned positions go on to a length; the new rows are as untrained as they began.

    All other position schemes have no end.
    """
    positions = model.positions
    if not isinstance(positions, LearnedPositions) or n_tokens <= positions.table.num_embeddings:
        return
    trained = positions.table.weight
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(n_tokens, trained.shape[1], generator=generator) * INITIAL_STD
    rows[: len(trained)] = trained.detach().cpu()
    positions.table = nn.Embedding(n_tokens, trained.shape[1], _weight=rows.to(trained))


def weight_on_itself(model: GPT, tokens: Int[Tensor, "B T"]) -> float:
    """Return how much of its attention a token gives to itself, on average.

    The first token is left out, which has nothing else to look at.
    """
    own = [layer.diagonal(dim1=-2, dim2=-1) for layer in model.attention_weights(tokens)]
    return float(torch.stack(own)[..., 1:].float().mean())


def asymmetry_of_scores(model: GPT, tokens: Int[Tensor, "1 T"]) -> float | None:
    """Return ‖S − Sᵀ‖ / ‖S + Sᵀ‖ of the scores before mask and positions, averaged over heads.

    0 if the score of two tokens is the same in both directions, about 1 if the two have nothing to
    do with each other. None if the attention turns no scores into weights.
    """
    found = []
    for layer in gpt_layers(model, tokens):
        scores = layer.heads().scores
        if scores is None:
            return None
        back = scores.transpose(-2, -1)
        found.append((scores - back).norm(dim=(-2, -1)) / (scores + back).norm(dim=(-2, -1)))
    return float(torch.stack(found).mean())


def _losses(logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]) -> Float[Tensor, "B T"]:
    exact = logits.cpu().double().transpose(1, 2)
    return F.cross_entropy(exact, targets.cpu(), reduction="none")
