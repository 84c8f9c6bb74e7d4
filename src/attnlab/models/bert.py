"""BERT (Devlin et al. 2019, arXiv:1810.04805): a post-norm encoder and its heads.

A row of tokens is ``[CLS] text [SEP]`` or ``[CLS] text [SEP] text [SEP]``; ``types`` says which
text a token belongs to, and ``padding`` is True where there is a token (None: everywhere).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.attention.assemble import (
    attention_builder,
    build_positions,
    supporting,
    supports_of,
    variant_class,
)
from attnlab.attention.context import Context
from attnlab.attention.contract import AttentionMask, Prefix, check_length
from attnlab.attention.functional import merge_heads, split_heads
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.dropout import Dropout
from attnlab.errors import UserError
from attnlab.models.activations import Part, activations
from attnlab.models.encoder import SequenceClassifier, Summary
from attnlab.models.sizes import BertSize

Padding = Bool[Tensor, "B T"] | None
PLAIN = AttentionSettings(positions="none")
"""BERT's own attention; the positions are a table next to that of the tokens."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
}


class Embeddings(nn.Module):
    """The sum of three tables: the token, its position, and which text it is in."""

    prompt: nn.Parameter | None
    """(P, D): vectors before the text, which have no positions; prompt tuning learns them."""

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.words = nn.Embedding(size.vocab_size, size.d_model)
        self.positions = nn.Embedding(size.max_len, size.d_model)
        self.types = nn.Embedding(size.n_types, size.d_model)
        self.norm = nn.LayerNorm(size.d_model, eps=size.layer_norm_eps)
        self.dropout = Dropout(size.dropout)
        self.register_parameter("prompt", None)

    def forward(
        self, tokens: Int[Tensor, "B T"], types: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B S D"]:
        """Look the tokens up and add; a prompt comes first."""
        n_tokens, n_positions = tokens.shape[1], self.positions.num_embeddings
        check_length(n_tokens, n_positions, "the positions")
        x = self.words(tokens) + self.types(types) + self.positions.weight[:n_tokens]
        if self.prompt is not None:
            x = torch.cat([self.prompt.expand(len(x), -1, -1), x], dim=1)
        embedded: Tensor = self.dropout(self.norm(x))
        return embedded


class Layer(nn.Module):
    """Attention, then an MLP; a residual connection and a layer norm after each."""

    prefix: nn.Module | None
    """Returns the ``Prefix`` that prefix tuning learns."""

    def __init__(self, size: BertSize, build_attention: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.attn = build_attention()
        self.norm1 = nn.LayerNorm(size.d_model, eps=size.layer_norm_eps)
        self.up = nn.Linear(size.d_model, size.d_mlp)
        self.down = nn.Linear(size.d_mlp, size.d_model)
        self.norm2 = nn.LayerNorm(size.d_model, eps=size.layer_norm_eps)
        self.dropout = Dropout(size.dropout)
        self.activation = ACTIVATIONS[size.activation]
        self.register_module("prefix", None)

    def forward(self, x: Float[Tensor, "B T D"], mask: AttentionMask) -> Float[Tensor, "B T D"]:
        """Return every token's new vector."""
        return self._think(x, self.attn(x, mask=mask, prefix=self._prefix()).out)

    def only(
        self, place: int, x: Float[Tensor, "B T D"], mask: AttentionMask
    ) -> Float[Tensor, "B 1 D"]:
        """Return what ``forward`` does for one token, without computing the others."""
        attn, head = self.attn, x[:, place : place + 1]
        if not isinstance(attn, DotProduct):  # another attention may need every query
            all_of_them: Tensor = self(x, mask)
            return all_of_them[:, place : place + 1]
        q, k, v = (
            split_heads(part, attn.n_heads)
            for part in (attn.query(head), attn.key(x), attn.value(x))
        )
        context = Context(mask, prefix=self._prefix())
        k, v = context.extend(k, v)
        seen, _ = attn.mix(q, k, v, context, need_weights=False)
        return self._think(head, attn.proj(merge_heads(seen)))

    def _prefix(self) -> Prefix | None:
        return None if self.prefix is None else self.prefix()

    def _think(
        self, x: Float[Tensor, "B t D"], seen: Float[Tensor, "B t D"]
    ) -> Float[Tensor, "B t D"]:
        x = self.norm1(x + self.dropout(seen))
        thought: Tensor = self.dropout(self.down(self.activation(self.up(x))))
        out: Tensor = self.norm2(x + thought)
        return out


class Bert(nn.Module):
    """The body: embeddings and layers, and optionally a pooler on the first token."""

    def __init__(
        self, size: BertSize, *, pooler: bool = False, attention: AttentionSettings = PLAIN
    ) -> None:
        super().__init__()
        self.size = size
        self.embeddings = Embeddings(size)
        build = bidirectional_builder(size, attention)
        self.layers = nn.ModuleList(Layer(size, build) for _ in range(size.n_layers))
        self.pooler = nn.Linear(size.d_model, size.d_model) if pooler else None

    def forward(
        self, tokens: Int[Tensor, "B T"], types: Int[Tensor, "B T"], padding: Padding = None
    ) -> Float[Tensor, "B T D"]:
        """Return every token's last hidden vector."""
        x, mask = self._embed(tokens, types, padding)
        for layer in self.layers:
            x = layer(x, mask)
        return x[:, self.n_prompt :]

    def summary(
        self, tokens: Int[Tensor, "B T"], types: Int[Tensor, "B T"], padding: Padding = None
    ) -> Float[Tensor, "B D"]:
        """Return the first token's last hidden vector.

        The last layer's output for the other tokens is not needed, so it is not computed: with
        four layers that saves a fifth of the arithmetic, and without dropout no number changes.
        """
        *before, last = cast("list[Layer]", list(self.layers))
        x, mask = self._embed(tokens, types, padding)
        for layer in before:
            x = layer(x, mask)
        return last.only(self.n_prompt, x, mask)[:, 0]

    def pool(self, summary: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
        """Apply the pooler to the first token's vector, if there is one."""
        return summary if self.pooler is None else self.pooler(summary).tanh()

    @property
    def n_prompt(self) -> int:
        """How many vectors of a prompt come before the text."""
        return 0 if self.embeddings.prompt is None else len(self.embeddings.prompt)

    def _embed(
        self, tokens: Int[Tensor, "B T"], types: Int[Tensor, "B T"], padding: Padding
    ) -> tuple[Float[Tensor, "B S D"], AttentionMask]:
        """Return what the first layer reads, and its mask, in which everybody sees the prompt."""
        if padding is not None:
            padding = F.pad(padding, (self.n_prompt, 0), value=True)
        return self.embeddings(tokens, types), AttentionMask(padding=padding)


class MaskedHead(nn.Module):
    """Predicts masked tokens; its last matrix is the token embedding itself."""

    def __init__(self, size: BertSize) -> None:
        super().__init__()
        self.transform = nn.Linear(size.d_model, size.d_model)
        self.norm = nn.LayerNorm(size.d_model, eps=size.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(size.vocab_size))
        self.activation = ACTIVATIONS[size.activation]

    def forward(
        self, hidden: Float[Tensor, "*B D"], words: Float[Tensor, "V D"]
    ) -> Float[Tensor, "*B V"]:
        """Return the scores of all tokens."""
        return F.linear(self.norm(self.activation(self.transform(hidden))), words, self.bias)


class BertForSequenceClassification(SequenceClassifier):
    """[CLS] → dropout → linear, as in the yelp course; ``pooler`` adds transformers' pooler."""

    output = "classifier.weight"

    def __init__(self, size: BertSize, n_classes: int, *, pooler: bool = False) -> None:
        super().__init__()
        self.body = Bert(size, pooler=pooler)
        self.dropout = Dropout(size.dropout)
        self.classifier = nn.Linear(size.d_model, n_classes)
        initialize(self, size)

    @property
    def summary(self) -> Summary:
        """What returns the first token's last hidden vector: the body's own method."""
        return self.body.summary

    def tell(self, summary: Float[Tensor, "B D"]) -> Float[Tensor, "B C"]:
        """Return the scores of the classes, given the body's summary of each text."""
        scores: Tensor = self.classifier(self.dropout(self.body.pool(summary)))
        return scores

    def table_owner(self) -> nn.Module | None:
        """The rows of tokens that do not occur may be left out: nothing else reads them."""
        return self.body.embeddings

    def activations(self, labelled: Part, masked: Part | None = None) -> int:
        """Count the numbers that backpropagation keeps at least."""
        size, attention = self.body.size, cast("Layer", self.body.layers[0]).attn
        # the last layer computes the first token alone
        without_last = replace(size, n_layers=size.n_layers - 1)
        count = activations(without_last, attention, labelled, vocab_size=0)
        if masked:
            count += activations(size, attention, masked, vocab_size=size.vocab_size)
        return count


class FillsIn:
    """A model with a head that predicts masked tokens."""

    body: Bert
    masked: MaskedHead

    def guess(self, hidden: Float[Tensor, "*B D"]) -> Float[Tensor, "*B V"]:
        """Return the scores of all tokens at some places, given their last hidden vectors."""
        scores: Tensor = self.masked(hidden, self.body.embeddings.words.weight)
        return scores


class BertForMaskedLanguageModel(nn.Module, FillsIn):
    """Predicts the tokens that are masked."""

    def __init__(self, size: BertSize, *, attention: AttentionSettings = PLAIN) -> None:
        super().__init__()
        self.body = Bert(size, attention=attention)
        self.masked = MaskedHead(size)
        initialize(self, size)

    def forward(
        self, tokens: Int[Tensor, "B T"], types: Int[Tensor, "B T"], padding: Padding = None
    ) -> Float[Tensor, "B T V"]:
        """Return the scores of all tokens at every place."""
        return self.guess(self.body(tokens, types, padding))


class BertForCLSMLM(BertForSequenceClassification, FillsIn):
    """Both heads on one body: a classifier that keeps learning the language of its texts."""

    def __init__(self, size: BertSize, n_classes: int, *, pooler: bool = False) -> None:
        super().__init__(size, n_classes, pooler=pooler)
        self.masked = MaskedHead(size)
        initialize(self.masked, size)


def bidirectional_builder(size: BertSize, attention: AttentionSettings) -> Callable[[], nn.Module]:
    """Return what builds one layer's attention, if it can look both ways."""
    if "bidirectional" not in supports_of(variant_class(attention.name)):
        raise UserError(
            f"attention {attention.name!r} does not look both ways, as BERT's must. Those that do:"
            f" {', '.join(supporting('bidirectional'))}."
        )
    if attention.positions != PLAIN.positions:
        raise UserError(
            f"positions = {attention.positions!r} is not possible: BERT has a table of positions of"
            f" its own. Set positions: {PLAIN.positions}."
        )
    shape = {"d_model": size.d_model, "n_heads": size.n_heads, "max_len": size.max_len}
    positions = build_positions(attention, **shape)
    return attention_builder(attention, positions, **shape, dropout=size.attention_dropout)


def initialize(model: nn.Module, size: BertSize) -> None:
    """Draw matrices and tables as BERT does; biases are zero."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=size.initial_std)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
