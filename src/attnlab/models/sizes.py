"""How large a GPT or a BERT is, and sizes by name. Loads no torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, Len

from attnlab.attention.settings import AttentionSettings


@dataclass(frozen=True)
class NGramTableSize:
    """The table of hashed n-grams beside the layers."""

    rows: Annotated[int, Ge(0)] = 0
    """Rows of the table; 0 leaves it out."""
    orders: Annotated[tuple[Annotated[int, Ge(1)], ...], Len(1)] = (2, 3, 5)
    """How many tokens an n-gram has; each order looks up a row at every token."""


@dataclass(frozen=True)
class ModelSettings:
    """The size of the GPT."""

    d_model: Annotated[int, Gt(0)] = 128
    """Width."""
    n_heads: Annotated[int, Gt(0)] = 4
    """Attention heads a layer."""
    n_layers: Annotated[int, Gt(0)] = 2
    """Layers."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    """Share of activations set to zero in training."""
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
"""The course's model has one of two attentions; its synthesizer shares a matrix among the heads."""


@dataclass(frozen=True)
class BertSize:
    """The size of a BERT, which its checkpoint decides."""

    vocab_size: Annotated[int, Gt(0)] = 30522
    """Rows of the table of tokens."""
    d_model: Annotated[int, Gt(0)] = 768
    """Width."""
    n_heads: Annotated[int, Gt(0)] = 12
    """Attention heads a layer."""
    n_layers: Annotated[int, Gt(0)] = 12
    """Layers."""
    d_mlp: Annotated[int, Gt(0)] = 3072
    """Width inside an MLP."""
    max_len: Annotated[int, Gt(0)] = 512
    """Positions."""
    n_types: Annotated[int, Gt(0)] = 2
    """Token types: which text of a pair a token belongs to."""
    dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of activations set to zero in training."""
    attention_dropout: Annotated[float, Interval(ge=0, lt=1)] = 0.1
    """Share of attention weights set to zero in training."""
    activation: Literal["gelu", "gelu_new", "relu"] = "gelu"
    """Between the two matrices of an MLP."""
    layer_norm_eps: Annotated[float, Gt(0)] = 1e-12
    """What keeps a layer norm from dividing by nothing."""
    initial_std: Annotated[float, Gt(0)] = 0.02
    """Spread of weights that no checkpoint gives."""
