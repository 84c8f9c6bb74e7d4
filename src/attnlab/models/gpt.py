"""A decoder-only transformer: pre-norm, GELU, learned positions (Radford et al. 2018)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.contract import AttentionMask
from attnlab.errors import UserError

CAUSAL = AttentionMask(causal=True)


class Block(nn.Module):
    """Look at the tokens before, then think about what was seen."""

    def __init__(self, d_model: int, n_heads: int, max_len: int, *, dropout: float) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.ln2 = nn.LayerNorm(d_model)
        self.attn = ATTENTION.get("dot_product")(d_model, n_heads, max_len, dropout=dropout)
        self.mlp = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Add what attention and the MLP find to the residual stream."""
        x = x + self.dropout(self.attn(self.ln1(x), mask=CAUSAL).out)
        out: Tensor = x + self.dropout(self.mlp(self.ln2(x)))
        return out


class GPT(nn.Module):
    """Predicts the next token from those before it."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        *,
        d_model: int,
        n_heads: int,
        n_layers: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if d_model % n_heads:
            raise UserError(
                f"model.d_model = {d_model} does not divide into model.n_heads = {n_heads} heads."
            )
        self.max_len = max_len
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(
            Block(d_model, n_heads, max_len, dropout=dropout) for _ in range(n_layers)
        )
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.apply(_initialise)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Return the logits of the token after each position."""
        assert tokens.shape[1] <= self.max_len, (
            f"{tokens.shape[1]} tokens, {self.max_len} positions"
        )
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.dropout(self.tok_emb(tokens) + self.pos_emb(positions))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.ln_f(x))
        return logits


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
