"""The usual solution of the knowledge course: a plain GPT, padded blocks, one question at a time.

Written from the course's description, as a yardstick: attention step by step over whole blocks,
every example padded to the block, the optimizer with its defaults, greedy decoding that reads
everything again for each character.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

PAD, SENTINEL = "□", "⁇"


class Attention(nn.Module):
    """Causal attention, every step written out."""

    def __init__(self, width: int, heads: int, block: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.key, self.query, self.value, self.proj = (nn.Linear(width, width) for _ in range(4))
        self.dropout, self.proj_dropout = nn.Dropout(dropout), nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(block, block))[None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Attend."""
        rows, length, width = x.shape
        q, k, v = (
            layer(x).view(rows, length, self.heads, width // self.heads).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, -1e10)
        out = self.dropout(scores.softmax(-1)) @ v
        return self.proj_dropout(self.proj(out.transpose(1, 2).contiguous().view(x.shape)))


class Block(nn.Module):
    """Attention and an MLP."""

    def __init__(self, width: int, heads: int, block: int, dropout: float) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, block, dropout)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Add both."""
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class PlainGPT(nn.Module):
    """The course's model."""

    def __init__(self, tokenizer: int, block: int, *, dropout: float) -> None:
        super().__init__()
        width, heads, layers = 256, 8, 4
        self.block = block
        self.tokens = nn.Embedding(tokenizer, width)
        self.positions = nn.Parameter(torch.zeros(1, block, width))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(width, heads, block, dropout) for _ in range(layers)))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokenizer, bias=False)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the logits, and the loss if there are targets; PAD is not scored."""
        x = self.dropout(self.tokens(tokens) + self.positions[:, : tokens.shape[1]])
        logits = self.head(self.ln(self.blocks(x)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)


class PaddedCorruption(Dataset[tuple[Tensor, Tensor]]):
    """Span corruption, one example at a time, each padded to the block."""

    def __init__(self, lines: list[str], characters: list[str], block: int) -> None:
        self.lines, self.block = lines, block
        self.index = {character: i for i, character in enumerate(characters)}

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.lines)

    def __getitem__(self, item: int) -> tuple[Tensor, Tensor]:
        """Cut, take a span out, pad."""
        text = self.lines[item]
        longest = min(len(text), self.block * 7 // 8)
        text = text[: int(torch.randint(min(4, longest), longest + 1, ()))]
        size = int(torch.randint(1, max(2, len(text) // 2), ()))
        start = int(torch.randint(0, len(text) - size + 1, ()))
        text = (
            f"{text[:start]}{SENTINEL}{text[start + size :]}{SENTINEL}{text[start : start + size]}"
        )
        text += PAD * (self.block - len(text))
        numbers = torch.tensor([self.index[character] for character in text])
        return numbers[:-1], numbers[1:]


class PlainTraining:
    """The usual loop, one step at a time."""

    def __init__(self, lines: list[str], characters: list[str], *, block: int, dropout: float):
        self.model = PlainGPT(len(characters), block, dropout=dropout)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=6e-3, betas=(0.9, 0.95))
        data = PaddedCorruption(lines, characters, block)
        self.loader = DataLoader(data, batch_size=128, shuffle=True)
        self.batches = iter(self.loader)

    def step(self) -> int:
        """Take a step; return how many examples it had."""
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(self.loader)
            batch = next(self.batches)
        _, loss = self.model(*batch)
        self.model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return len(batch[0])


@torch.no_grad()
def answer_plainly(model: PlainGPT, prompt: list[int], *, new: int) -> list[int]:
    """Write on, reading everything again for every character."""
    tokens = torch.tensor([prompt])
    for _ in range(new):
        logits, _ = model(tokens[:, -model.block :])
        chosen = logits[:, -1].softmax(-1).topk(1).indices
        tokens = torch.cat([tokens, chosen], dim=1)
    return tokens[0, len(prompt) :].tolist()
