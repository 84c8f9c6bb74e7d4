"""Sizes of GPT and BERT models, some by name. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, Len

from attnlab.attention.settings import AttentionSettings


@dataclass(frozen=True)
class NGramTableSize:
    """The table of hashed n-grams alongside the layers."""

    rows: Annotated[int, Ge(0)] = 0
    """Rows of the table; 0 means no table."""
    orders: Annotated[tuple[Annotated[int, Ge(1)], ...], Len(1)] = (2, 3, 5)
    """Lengths of the n-grams in tokens; each length looks up one row per token."""


@dataclass(frozen=True)
class ModelSettings:
    """The size of the GPT."""

    d_model: Annotated[int, Gt(0)] = 128
    """Width of the hidden vectors."""
    n_heads: Annotated[int, Gt(0)] = 4
    """Attention heads per layer."""
    n_layers: Annotated[int, Interval(gt=0, le=1000)] = 2
    """Number of layers."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    """Share of activations set to zero during training."""
    attention: AttentionSettings = AttentionSettings()
    ngram_table: NGramTableSize = NGramTableSize()


SIZES = {
    "course": ModelSettings(
        256, 8, 4, dropout=0.1, attention=AttentionSettings(positions="learned")
    ),
    "small": ModelSettings(
        128,
        4,
        1,
        attention=AttentionSettings(positions="rotary"),
        ngram_table=NGramTableSize(rows=2**18),
    ),
}
"""The knowledge course's model, and ours: one small layer with a large n-gram table."""
COURSE_VARIANTS = {
    "vanilla": SIZES["course"].attention,
    "synthesizer": AttentionSettings("synthesizer", {"shared": True}, positions="learned"),
}
"""The two attentions of the course's model; its synthesizer shares one matrix among the heads."""


@dataclass(frozen=True)
class BertSize:
    """The size of a BERT, as its checkpoint gives it."""

    vocab_size: Annotated[int, Gt(0)] = 30522
    """Rows of the token embedding."""
    d_model: Annotated[int, Gt(0)] = 768
    """Width of the hidden vectors."""
    n_heads: Annotated[int, Gt(0)] = 12
    """Attention heads per layer."""
    n_layers: Annotated[int, Interval(gt=0, le=1000)] = 12
    """Number of layers."""
    d_mlp: Annotated[int, Gt(0)] = 3072
    """Hidden width of the MLPs."""
    max_len: Annotated[int, Gt(0)] = 512
    """Number of positions."""
    n_types: Annotated[int, Gt(0)] = 2
    """Number of token types, which say to which text of a pair a token belongs."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of activations set to zero during training."""
    attention_dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of attention weights set to zero during training."""
    activation: Literal["gelu", "gelu_new", "relu"] = "gelu"
    """Activation function of the MLPs."""
    layer_norm_eps: Annotated[float, Gt(0)] = 1e-12
    """Added to the variance in layer norms, against division by zero."""
    initial_std: Annotated[float, Gt(0)] = 0.02
    """Standard deviation of weights that are not in the checkpoint."""
