"""Where a run's model looks in a typed text: an overview of all heads, and one head in full."""

import math
from base64 import b64encode
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attnlab.checks.leakage import model_leak
from attnlab.errors import UserError
from attnlab.models.attention_maps import Heads, LayerLook
from attnlab.models.head_summaries import habits, thumbnails
from attnlab.recipes.attention.text_readers import ReadText, reader_of
from attnlab.recipes.classify.predict_texts import TextSession
from attnlab.recipes.knowledge.opened import OpenedModel
from attnlab.training.inference import inference

Matrix = Literal["weights", "scores", "masked"]
"""Weights, or scores before or after the mask."""
LEAK_SECONDS = 1.0
BOTH_WAYS = (
    "this model reads in both directions: every token may see every other, so there is no future"
    " that could leak."
)
ONE_TOKEN = "one token has no future: give more text."
NO_SCORES = "this attention has weights, but no scores that a softmax turns into weights."


class LookingSession:
    """A run's model, and the text that it has read last."""

    def __init__(self, opened: OpenedModel | TextSession) -> None:
        self._reader = reader_of(opened)
        self._last: tuple[tuple[str, str | None], ReadText] | None = None
        self._computed: tuple[LayerLook, Heads] | None = None

    def read(self, text: str, pair: str | None = None) -> ReadText:
        """Let the model read a text, unless it has just done so."""
        if self._last is None or self._last[0] != (text, pair):
            self._last = self._computed = None
            with inference(self._reader.model, self._reader.hardware):
                self._last = (text, pair), self._reader.read(text, pair)
        return self._last[1]

    def overview(self, text: str, pair: str | None = None) -> dict[str, Any]:
        """Return the tokens and, for every head, a thumbnail and its habits, ready for JSON."""
        read = self.read(text, pair)
        return {
            "tokens": list(read.tokens),
            "is_cut": read.is_cut,
            "layers": [self._layer(layer, len(read.tokens)) for layer in read.layers],
        }

    def matrix(
        self, text: str, pair: str | None = None, *, layer: int, head: int, what: Matrix
    ) -> bytes:
        """Return a head's numbers, one row per query, as float32 with the low byte first.

        In the scores after the mask, −∞ means that the query may not look at the key.
        """
        read = self.read(text, pair)
        _need("layer", layer, len(read.layers))
        heads = self._heads(read.layers[layer])
        _need("head", head, len(heads.weights))
        found = {"weights": heads.weights, "scores": heads.scores, "masked": heads.masked}[what]
        if found is None:
            raise UserError(NO_SCORES)
        rows = found[head, -len(read.tokens) :].cpu().contiguous()
        return bytes(rows.numpy().astype("<f4").tobytes())

    def leak(self, text: str, pair: str | None = None) -> dict[str, Any]:
        """Return the leak meter's verdict on this text."""
        ids = self.read(text, pair).ids
        if not self._reader.is_causal or len(ids) < 2:
            why = ONE_TOKEN if self._reader.is_causal else BOTH_WAYS
            return {"applies": False, "found": False, "sentence": why}
        leak = model_leak(self._reader.model, torch.tensor([list(ids)]), seconds=LEAK_SECONDS)
        numbers = {key: _finite(value) for key, value in leak.to_dict().items()}
        return {**numbers, "applies": True, "found": leak.found}

    def _heads(self, layer: LayerLook) -> Heads:
        """Compute a layer, unless it was the last one: its heads are looked at in turn."""
        if self._computed is None or self._computed[0] is not layer:
            self._computed = None
            with inference(self._reader.model, self._reader.hardware):
                self._computed = layer, layer.heads()
        return self._computed[1]

    def _layer(self, layer: LayerLook, n_tokens: int) -> dict[str, Any]:
        heads = self._heads(layer)
        weights = heads.weights[:, -n_tokens:].cpu()
        n_learned = weights.shape[2] - n_tokens
        small = thumbnails(weights)
        pixels = [b64encode(bytes(one.numpy().tobytes())).decode() for one in small]
        return {
            "name": layer.name,
            "queries": layer.queries,
            "keys": layer.keys,
            "n_learned": n_learned,
            "n_heads": len(weights),
            "has_scores": heads.scores is not None,
            "thumbnails": {"rows": small.shape[1], "columns": small.shape[2], "pixels": pixels},
            "habits": _habits(layer, weights[:, :, n_learned:]),
        }


def _habits(layer: LayerLook, weights: Float[Tensor, "H T T"]) -> dict[str, list[float]] | None:
    return habits(weights)._asdict() if layer.queries == layer.keys else None


def _need(what: str, number: int, count: int) -> None:
    if not 0 <= number < count:
        raise UserError(f"there is no {what} {number + 1}: there are {count}.")


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
