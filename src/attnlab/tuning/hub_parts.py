"""Where models of transformers have the parts that tuning methods act on.

What is written for our own models serves here as well: LoRA and its like act on linear layers,
wherever these are, a prompt comes before the text, and every attention may have a prefix.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from torch import nn

from attnlab.models.hub_classifier import HubClassifier
from attnlab.tuning.counting import Count, head_count
from attnlab.tuning.parts import ModelParts, Role

BODY = "V·d + T·d + 2·d + 4·L·d² + 2·L·d·m + 9·L·d + L·m"
BIASES = "7·L·d + L·m + d"


@dataclass(frozen=True)
class Places:
    """Where a kind of model has its layers, and what they are called."""

    layers: tuple[str, ...]
    """Below the model; ``*`` counts."""
    attention: str
    """Where a layer has its attention."""
    roles: Mapping[Role, str]
    table: str
    body: str = "n"
    """Parameters of the body; n are counted, not derived."""
    biases: str = ""


PLACES = {
    "roberta": Places(
        ("roberta.encoder.layer.*",),
        "attention.self",
        {
            "query": "attention.self.query",
            "key": "attention.self.key",
            "value": "attention.self.value",
            "proj": "attention.output.dense",
            "up": "intermediate.dense",
            "down": "output.dense",
        },
        "roberta.embeddings.word_embeddings",
        f"{BODY} + k·d",
        BIASES,
    ),
    "distilbert": Places(
        ("distilbert.transformer.layer.*",),
        "attention",
        {
            "query": "attention.q_lin",
            "key": "attention.k_lin",
            "value": "attention.v_lin",
            "proj": "attention.out_lin",
            "up": "ffn.lin1",
            "down": "ffn.lin2",
        },
        "distilbert.embeddings.word_embeddings",
        BODY,
        BIASES,
    ),
    "t5": Places(
        (
            "transformer.encoder.block.*.layer.0.SelfAttention",
            "transformer.decoder.block.*.layer.0.SelfAttention",
            "transformer.decoder.block.*.layer.1.EncDecAttention",
        ),
        "",
        {"query": "q", "key": "k", "value": "v", "proj": "o"},
        "transformer.shared",
    ),
}
"""In T5 every attention counts as a layer: L is three times the number of its blocks."""


def hub_parts(model: HubClassifier) -> ModelParts:
    """Find the parts of a model of transformers; of an untested kind, only what all have."""
    config, size = cast("Any", model.net).config, model.size
    places = PLACES.get(config.model_type)
    heads = tuple(f"net.{name}." for name in model.family.heads) if model.family else ()
    layers = _found(model, places.layers) if places else ()
    sizes = {
        "d": size.d_model,
        "L": len(layers),
        "m": size.d_mlp,
        "V": size.vocab_size,
        "T": size.max_len,
        "k": size.n_types,
        "n": _counted(model, but=heads),
    }
    of_heads = size.n_heads * int(getattr(config, "d_kv", size.d_model // size.n_heads))
    if of_heads != size.d_model:
        sizes["h"] = of_heads
    return ModelParts(
        model,
        layers=layers,
        roles=places.roles if places else {},
        table=f"net.{places.table}" if places else "",
        embeddings="",
        n_heads=size.n_heads,
        sizes=sizes,
        body=Count(places.body if places else "n"),
        biases=Count(places.biases if places else ""),
        head=head_count(len(config.id2label), dense=True) if heads else Count(),
        heads=heads,
        is_ours=False,
        prefixed=tuple(f"{layer}.{places.attention}".rstrip(".") for layer in layers)
        if places
        else (),
        read_prefixes=model.read_prefixes,
    )


def _found(model: nn.Module, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Name the layers of every pattern, in the order of their numbers."""
    found = []
    for pattern in patterns:
        before, _, after = pattern.partition("*")
        blocks = cast("nn.ModuleList", model.get_submodule(f"net.{before}".rstrip(".")))
        found += [f"net.{before}{i}{after}" for i in range(len(blocks))]
    return tuple(found)


def _counted(model: nn.Module, *, but: tuple[str, ...]) -> int:
    named = model.named_parameters()
    return sum(p.numel() for name, p in named if not but or not name.startswith(but))
