"""A decoder-only transformer: pre-norm, GELU, attention and positions by name (GPT-2, 2019)."""

from collections.abc import Callable, Sequence
from itertools import repeat

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.attention.assemble import attention_builder, build_positions
from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Prefix
from attnlab.attention.settings import AttentionSettings
from attnlab.dropout import Dropout
from attnlab.models.ngram_table import NGramTable
from attnlab.models.sizes import NGramTableSize

CAUSAL = AttentionMask(causal=True)
INITIAL_STD = 0.02
"""Standard deviation of new weights."""


class Block(nn.Module):
    """Attention to the tokens before, then an MLP, each on a residual connection."""

    prefix: nn.Module | None
    """Returns the ``Prefix`` that prefix tuning learns."""

    def __init__(
        self, d_model: int, build_attention: Callable[[], nn.Module], *, dropout: float
    ) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.ln2 = nn.LayerNorm(d_model)
        self.attn = build_attention()
        self.mlp = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )
        self.dropout = Dropout(dropout)
        self.register_module("prefix", None)

    def forward(
        self, x: Float[Tensor, "B T D"], cache: Cache | None = None
    ) -> Float[Tensor, "B T D"]:
        """Add what attention and the MLP find to the residual stream."""
        x = x + self.dropout(
            self.attn(self.ln1(x), mask=CAUSAL, cache=cache, **self.learned_prefix()).out
        )
        out: Tensor = x + self.dropout(self.mlp(self.ln2(x)))
        return out

    def learned_prefix(self) -> dict[str, Prefix]:
        """Return the argument for the attention; none without a prefix, which not all take."""
        return {} if self.prefix is None else {"prefix": self.prefix()}


class GPT(nn.Module):
    """Predicts the next token from those before it."""

    prompt: nn.Parameter | None
    """(P, D): vectors before the text, which have no positions; prompt tuning learns them."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        *,
        d_model: int,
        n_heads: int,
        n_layers: int,
        dropout: float = 0.1,
        attention: AttentionSettings = AttentionSettings(),  # noqa: B008 - it is frozen
        ngram_table: NGramTableSize = NGramTableSize(),  # noqa: B008 - it is frozen
    ) -> None:
        super().__init__()
        self.max_len = max_len
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        shape = {"d_model": d_model, "n_heads": n_heads, "max_len": max_len}
        self.positions = build_positions(attention, **shape)
        self.dropout = Dropout(dropout)
        build_attention = attention_builder(attention, self.positions, **shape, dropout=dropout)
        self.blocks = nn.ModuleList(
            Block(d_model, build_attention, dropout=dropout) for _ in range(n_layers)
        )
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.apply(_initialize)
        self.register_parameter("prompt", None)
        self.ngram_table = NGramTable(d_model, **vars(ngram_table)) if ngram_table.rows else None

    def forward(
        self, tokens: Int[Tensor, "B T"], caches: Sequence[Cache] | None = None
    ) -> Float[Tensor, "B T V"]:
        """Return the logits of the token after each position; ``caches`` hold those before."""
        logits: Tensor = self.head(self.hidden(tokens, caches))
        return logits

    def attention_weights(self, tokens: Int[Tensor, "B T"]) -> list[Float[Tensor, "B H T S"]]:
        """Return where every token looks, layer by layer; every attention must support it.

        The keys of a prefix or prompt come first.
        """
        weights = []
        x = self._embedded(tokens, None, None)
        for block in self.blocks:
            assert isinstance(block, Block)
            looked = block.attn(
                block.ln1(x), mask=CAUSAL, need_weights=True, **block.learned_prefix()
            )
            weights.append(looked.weights[:, :, -tokens.shape[1] :])
            x = block(x)
        return weights

    def hidden(
        self,
        tokens: Int[Tensor, "B T"],
        caches: Sequence[Cache] | None = None,
        *,
        is_read_only: Bool[Tensor, " B"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Return what the head reads the next token from.

        The rows of the batch that are read-only leave no gradient in the n-gram table.
        """
        x = self._embedded(tokens, caches, is_read_only)
        for block, cache in zip(self.blocks, caches or repeat(None), strict=False):
            x = block(x, cache)
        out: Tensor = self.ln_f(x[:, -tokens.shape[1] :])
        return out

    def states(self, tokens: Int[Tensor, "B T"]) -> list[Float[Tensor, "B T D"]]:
        """Return the residual stream of every token: before the first block, then after each."""
        x = self._embedded(tokens, None, None)
        streams = [x]
        for block in self.blocks:
            x = block(x)
            streams.append(x)
        return [stream[:, -tokens.shape[1] :] for stream in streams]

    def new_caches(self) -> list[Cache] | None:
        """Return an empty cache for each layer, and one for the tokens if there is an n-gram table.

        None if the attention cannot use one.
        """
        able = self._all_support("cache")
        return [Cache() for _ in range(len(self.blocks) + bool(self.ngram_table))] if able else None

    @property
    def shows_weights(self) -> bool:
        """Whether its attention can return where every token looks."""
        return self._all_support("weights")

    def _all_support(self, capability: str) -> bool:
        return all(capability in getattr(block.attn, "supports", ()) for block in self.blocks)

    def _embedded(
        self,
        tokens: Int[Tensor, "B T"],
        caches: Sequence[Cache] | None,
        is_read_only: Bool[Tensor, " B"] | None,
    ) -> Float[Tensor, "B S D"]:
        """Return what the first block reads: tokens, what is remembered of them, positions.

        A prompt comes before the first token; the text keeps its positions, as if it had none.
        """
        n_past = caches[0].n_tokens if caches else 0
        n_prompt = 0 if self.prompt is None else len(self.prompt)
        x = self.tok_emb(tokens)
        if self.ngram_table:
            x = x + self._remembered(self.ngram_table, tokens, caches, is_read_only)
        x = self.positions.add(x, max(0, n_past - n_prompt))
        if self.prompt is not None and not n_past:
            x = torch.cat([self.prompt.expand(len(x), -1, -1), x], dim=1)
        embedded: Tensor = self.dropout(x)
        return embedded

    def _remembered(
        self,
        ngram_table: NGramTable,
        tokens: Int[Tensor, "B T"],
        caches: Sequence[Cache] | None,
        is_read_only: Bool[Tensor, " B"] | None,
    ) -> Float[Tensor, "B T D"]:
        """Look the tokens up, after those that the last cache holds."""
        n_new = tokens.shape[1]
        if caches:
            tokens = caches[-1].extend(tokens[..., None])[0][:, -n_new - ngram_table.reach :, 0]
        found: Tensor = ngram_table(tokens, is_read_only)[:, -n_new:]
        return found


def _initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=INITIAL_STD)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
