"""Whether a training step fits into memory, estimated before the first from its largest batch.

What backpropagation keeps is counted low: a step that is refused cannot run, and one that is not
refused may still need more.
"""

from collections.abc import Sequence, Sized
from dataclasses import dataclass

from torch import nn

from attnlab.models.sizes import BertSize, ModelSettings
from attnlab.runs.memory import need_memory
from attnlab.training.session import Session

PER_WIDTH, PER_MLP = 6, 2
"""Numbers per token and layer, as multiples of the two widths: norms, queries, keys, values, what
they find and the residual stream; the MLP before and after its activation."""
PER_LOGIT = 2
"""The logits, and their logarithms of probabilities."""
BYTES = {"bfloat16": 2, "float32": 4, "float64": 8}


@dataclass(frozen=True)
class Part:
    """Rows that go through a model together, padded to the longest."""

    n_rows: int
    n_tokens: int
    n_scored: int = 0
    """Tokens that are predicted."""

    @classmethod
    def of(cls, rows: Sequence[Sized], n_parts: int, *, n_scored: int = 0) -> "Part":
        """Cut a batch into parts and return the largest."""
        return cls(-(-len(rows) // n_parts), max(map(len, rows)), n_scored // n_parts)


def activations(
    size: ModelSettings | BertSize, attention: nn.Module, part: Part, *, vocab_size: int
) -> int:
    """Count the numbers that backpropagation keeps of a part."""
    d_mlp = size.d_mlp if isinstance(size, BertSize) else 4 * size.d_model
    n_tokens = part.n_rows * part.n_tokens
    layer = n_tokens * (PER_WIDTH * size.d_model + PER_MLP * d_mlp)
    # a user's own attention may not say
    kept_per_pair = getattr(attention, "kept_per_pair", lambda _: 0)
    layer += n_tokens * part.n_tokens * kept_per_pair(part.n_tokens)
    return size.n_layers * layer + PER_LOGIT * part.n_scored * vocab_size


def need_memory_for_step(count: int, part: Part, session: Session, *, setting: str) -> None:
    """Refuse batches whose activations cannot fit; their size comes from ``NAME = VALUE``."""
    if session.hardware.device.type != "cpu":
        return  # a device has memory of its own
    name = setting.partition(" ")[0]
    need_memory(
        count * BYTES[session.hardware.precision] * session.processes.local_size,
        f"{setting}: to learn from {part.n_rows:,} rows of up to {part.n_tokens:,} tokens at once",
        advice=f"Choose a smaller {name}, a larger training.accumulate, or shorter rows.",
    )
