"""The names of a BERT's tensors: ours, and those that transformers writes.

ours                      there
body.layers.0.attn.proj   bert.encoder.layer.0.attention.output.dense
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import torch
from torch import Tensor

from attnlab.errors import UserError

PARTS = (
    ("body.embeddings.words", "bert.embeddings.word_embeddings"),
    ("body.embeddings.positions", "bert.embeddings.position_embeddings"),
    ("body.embeddings.types", "bert.embeddings.token_type_embeddings"),
    ("body.embeddings.norm", "bert.embeddings.LayerNorm"),
    (r"body.layers.\d+.attn.query", r"bert.encoder.layer.\d+.attention.self.query"),
    (r"body.layers.\d+.attn.key", r"bert.encoder.layer.\d+.attention.self.key"),
    (r"body.layers.\d+.attn.value", r"bert.encoder.layer.\d+.attention.self.value"),
    (r"body.layers.\d+.attn.proj", r"bert.encoder.layer.\d+.attention.output.dense"),
    (r"body.layers.\d+.norm1", r"bert.encoder.layer.\d+.attention.output.LayerNorm"),
    (r"body.layers.\d+.up", r"bert.encoder.layer.\d+.intermediate.dense"),
    (r"body.layers.\d+.down", r"bert.encoder.layer.\d+.output.dense"),
    (r"body.layers.\d+.norm2", r"bert.encoder.layer.\d+.output.LayerNorm"),
    ("body.pooler", "bert.pooler.dense"),
    ("classifier", "classifier"),
    ("masked.transform", "cls.predictions.transform.dense"),
    ("masked.norm", "cls.predictions.transform.LayerNorm"),
    ("masked", "cls.predictions"),
)
TIED = "bert.embeddings.word_embeddings.weight"
SAME = {
    "cls.predictions.decoder.weight": TIED,
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
"""What some files hold twice."""
UNUSED = re.compile(
    r"(bert\.embeddings\.position_ids|cls\.seq_relationship\.\w+|(bert\.)?fit_denses?\..+)"
)
"""Positions as a list, next-sentence prediction, and the layers that TinyBERT was distilled by."""
TABLE = "body.embeddings.words.weight"
"""The table of tokens, under our name."""


def hub_name(name: str) -> str:
    """Translate one of our names."""
    return _translate(name, dict(PARTS)) or name


def rename_tensors(tensors: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Rename a file's tensors, in float32 at least; refuse what has no place in a BERT by name."""
    there = {_usual(name): value for name, value in tensors.items()}
    names = {there: ours for ours, there in PARTS}
    found, strange = {}, []
    for name, value in there.items():
        if UNUSED.fullmatch(name):
            continue
        same = there.get(SAME.get(name, ""))
        if same is not None and torch.equal(same, value):
            continue
        ours = _translate(name, names)
        if ours is None:
            strange.append(name)
        else:
            found[ours] = value if value.dtype == torch.float64 else value.float()
    if strange:
        raise UserError(
            f"{path} holds {len(strange)} tensors that have no place in a BERT: {listed(strange)}."
        )
    return found


def _usual(name: str) -> str:
    """Write a file's name of a tensor the way transformers writes it today."""
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    is_body = name.startswith(("embeddings.", "encoder.", "pooler."))
    return f"bert.{name}" if is_body else name


def _translate(name: str, names: Mapping[str, str]) -> str | None:
    """Put another part's name before the last word; layers keep their number."""
    part, _, last = name.rpartition(".")
    number = re.search(r"\.(\d+)\.", part)
    pattern = re.sub(r"\.\d+\.", r".\\d+.", part)
    if pattern not in names or last not in ("weight", "bias"):
        return None
    other = names[pattern].replace(r"\d+", number[1] if number else "")
    return f"{other}.{last}"


def listed(names: Collection[str]) -> str:
    """List a few names, sorted."""
    shown = sorted(names)[:6]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
