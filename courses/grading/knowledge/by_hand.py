"""The two graded classes written out step by step; both are right until a step is replaced.

They do not use the course's ``src/``, whose files students replace with their own.
"""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from attnlab.attention.functional import (
    apply_causal_mask,
    attn_softmax,
    compute_outputs,
    make_causal_mask,
    merge_heads,
    split_heads,
)
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.objectives.span_corruption import PAD_TOKEN

Tokens = list[int]


class DatasetByHand:
    """A CharCorruptionDataset with one method per step."""

    def __init__(self, data: str, block_size: int) -> None:
        self.documents = data.split("\n")
        self.tokenizer = CharacterTokenizer.of([data])
        self.itos = dict(enumerate(self.tokenizer.characters))
        self.block_size, self.sentinel = block_size, self.tokenizer.sentinel

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """Corrupt a document: cut it, choose a span, move the span to the end, pad."""
        text = self.tokenizer.encode(self.documents[index])
        rng = self.generator(index)
        cut = self.cut(text, self.longest(text), rng)
        size = self.span_size(cut, text, rng)
        start = self.span_start(len(cut) - size, rng)
        row = self.row(cut[:start], cut[start : start + size], cut[start + size :])
        return self.example(self.padded(row))

    def generator(self, index: int) -> np.random.Generator:
        """Draw afresh each time, whichever document it is."""
        del index
        return np.random.default_rng(int(torch.randint(2**62, ())))

    def longest(self, text: Tokens) -> int:
        """Return the length of the longest cut."""
        return min(len(text), self.block_size * 7 // 8)

    def cut(self, text: Tokens, longest: int, rng: np.random.Generator) -> Tokens:
        """Keep the beginning of the text, at least four characters of it."""
        return text[: rng.integers(min(4, longest), longest + 1)]

    def span_size(self, cut: Tokens, text: Tokens, rng: np.random.Generator) -> int:
        """Choose a size up to half of the cut; the text before the cut must not matter."""
        del text
        return int(rng.integers(1, max(1, len(cut) // 2) + 1))

    def span_start(self, last: int, rng: np.random.Generator) -> int:
        """Choose any place, up to the last one where the span fits."""
        return int(rng.integers(0, last + 1))

    def row(self, prefix: Tokens, span: Tokens, suffix: Tokens) -> Tokens:
        """Put the parts in the order of the assignment."""
        return [*prefix, self.sentinel, *suffix, self.sentinel, *span]

    def padded(self, row: Tokens) -> Tokens:
        """Fill the row up to the block."""
        return row + [PAD_TOKEN] * (self.block_size - len(row))

    def example(self, row: Tokens) -> tuple[Tensor, Tensor]:
        """Return x and y, which is x one place further."""
        return torch.tensor(row[:-1]), torch.tensor(row[1:])


class AttentionConfig(Protocol):
    """What the assignment builds an attention from."""

    n_embd: int
    n_head: int
    block_size: int


class AttentionByHand(nn.Module):
    """A SynthesizerAttention with one method per step."""

    def __init__(self, config: AttentionConfig) -> None:
        super().__init__()
        self.n_head = config.n_head
        longest = config.block_size - 1
        self.w1, self.value, self.proj = (nn.Linear(config.n_embd, config.n_embd) for _ in range(3))
        self.w2 = nn.Parameter(torch.zeros(config.n_embd // config.n_head, longest))
        self.b2 = nn.Parameter(torch.zeros(longest))

    def forward(self, x: Tensor) -> Tensor:
        """Mix the values by the rows of scores that the tokens write."""
        hidden = split_heads(self.hidden(x), self.n_head)  # (B, H, T, K)
        weights = self.weights(self.scores(hidden), self.mask(x.shape[1]))
        mixed = compute_outputs(weights, split_heads(self.value(x), self.n_head))
        return self.output(self.merged(mixed))

    def hidden(self, x: Tensor) -> Tensor:
        """Return ReLU(x A + b₁)."""
        activated: Tensor = self.w1(x).relu()
        return activated

    def scores(self, hidden: Tensor) -> Tensor:
        """Let every token write its row of scores; one B for all heads, or one per head."""
        n_tokens = hidden.shape[-2]
        return hidden @ self.w2[..., :n_tokens] + self.b2[..., :n_tokens]

    def mask(self, n_tokens: int) -> Tensor:
        """Allow each token itself and those before it."""
        return make_causal_mask(n_tokens)

    def weights(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Hide the future before the softmax."""
        return attn_softmax(apply_causal_mask(mask, scores))

    def merged(self, mixed: Tensor) -> Tensor:
        """Put the heads side by side."""
        return merge_heads(mixed)

    def output(self, y: Tensor) -> Tensor:
        """Project what the heads found."""
        projected: Tensor = self.proj(y)
        return projected
