"""The course's ``.params`` files: names and shapes as documented, there and back, and bad ones."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.errors import UserError
from attnlab.models.course_format import read_params, to_course, variant_of, write_params
from attnlab.models.gpt import GPT
from attnlab.models.sizes import COURSE_VARIANTS, SIZES, ModelSettings

VARIANTS = sorted(COURSE_VARIANTS)


def model_of(variant: str, size: dict[str, int] | None = None) -> GPT:
    torch.manual_seed(0)
    small = ModelSettings(
        **(size or {"d_model": 16, "n_heads": 8, "n_layers": 2}),
        attention=COURSE_VARIANTS[variant],
    )
    return GPT(11, 12, **vars(small)).eval()


def course_forward(tensors: dict[str, Tensor], tokens: Tensor, n_heads: int) -> Tensor:
    """The course's model, written down from its format alone."""
    n_tokens = tokens.shape[1]
    x = tensors["tok_emb.weight"][tokens] + tensors["pos_emb"][:, :n_tokens]
    n_layers = len({name.split(".")[1] for name in tensors if name.startswith("blocks")})

    def linear(value: Tensor, name: str) -> Tensor:
        return F.linear(value, tensors[f"{name}.weight"], tensors.get(f"{name}.bias"))

    def norm(value: Tensor, name: str) -> Tensor:
        shape = value.shape[-1:]
        return F.layer_norm(value, shape, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def heads(value: Tensor) -> Tensor:
        return value.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    for number in range(n_layers):
        block = f"blocks.{number}"
        h = norm(x, f"{block}.ln1")
        if f"{block}.attn.w2" in tensors:
            hidden = heads(F.relu(linear(h, f"{block}.attn.w1")))
            scores = hidden @ tensors[f"{block}.attn.w2"] + tensors[f"{block}.attn.b2"]
            scores = scores[..., :n_tokens]
        else:
            q, k = (heads(linear(h, f"{block}.attn.{name}")) for name in ("query", "key"))
            scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        mask = tensors[f"{block}.attn.mask"][:, :, :n_tokens, :n_tokens]
        weights = scores.masked_fill(mask == 0, -1e10).softmax(-1)
        mixed = (weights @ heads(linear(h, f"{block}.attn.value"))).transpose(1, 2).flatten(2)
        x = x + linear(mixed, f"{block}.attn.proj")
        inner = F.gelu(linear(norm(x, f"{block}.ln2"), f"{block}.mlp.0"))
        x = x + linear(inner, f"{block}.mlp.2")
    return linear(norm(x, "ln_f"), "head")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_file_predicts_what_the_courses_model_predicts(variant: str, tmp_path: Path) -> None:
    model = model_of(variant)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    tokens = torch.randint(0, 11, (3, 11))
    theirs = course_forward(to_course(model), tokens, 8)
    write_params(model, tmp_path / "a.params")
    read, size = read_params(tmp_path / "a.params")
    with torch.no_grad():
        torch.testing.assert_close(read.eval()(tokens), theirs, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(read(tokens), model(tokens), atol=0, rtol=0)
    assert variant_of(size) == variant
    assert size.n_layers == 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_names_and_shapes_are_those_of_the_courses_files(variant: str) -> None:
    course = SIZES["course"]
    model = GPT(256, 128, **{**vars(course), "attention": COURSE_VARIANTS[variant]})
    shapes = {name: tuple(tensor.shape) for name, tensor in to_course(model).items()}
    expected: dict[str, Any] = {
        "tok_emb.weight": (256, 256),
        "pos_emb": (1, 128, 256),
        "ln_f.weight": (256,),
        "ln_f.bias": (256,),
        "head.weight": (256, 256),
    }
    attention: dict[str, Any] = {"mask": (1, 1, 128, 128)}
    linear = {"vanilla": ("key", "query", "value", "proj"), "synthesizer": ("w1", "value", "proj")}
    for name in linear[variant]:
        attention |= {f"{name}.weight": (256, 256), f"{name}.bias": (256,)}
    if variant == "synthesizer":
        attention |= {"w2": (32, 127), "b2": (127,)}
    for number in range(4):
        block = f"blocks.{number}"
        for norm in ("ln1", "ln2"):
            expected |= {f"{block}.{norm}.weight": (256,), f"{block}.{norm}.bias": (256,)}
        expected |= {f"{block}.mlp.0.weight": (1024, 256), f"{block}.mlp.0.bias": (1024,)}
        expected |= {f"{block}.mlp.2.weight": (256, 1024), f"{block}.mlp.2.bias": (256,)}
        expected |= {f"{block}.attn.{name}": shape for name, shape in attention.items()}
    assert shapes == expected


def changed(tmp_path: Path, **tensors: Tensor | None) -> Path:
    course = to_course(model_of("vanilla"))
    for name, tensor in tensors.items():
        name = name.replace("__", ".")
        if tensor is None:
            del course[name]
        else:
            course[name] = tensor
    path = tmp_path / "changed.params"
    torch.save(course, path)
    return path


def test_masks_may_be_left_out(tmp_path: Path) -> None:
    read_params(changed(tmp_path, blocks__0__attn__mask=None, blocks__1__attn__mask=None))


@pytest.mark.parametrize(
    ("tensors", "told"),
    [
        ({"tok_emb__weight": None}, r"it has no tok_emb\.weight of 2 dimensions\. It holds blocks"),
        (
            {"tok_emb__weight": torch.zeros(11, 15)},
            r"it has 2 layers, and a width of 15 for 8 heads\.",
        ),
        ({"blocks__0__attn__w2": torch.zeros(())}, r"missing: .*blocks\.0\.attn\.w1\.weight"),
        ({"blocks__0__ln1__bias": None}, r"missing: blocks\.0\.ln1\.bias\."),
        ({"lstm__weight": torch.zeros(2)}, r"unknown: lstm\.weight\."),
        (
            {"blocks__1__mlp__0__bias": torch.zeros(63)},
            r"of another shape: blocks\.1\.mlp\.0\.bias \(63,\) instead of \(64,\)\.",
        ),
    ],
)
def test_another_model_is_refused_by_its_tensors(
    tensors: dict[str, Tensor | None], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=told):
        read_params(changed(tmp_path, **tensors))


class Evil:
    """Leaves a file behind if it is ever unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("executed",)


def test_an_evil_pickle_is_refused_and_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"tok_emb.weight": Evil()}, "evil.params")
    with pytest.raises(UserError, match=r"was refused .* and nothing in it was executed"):
        read_params(Path("evil.params"))
    assert not Path("executed").exists()
