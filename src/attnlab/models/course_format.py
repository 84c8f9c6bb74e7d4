"""The knowledge course's ``.params`` files: a state dict of its GPT, under its own names.

    ours                             the course's
    positions.table.weight (L, D)    pos_emb (1, L, D)
    blocks.N.attn.w2 (K, L)          blocks.N.attn.w2 (K, L − 1): no row is as long as the block
    blocks.N.attn.b2 (L)             blocks.N.attn.b2 (L − 1)
    -                                blocks.N.attn.mask (1, 1, L, L), which says nothing

All other names are the same. A file shows everything about its model except the number of heads of
a vanilla one, which is always eight.
"""

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.assets.tensors import read_tensors
from attnlab.errors import UserError
from attnlab.models.gpt import GPT
from attnlab.models.sizes import COURSE_VARIANTS, SIZES, ModelSettings
from attnlab.runs.files import replace_file

SHORTER = re.compile(r"blocks\.\d+\.attn\.[wb]2")
MASK = re.compile(r"blocks\.\d+\.attn\.mask")
SHOWN = 4


def read_params(path: Path, *, dropout: float = 0.0) -> tuple[GPT, ModelSettings]:
    """Build the model of a file; a file of another model is refused, naming its tensors."""
    tensors = read_tensors(path)
    size, vocab_size, max_len = _size(tensors, path)
    size = replace(size, dropout=dropout)
    model = GPT(vocab_size, max_len, **vars(size))
    expected = {name: tensor.shape for name, tensor in to_course(model).items()}
    _compare(expected, {name: tensor.shape for name, tensor in tensors.items()}, path)
    model.load_state_dict(_to_ours(tensors))
    return model, size


def write_params(model: GPT, path: Path) -> None:
    """Write a model as the course's code reads it; the file is whole or not there."""
    buffer = io.BytesIO()
    torch.save(to_course(model), buffer)
    replace_file(path, buffer.getvalue())


def to_course(model: GPT) -> dict[str, Tensor]:
    """Return a model's tensors under the course's names."""
    tensors = {}
    for name, tensor in model.state_dict().items():
        value = tensor.detach().float().cpu().clone()
        if name == "positions.table.weight":
            tensors["pos_emb"] = value[None]
        else:
            tensors[name] = value[..., :-1].clone() if SHORTER.fullmatch(name) else value
    mask = torch.ones(model.max_len, model.max_len).tril()[None, None]
    masks = {f"blocks.{number}.attn.mask": mask.clone() for number in range(len(model.blocks))}
    return tensors | masks


def variant_of(size: ModelSettings) -> str | None:
    """Return what the course calls a model of ours, or None if it has no such model."""
    for name, attention in COURSE_VARIANTS.items():
        if size.attention == attention and not size.ngram_table.rows:
            return name
    return None


def _to_ours(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    ours = {}
    for name, tensor in tensors.items():
        if name == "pos_emb":
            ours["positions.table.weight"] = tensor[0]
        elif not MASK.fullmatch(name):
            ours[name] = F.pad(tensor, (0, 1)) if SHORTER.fullmatch(name) else tensor
    return ours


def _size(tensors: Mapping[str, Tensor], path: Path) -> tuple[ModelSettings, int, int]:
    """Read off how large the model is, and how many tokens and positions it knows."""
    for name, dimensions in (("tok_emb.weight", 2), ("pos_emb", 3), ("head.weight", 2)):
        if name not in tensors or tensors[name].dim() != dimensions:
            raise UserError(
                f"{path} is not a model of the course: it has no {name} of {dimensions} dimensions."
                f" It holds {_some(sorted(tensors))}."
            )
    vocab_size, d_model = tensors["tok_emb.weight"].shape
    n_layers = len({name.split(".")[1] for name in tensors if name.startswith("blocks.")})
    w2 = tensors.get("blocks.0.attn.w2")
    variant = "vanilla" if w2 is None else "synthesizer"
    n_heads = SIZES["course"].n_heads
    if w2 is not None and w2.dim() == 2 and w2.shape[0]:
        n_heads = max(1, d_model // w2.shape[0])
    if not n_layers or d_model % n_heads:
        raise UserError(
            f"{path} is not a model of the course: it has {n_layers} layers, and a width of"
            f" {d_model} for {n_heads} heads."
        )
    size = replace(
        SIZES["course"],
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        attention=COURSE_VARIANTS[variant],
    )
    return size, vocab_size, tensors["pos_emb"].shape[1]


def _compare(
    expected: Mapping[str, torch.Size], found: Mapping[str, torch.Size], path: Path
) -> None:
    """Refuse tensors that are missing, too many or of another shape; masks may be left out."""
    missing = [name for name in expected if name not in found and not MASK.fullmatch(name)]
    extra = [name for name in found if name not in expected]
    other = [
        f"{name} {tuple(found[name])} instead of {tuple(shape)}"
        for name, shape in expected.items()
        if name in found and found[name] != shape
    ]
    problems = [
        f"{what}: {_some(names)}"
        for what, names in (("missing", missing), ("unknown", extra), ("of another shape", other))
        if names
    ]
    if problems:
        raise UserError(f"{path} is not a model of the course; {'; '.join(problems)}.")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "nothing"
