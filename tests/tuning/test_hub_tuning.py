"""Tuning models of transformers: the same methods, counted, and equal to peft's."""

from pathlib import Path

import pytest
import torch
from hub_models import TOKENS, new_model, tuned

from attnlab.errors import UserError
from attnlab.models.hub_classifier import FAMILIES

peft = pytest.importorskip("peft")

D, L = 12, 2
HEAD = D * D + 3 * D + 2
TARGETS = {
    "roberta": ["query", "value"],
    "distilbert": ["q_lin", "v_lin"],
    "t5": ["q", "v"],
}
IA3_TARGETS = {
    "roberta": (r".*(self\.(key|value)|layer\.\d+\.output\.dense)", r".*layer\.\d+\.output\.dense"),
    "distilbert": (["k_lin", "v_lin", "lin2"], ["lin2"]),
    "t5": (["k", "v"], []),
}
"""What peft calls keys, values and the inside of the MLP, and which of them it scales before."""


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_formula_is_what_the_model_has(kind: str, tmp_path: Path) -> None:
    attentions = 3 * L if kind == "t5" else L
    assert tuned(new_model(kind, tmp_path / "h"), "head").n_trainable == HEAD
    lora = tuned(new_model(kind, tmp_path / "l"), "lora", rank=4)
    assert lora.n_trainable == 4 * attentions * 4 * D + HEAD
    assert str(lora.trainable.count) == "4·L·r·d + d² + 3·d + 2"
    prompt = tuned(new_model(kind, tmp_path / "p"), "prompt", length=5)
    assert (str(prompt.trainable.count), prompt.n_trainable) == (
        "P·d + d² + 3·d + 2",
        5 * D + HEAD,
    )
    prefix = tuned(new_model(kind, tmp_path / "q"), "prefix", length=5)
    assert str(prefix.trainable.count) == "2·L·P·d + d² + 3·d + 2"
    assert prefix.n_trainable == 2 * attentions * 5 * D + HEAD
    full = tuned(new_model(kind, tmp_path / "f"), "full")
    assert full.n_trainable == sum(p.numel() for p in full.model.parameters())
    tuned(new_model(kind, tmp_path / "i"), "ia3", targets=["key", "value"])
    if kind != "t5":
        tuned(new_model(kind, tmp_path / "b"), "bitfit")
        tuned(new_model(kind, tmp_path / "d"), "ia3")


def test_heads_that_are_not_as_wide_as_the_model_are_counted_by_their_own_width(
    tmp_path: Path,
) -> None:
    """As in flan-t5-small: 6 heads of width 64 in a model of width 512."""
    h, attentions = 3 * 5, 3 * L
    lora = tuned(new_model("t5", tmp_path / "l", d_kv=5), "lora", rank=4)
    assert str(lora.trainable.count) == "2·L·r·d + 2·L·r·h + d² + 3·d + 2"
    assert lora.n_trainable == 2 * attentions * 4 * (D + h) + HEAD
    prefix = tuned(new_model("t5", tmp_path / "p", d_kv=5), "prefix", length=4)
    assert prefix.n_trainable == 2 * attentions * 4 * h + HEAD
    assert prefix.model(TOKENS["t5"], torch.zeros_like(TOKENS["t5"])).isfinite().all()
    tuned(new_model("t5", tmp_path / "i", d_kv=5), "ia3", targets=["key", "value", "proj"])


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
    tokens = TOKENS[kind]
    mask, types = tokens != ours.pad, torch.zeros_like(tokens)
    scores = [model(tokens, types, mask) for model in (ours, theirs)]
    torch.testing.assert_close(*scores, atol=1e-12, rtol=0)
    for one in scores:
        one.square().sum().backward()
    for name, parameter in mine.items():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, pairs[name].grad, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", FAMILIES)
def test_ia3_is_pefts_in_scores_and_gradients(kind: str, tmp_path: Path) -> None:
    ours, theirs = (new_model(kind, tmp_path / name) for name in ("ours", "theirs"))
    targets, inside = IA3_TARGETS[kind]
    tuned(ours, "ia3", targets=["key", "value", "down"] if inside else ["key", "value"])
    config = peft.IA3Config(target_modules=targets, feedforward_modules=inside)
    peft.inject_adapter_in_model(config, theirs.net)
    theirs.double()
    there = dict(theirs.named_parameters())
    generator, pairs = torch.Generator().manual_seed(2), []
    for name, parameter in ours.named_parameters():
        if name.endswith(".gain"):
            parameter.data = torch.randn(parameter.shape, generator=generator).double()
            pairs.append((parameter, there[name.replace(".gain", ".ia3_l.default")]))
            pairs[-1][1].data.copy_(parameter.data.view_as(pairs[-1][1]))
    assert len(pairs) == sum("ia3_l" in name for name in there)
    tokens = TOKENS[kind]
    scores = [
        model(tokens, torch.zeros_like(tokens), tokens != ours.pad) for model in (ours, theirs)
    ]
    torch.testing.assert_close(*scores, atol=1e-12, rtol=0)
    for one in scores:
        one.square().sum().backward()
    for mine, other in pairs:
        torch.testing.assert_close(mine.grad, other.grad.view_as(mine), atol=1e-12, rtol=0)


def test_what_has_no_meaning_there_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="trains biases, but the model has none"):
        tuned(new_model("t5", tmp_path / "t"), "bitfit")
    with pytest.raises(UserError, match="as its down projection T5Attention has none"):
        tuned(new_model("t5", tmp_path / "u"), "ia3")
    for method in ("bitfit", "head", "lora", "ia3", "prompt", "prefix"):
        message = rf"'{method}' must know where a model .* Electra\w+ is of an untested kind"
        with pytest.raises(UserError, match=message):
            tuned(new_model("electra", tmp_path / method), method)
