"""Classifiers of transformers, called as ours are, with room for a prompt and for prefixes.

Names of sizes are translated here and nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.models.activations import Part, activations
from attnlab.models.encoder import SequenceClassifier, Summary
from attnlab.models.sizes import BertSize

Read = Mapping[str, Tensor]
"""The arguments of a model of transformers."""
Prompt = Float[Tensor, "P D"] | None
PREFIXED = "attnlab_prefix"
"""What transformers calls attention that reads prefixes."""
ALSO_CALLED = {
    "intermediate_size": ("hidden_dim", "d_ff"),
    "attention_probs_dropout_prob": ("attention_dropout", "dropout_rate"),
}
"""What DistilBERT and T5 call sizes that transformers gives no common name."""


@dataclass(frozen=True)
class Family:
    """Where a kind of model is to be cut into a body and a head."""

    summary: Callable[[Any, Read, Prompt], Tensor]
    tell: Callable[[Any, Tensor], Tensor]
    heads: tuple[str, ...]
    """The modules of the head; a checkpoint need not have them."""
    output: str
    """The head's last matrix."""
    position_offset: int = 0
    """Rows of the table of positions that no token uses."""


def _first_token(net: Any, read: Read, prompt: Prompt) -> Tensor:
    """Return the vector of the text's first token, which a prompt comes before."""
    body = net.base_model
    with _put_first(prompt, body.embeddings.LayerNorm):  # positions are added by then
        hidden: Tensor = body(**read)[0]
    return hidden[:, 0 if prompt is None else len(prompt)]


def _last_end(net: Any, read: Read, prompt: Prompt) -> Tensor:
    """Return what the decoder of T5 knows where the text ends: it reads the text once more."""
    tokens = read["input_ids"]
    embedded = _with_prompt(prompt, net.transformer.encoder.embed_tokens(tokens))
    hidden: Tensor = net.transformer(
        inputs_embeds=embedded,
        attention_mask=read["attention_mask"],
        decoder_input_ids=net._shift_right(tokens),
        use_cache=False,
    )[0]
    places = torch.arange(tokens.shape[1], device=tokens.device)
    last = (tokens.eq(net.config.eos_token_id) * places).argmax(1)
    return hidden[torch.arange(len(tokens), device=tokens.device), last]


@contextmanager
def _put_first(prompt: Prompt, module: nn.Module) -> Iterator[None]:
    """Let a module read the prompt before everything else, during one call."""
    hook = module.register_forward_pre_hook(lambda _, given: (_with_prompt(prompt, given[0]),))
    try:
        yield
    finally:
        hook.remove()


def _with_prompt(prompt: Prompt, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B S D"]:
    return x if prompt is None else torch.cat([prompt.expand(len(x), -1, -1), x], dim=1)


FAMILIES = {
    "roberta": Family(
        _first_token,
        lambda net, summary: net.classifier(summary[:, None]),  # it takes the first token itself
        heads=("classifier",),
        output="classifier.out_proj.weight",
        position_offset=2,
    ),
    "distilbert": Family(
        _first_token,
        lambda net, summary: net.classifier(net.dropout(net.pre_classifier(summary).relu())),
        heads=("pre_classifier", "classifier"),
        output="classifier.weight",
    ),
    "t5": Family(
        _last_end,
        lambda net, summary: net.classification_head(summary),
        heads=("classification_head",),
        output="classification_head.out_proj.weight",
    ),
}


class HubClassifier(SequenceClassifier):
    """A model of transformers, called as ours are.

    A kind that is not in ``FAMILIES`` is not cut: its summary is the scores themselves.
    """

    prompt: nn.Parameter | None
    """(P, D): vectors before the text, which have no positions; prompt tuning learns them."""

    def __init__(self, net: nn.Module, *, pad: int, reads_types: bool) -> None:
        super().__init__()
        self.net, self.pad, self.reads_types = net, pad, reads_types
        self.family = FAMILIES.get(str(cast("Any", net).config.model_type))
        self.is_cut = self.family is not None
        self.output = f"net.{self.family.output if self.family else _last_matrix(net)}"
        self.register_parameter("prompt", None)

    @property
    def summary(self) -> Summary:
        """What returns the vector of each text that the head reads."""
        return self._read

    def _read(
        self,
        tokens: Int[Tensor, "B T"],
        types: Int[Tensor, "B T"],
        padding: Bool[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B D"]:
        mask = torch.ones_like(tokens, dtype=torch.bool) if padding is None else padding
        n_prompt = 0 if self.prompt is None else len(self.prompt)
        # RoBERTa counts positions by which tokens are padding
        read = {
            "input_ids": tokens.masked_fill(~mask, self.pad),
            "attention_mask": F.pad(mask.long(), (n_prompt, 0), value=1),
        }
        if self.reads_types:
            read["token_type_ids"] = types
        if self.family:
            return self.family.summary(self.net, read, self.prompt)
        scores: Tensor = self.net(**read).logits
        return scores

    def tell(self, summary: Float[Tensor, "B D"]) -> Float[Tensor, "B C"]:
        """Return the scores of the classes, given the body's summary of each text."""
        return self.family.tell(self.net, summary) if self.family else summary

    def read_prefixes(self) -> None:
        """Let every attention that has a module ``prefix`` read its keys and values, too."""
        from transformers import AttentionInterface, AttentionMaskInterface
        from transformers.masking_utils import sdpa_mask

        AttentionInterface.register(PREFIXED, attend_with_prefix)
        AttentionMaskInterface.register(PREFIXED, sdpa_mask)
        cast("Any", self.net).set_attn_implementation(PREFIXED)

    def activations(self, labelled: Part, masked: Part | None = None) -> int:
        """Count the numbers that backpropagation keeps at least; of an untested kind, none."""
        assert masked is None, "the recipe refuses masked text for other models than BERT"
        if not self.is_cut:
            return 0
        return activations(self.size, self, labelled, vocab_size=0)

    def kept_per_pair(self, n_tokens: int) -> int:  # noqa: ARG002 - as every attention
        """A fused kernel keeps none, but cannot be used with dropout."""
        return self.size.n_heads if self.size.attention_dropout > 0 else 0

    @property
    def size(self) -> BertSize:
        """Its sizes, by the names of ours."""
        return hub_size(cast("Any", self.net).config)


def hub_size(config: Any) -> BertSize:
    """Translate sizes; the layers of a decoder, which reads the text as well, count too."""
    return BertSize(
        vocab_size=int(config.vocab_size),
        d_model=int(config.hidden_size),
        n_heads=int(config.num_attention_heads),
        n_layers=int(config.num_hidden_layers) + int(getattr(config, "num_decoder_layers", 0) or 0),
        d_mlp=int(_find(config, "intermediate_size")),
        max_len=int(getattr(config, "max_position_embeddings", 0)),
        n_types=int(getattr(config, "type_vocab_size", 0)),
        attention_dropout=_find(config, "attention_probs_dropout_prob"),
    )


def _find(config: Any, name: str) -> float:
    """Look a size up under all of its names; 0 if it has none of them."""
    found = (getattr(config, known, None) for known in (name, *ALSO_CALLED[name]))
    return float(next((value for value in found if value is not None), 0))


def attend_with_prefix(
    module: nn.Module,
    query: Float[Tensor, "B H T K"],
    key: Float[Tensor, "B H S K"],
    value: Float[Tensor, "B H S K"],
    attention_mask: Bool[Tensor, "b 1 T S"] | None,
    **given: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attend as transformers does; every token sees the prefix, which has no position.

    transformers calls it for each attention, with its module.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    key, value, attention_mask, given = with_prefix(
        module, query, key, value, attention_mask, given
    )
    found: tuple[Tensor, Tensor | None] = sdpa_attention_forward(
        module, query, key, value, attention_mask, **given | {"is_causal": False}
    )
    return found


def with_prefix(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    given: dict[str, Any],
) -> tuple[Tensor, Tensor, Tensor | None, dict[str, Any]]:
    """Put a module's prefix before keys, values, mask and what positions add."""
    keys, values = (
        before.expand(len(key), -1, -1, -1).to(key)
        for before in cast("Callable[[], tuple[Tensor, Tensor]]", module.prefix)()
    )
    before = (keys.shape[2], 0)
    attention_mask = causal_of(module, query, key, attention_mask)
    if attention_mask is not None:
        attention_mask = F.pad(attention_mask, before, value=True)
    if given.get("position_bias") is not None:
        given = {**given, "position_bias": F.pad(given["position_bias"], before)}
    return (
        torch.cat([keys, key], dim=2),
        torch.cat([values, value], dim=2),
        attention_mask,
        given,
    )


def causal_of(
    module: nn.Module, query: Tensor, key: Tensor, attention_mask: Tensor | None
) -> Tensor | None:
    """Return the mask that transformers leaves to the kernel, as it does for T5's decoder."""
    if attention_mask is not None or not cast("bool", module.is_causal):
        return attention_mask
    shape = (query.shape[2], key.shape[2])
    return torch.ones(shape, dtype=torch.bool, device=key.device).tril()[None, None]


def _last_matrix(net: nn.Module) -> str:
    *_, last = (name for name, module in net.named_modules() if isinstance(module, nn.Linear))
    return f"{last}.weight"
