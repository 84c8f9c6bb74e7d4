"""The graded classes with one bug each, to test that the grader catches it.

A mutant replaces one step of the class written out in ``by_hand``, as a student would get it wrong.
The rest stays right, and the mutant names the checks that must fail.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from attnlab.attention.functional import apply_causal_mask, attn_softmax
from attnlab.data.objectives.span_corruption import PAD_TOKEN
from grading.knowledge.by_hand import AttentionByHand, DatasetByHand

Steps = Mapping[str, Callable[..., Any]]


class Mutant(NamedTuple):
    """A bug: the step that has it, and the checks that fail because of it, these and no other."""

    name: str
    steps: Steps
    fails: tuple[str, ...]


def dataset_with(steps: Steps) -> type[DatasetByHand]:
    """Return a data set with these steps instead of its own."""
    return type("CharCorruptionDataset", (DatasetByHand,), dict(steps))


def attention_with(steps: Steps) -> type[AttentionByHand]:
    """Return an attention with these steps instead of its own."""
    return type("SynthesizerAttention", (AttentionByHand,), dict(steps))


def end_of_the_document(self: DatasetByHand, text: list[int], *rest: Any) -> list[int]:
    """Cut off the beginning instead of the end."""
    return text[-len(DatasetByHand.cut(self, text, *rest)) :]


def block_of_128(self: DatasetByHand, data: str, block_size: int) -> None:
    """Ignore the block size that was asked for."""
    del block_size
    DatasetByHand.__init__(self, data, 128)


def w2_with_another_name(self: AttentionByHand, config: Any) -> None:
    """Give a parameter a name that the course's weight files do not have."""
    AttentionByHand.__init__(self, config)
    self.second = self.w2
    del self.w2


def stop_the_program(*_: object) -> None:
    """Leave in the middle of the forward pass."""
    raise SystemExit("enough")


DATASETS = (
    # how long the span is
    Mutant(
        "size from the length before the cut",
        {
            "span_size": lambda self, cut, text, rng: int(
                rng.integers(1, max(1, min(len(text) // 2, len(cut))) + 1)
            )
        },
        ("a quarter",),
    ),
    Mutant(
        "span of a fixed length",
        {"span_size": lambda self, cut, text, rng: min(self.block_size // 8, len(cut))},
        ("a quarter", "random size"),
    ),
    Mutant(
        "always a quarter exactly",
        {"span_size": lambda self, cut, text, rng: max(1, len(cut) // 4)},
        ("random size",),
    ),
    Mutant(
        "a half on average",
        {"span_size": lambda self, cut, text, rng: int(rng.integers(1, len(cut) + 1))},
        ("a quarter",),
    ),
    # where it is
    Mutant(
        "span never at the beginning",
        {"span_start": lambda self, last, rng: int(rng.integers(min(1, last), last + 1))},
        ("any place",),
    ),
    Mutant(
        "span never at the end",
        {"span_start": lambda self, last, rng: int(rng.integers(0, max(1, last)))},
        ("any place",),
    ),
    Mutant(
        "span always in the middle",
        {"span_start": lambda self, last, rng: last // 2},
        ("any place",),
    ),
    # how the row is put together
    Mutant(
        "span not moved",
        {"row": lambda self, pre, span, post: [*pre, self.sentinel, *span, self.sentinel, *post]},
        ("order",),
    ),
    Mutant(
        "span left out",
        {"row": lambda self, pre, span, post: [*pre, self.sentinel, *post, self.sentinel]},
        ("order",),
    ),
    Mutant(
        "suffix before prefix",
        {"row": lambda self, pre, span, post: [*post, self.sentinel, *pre, self.sentinel, *span]},
        ("order",),
    ),
    Mutant(
        "one mark only",
        {"row": lambda self, pre, span, post: [*pre, self.sentinel, *post, *span]},
        ("marks",),
    ),
    # how the document is cut
    Mutant(
        "cut to the block less the marks",
        {"longest": lambda self, text: min(len(text), self.block_size - 2)},
        ("cut",),
    ),
    Mutant(
        "never the longest cut",
        {"longest": lambda self, text: min(len(text), self.block_size * 7 // 8 - 1)},
        ("every length",),
    ),
    Mutant(
        "not cut at random",
        {"cut": lambda self, text, longest, rng: text[:longest]},
        ("every length",),
    ),
    Mutant(
        "cut from 1 on",
        {"cut": lambda self, text, longest, rng: text[: rng.integers(1, longest + 1)]},
        ("cut",),
    ),
    Mutant("end of the document kept", {"cut": end_of_the_document}, ("order",)),
    Mutant(
        "block of 128 whatever is asked",
        {"__init__": block_of_128},
        ("lengths of x and y", "cut"),
    ),
    # what is returned
    Mutant(
        "y not shifted",
        {"example": lambda self, row: (torch.tensor(row[:-1]), torch.tensor(row[:-1]))},
        ("shift",),
    ),
    Mutant(
        "padding in front",
        {"padded": lambda self, row: [PAD_TOKEN] * (self.block_size - len(row)) + row},
        ("padding",),
    ),
    Mutant("no padding", {"padded": lambda self, row: row}, ("runs", "lengths of x and y")),
    Mutant(
        "the same draw every time",
        {"generator": lambda self, index: np.random.default_rng(index)},
        ("every length", "a quarter", "random size", "any place", "fresh draws"),
    ),
    Mutant(
        "short documents crash",
        {"cut": lambda self, text, longest, rng: text[: rng.integers(4, longest + 1)]},
        ("runs",),
    ),
)

ATTENTIONS = (
    Mutant("no ReLU", {"hidden": lambda self, x: self.w1(x)}, ("equation 5", "ReLU")),
    Mutant(
        "GELU",
        {"hidden": lambda self, x: torch.nn.functional.gelu(self.w1(x))},
        ("equation 5", "ReLU"),
    ),
    Mutant(
        "no mask",
        {"weights": lambda self, scores, mask: attn_softmax(scores)},
        ("equation 5", "causal"),
    ),
    Mutant(
        "mask after the softmax",
        {"weights": lambda self, scores, mask: attn_softmax(scores) * mask},
        ("equation 5", "weights sum to 1"),
    ),
    Mutant(
        "mask transposed",
        {"mask": lambda self, n_tokens: AttentionByHand.mask(self, n_tokens).mT},
        ("equation 5", "causal"),
    ),
    Mutant(
        "b2 left out",
        {"scores": lambda self, hidden: hidden @ self.w2[:, : hidden.shape[-2]]},
        ("equation 5", "b2"),
    ),
    Mutant(
        "scores divided",
        {"scores": lambda self, hidden: AttentionByHand.scores(self, hidden) / 2},
        ("equation 5",),
    ),
    Mutant(
        "scores written by the other token",
        {"scores": lambda self, hidden: AttentionByHand.scores(self, hidden).mT},
        ("equation 5", "no pairs", "b2"),
    ),
    Mutant(
        "dot products of pairs",
        {"scores": lambda self, hidden: hidden @ hidden.mT + self.b2[: hidden.shape[-2]]},
        ("equation 5", "no pairs"),
    ),
    Mutant(
        "heads transposed",
        {"merged": lambda self, mixed: mixed.permute(0, 2, 3, 1).flatten(2)},
        ("equation 5",),
    ),
    Mutant(
        "columns from the end",
        {
            "scores": lambda self, hidden: (
                hidden @ self.w2[:, -hidden.shape[-2] :] + self.b2[: hidden.shape[-2]]
            )
        },
        ("equation 5",),
    ),
    Mutant("no projection", {"output": lambda self, y: y}, ("equation 5",)),
    Mutant(
        "softmax over the queries",
        {"weights": lambda self, scores, mask: apply_causal_mask(mask, scores).softmax(-2)},
        ("equation 5", "causal", "no pairs", "weights sum to 1", "b2"),
    ),
    Mutant("w2 has another name", {"__init__": w2_with_another_name}, ("runs",)),
    Mutant("stops the program", {"hidden": stop_the_program}, ("runs",)),
)
