"""Tuning models of transformers: the same methods, counted, and equal to peft's."""

from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.errors import UserError
from attnlab.models.encoder import open_checkpoint
from attnlab.models.hub import FAMILIES, HubClassifier
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import Tuned, apply_tuning
from small_hub import write_small_hub

peft = pytest.importorskip("peft")

D, L = 12, 2
HEAD = D * D + 3 * D + 2
TARGETS = {
    "roberta": ["query", "value"],
    "distilbert": ["q_lin", "v_lin"],
    "t5": ["q", "v"],
}


def new_model(kind: str, folder: Path) -> HubClassifier:
    torch.manual_seed(1)
    model, _ = open_checkpoint(write_small_hub(folder, kind)).new_model(
        ["no", "yes"], pooler=False, fills_in=False
    )
    assert isinstance(model, HubClassifier)
    return model.double().eval()


def tuned(model: HubClassifier, name: str, **options: Any) -> Tuned:
    return apply_tuning(model, TuningSettings(name, options), seed=0)


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_formula_is_what_the_model_has(kind: str, tmp_path: Path) -> None:
    attentions = 3 * L if kind == "t5" else L
    assert tuned(new_model(kind, tmp_path / "h"), "head").n_trainable == HEAD
    lora = tuned(new_model(kind, tmp_path / "l"), "lora", rank=4)
    assert lora.n_trainable == 4 * attentions * 4 * D + HEAD
    assert str(lora.trainable.count) == "4·L·r·d + d² + 3·d + 2"
    full = tuned(new_model(kind, tmp_path / "f"), "full")
    assert full.n_trainable == sum(p.numel() for p in full.model.parameters())
    tuned(new_model(kind, tmp_path / "i"), "ia3", targets=["key", "value"])
    if kind != "t5":
        tuned(new_model(kind, tmp_path / "b"), "bitfit")
        tuned(new_model(kind, tmp_path / "d"), "ia3")


@pytest.mark.parametrize("kind", FAMILIES)
def test_lora_is_pefts_in_scores_and_gradients(kind: str, tmp_path: Path) -> None:
    ours, theirs = (new_model(kind, tmp_path / name) for name in ("ours", "theirs"))
    tuned(ours, "lora", rank=3, alpha=6.0)
    config = peft.LoraConfig(r=3, lora_alpha=6, target_modules=TARGETS[kind], lora_dropout=0.0)
    peft.inject_adapter_in_model(config, theirs.net)
    theirs.double()
    generator = torch.Generator().manual_seed(2)
    mine = {n: p for n, p in ours.named_parameters() if ".lora_" in n}
    there = dict(theirs.named_parameters())
    pairs = {
        name: there[name.replace(".weight", ".default.weight").replace("lora_a", "lora_A")
                    .replace("lora_b", "lora_B")]
        for name in mine
    }  # fmt: skip
    for name, parameter in mine.items():
        parameter.data = torch.randn(parameter.shape, generator=generator).double()
        pairs[name].data.copy_(parameter.data)
    tokens = torch.tensor([[0, 9, 8, 7, 2], [0, 5, 2, 1, 1]])
    if kind == "t5":
        tokens = torch.tensor([[9, 8, 7, 6, 1], [5, 6, 1, 0, 0]])
    mask, types = tokens != ours.pad, torch.zeros_like(tokens)
    scores = [model(tokens, types, mask) for model in (ours, theirs)]
    torch.testing.assert_close(*scores, atol=1e-12, rtol=0)
    for one in scores:
        one.square().sum().backward()
    for name, parameter in mine.items():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, pairs[name].grad, atol=1e-12, rtol=0)


def test_what_has_no_meaning_there_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs attention that takes keys and values from outside"):
        tuned(new_model("roberta", tmp_path / "r"), "prefix")
    with pytest.raises(UserError, match="trains biases, but the model has none"):
        tuned(new_model("t5", tmp_path / "t"), "bitfit")
    with pytest.raises(UserError, match="as its down projection T5Attention has none"):
        tuned(new_model("t5", tmp_path / "u"), "ia3")
    with pytest.raises(UserError, match=r"acts on linear layers .* of an untested kind"):
        tuned(new_model("electra", tmp_path / "e"), "lora")
    with pytest.raises(UserError, match="'head' trains a new classifier"):
        tuned(new_model("electra", tmp_path / "f"), "head")
