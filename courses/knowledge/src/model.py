"""The GPT of the knowledge course (a small GPT-2, 2019), under the names that its files use."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention import CausalSelfAttention, SynthesizerAttention

PAD = 0
"""The token that fills rows up; the loss leaves it out."""
N_HEAD = 8
"""What a vanilla file does not say about its model."""


@dataclass
class GPTConfig:
    """How large a model is, how much it drops in training, and which attention it has."""

    vocab_size: int
    block_size: int
    n_layer: int = 4
    n_head: int = N_HEAD
    n_embd: int = 256
    embd_pdrop: float = 0.1
    resid_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    synthesizer: bool = False


class Block(nn.Module):
    """Attention to the tokens before, then an MLP, each on a residual connection."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        width = config.n_embd
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn: nn.Module
        if config.synthesizer:
            # [part g] the other attention
            # TODO: [part g], src/model.py: make self.attn a SynthesizerAttention.
            # <solution>
            self.attn = SynthesizerAttention(config)
            # </solution>
        else:
            self.attn = CausalSelfAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            nn.Dropout(config.resid_pdrop),
        )

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Add what attention and the MLP find to the residual stream."""
        x = x + self.attn(self.ln1(x))
        out: Tensor = x + self.mlp(self.ln2(x))
        return out


class GPT(nn.Module):
    """Predicts the next character from those before it."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.block_size = config.block_size
        self.tok_emb = nn.Embedding(config.vocab_size, config.n_embd)
        self.pos_emb = nn.Parameter(torch.empty(1, config.block_size, config.n_embd))
        self.drop = nn.Dropout(config.embd_pdrop)
        self.blocks = nn.Sequential(*(Block(config) for _ in range(config.n_layer)))
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        nn.init.normal_(self.pos_emb, std=0.02)
        self.apply(_initialize)

    def forward(
        self, idx: Int[Tensor, "B T"], targets: Int[Tensor, "B T"] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the scores of the next character, and the mean loss where targets are given."""
        n_tokens = idx.shape[1]
        assert n_tokens <= self.block_size, f"{n_tokens} tokens, but {self.block_size} positions"
        x = self.drop(self.tok_emb(idx) + self.pos_emb[:, :n_tokens])
        logits: Tensor = self.head(self.ln_f(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def config_of(tensors: Mapping[str, Tensor], *, dropout: float = 0.0) -> GPTConfig:
    """Read off how large the model of a file is; only the heads of a vanilla one do not show."""
    vocab_size, width = tensors["tok_emb.weight"].shape
    w2 = tensors.get("blocks.0.attn.w2")
    layers = {name.split(".")[1] for name in tensors if name.startswith("blocks.")}
    return GPTConfig(
        vocab_size,
        tensors["pos_emb"].shape[1],
        n_layer=len(layers),
        n_head=N_HEAD if w2 is None else width // w2.shape[-2],
        n_embd=width,
        embd_pdrop=dropout,
        resid_pdrop=dropout,
        attn_pdrop=dropout,
        synthesizer=w2 is not None,
    )


def _initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
