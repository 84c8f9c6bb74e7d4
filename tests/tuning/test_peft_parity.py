"""Our methods give peft's numbers on a BERT with the same weights: scores, gradients, counts.

peft differs in three points, which the comparison accounts for. It shifts the positions of the text
behind a prompt or prefix, so its table of positions is shifted here. It reads the first vector of a
prompt as though it were [CLS], so its scores are made from the place where [CLS] is. And it freezes
the pooler, which is part of our head.
"""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig
from transformers import BertForSequenceClassification as TheirClassifier
from tunable import C, D, H, L, M, T, V, bert, shaken

from attnlab.attention.contract import Prefix
from attnlab.attention.functional import split_heads
from attnlab.models.bert import Layer
from attnlab.models.bert_names import hub_name
from attnlab.tuning.lora import LoRALinear
from attnlab.tuning.prefix import LearnedPrefix
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import Tuned, apply_tuning

peft = pytest.importorskip("peft", reason="peft is the reference; the extra `dev` installs it")

P = 4
TASK = {"task_type": "SEQ_CLS"}
CONFIGS: Mapping[str, Any] = {
    "lora": lambda: peft.LoraConfig(**TASK, r=2, lora_alpha=5),
    "ia3": lambda: peft.IA3Config(**TASK),
    "prompt": lambda: peft.PromptTuningConfig(**TASK, num_virtual_tokens=P),
    "prefix": lambda: peft.PrefixTuningConfig(**TASK, num_virtual_tokens=P),
}
OPTIONS: Mapping[str, dict[str, Any]] = {
    "lora": {"rank": 2, "alpha": 5},
    "ia3": {"targets": ["key", "value", "proj", "down"]},
    "prompt": {"length": P},
    "prefix": {"length": P},
    "bitfit": {},
    "head": {},
}
BATCH = torch.Generator().manual_seed(1)
TOKENS = torch.randint(0, V, (3, T), generator=BATCH)
TYPES = (torch.arange(T) > 4).long().expand(3, -1)
PADDING = torch.arange(T) < torch.tensor([[T], [4], [2]])
LABELS = torch.tensor([4, 0, 2])


def both(method: str) -> tuple[Tuned, nn.Module]:
    """Return our model and theirs, tuned alike and with the same weights everywhere."""
    shift = P if method in ("prompt", "prefix") else 0
    config = BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_attention_heads=H,
        num_hidden_layers=L,
        intermediate_size=M,
        max_position_embeddings=T + shift,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=C,
        attn_implementation="eager",
    )
    theirs = TheirClassifier(config).double()
    ours = bert(dropout=0.0, pooler=True)
    tuned = apply_tuning(ours, TuningSettings(method, OPTIONS[method]), seed=0)
    shaken(ours)  # the additions too, some of which change nothing at first
    given = dict(ours.named_parameters())
    with torch.no_grad():
        for name, value in theirs.named_parameters():
            start = shift if "position_embeddings" in name else 0
            value[start:] = {hub_name(n): p for n, p in given.items()}[name]
        if method == "prompt":  # a vector of ours has neither position nor type
            types = theirs.bert.embeddings.token_type_embeddings.weight[0]
            theirs.bert.embeddings.position_embeddings.weight[:shift] = -types
    if method in CONFIGS:
        theirs = peft.get_peft_model(theirs, CONFIGS[method]()).double()
        with torch.no_grad():
            for name, value in additions(theirs).items():
                value.copy_(of_ours(tuned.model, name))
    else:
        for name, value in theirs.named_parameters():
            biases = method == "bitfit" and name.endswith("bias")
            value.requires_grad_(biases or name.startswith("classifier"))
    return tuned, theirs


def additions(theirs: nn.Module) -> dict[str, nn.Parameter]:
    """Return what peft added and trains."""
    named = theirs.named_parameters()
    return {n: p for n, p in named if p.requires_grad and "classifier" not in n}


def of_ours(model: Any, name: str, *, gradient: bool = False) -> Tensor:
    """Return our tensor, or its gradient, in the place and shape of one of peft's."""
    named = {n: p.grad if gradient else p for n, p in model.named_parameters()}
    if "prompt_encoder" in name and "body.embeddings.prompt" in named:
        return named["body.embeddings.prompt"]
    if "prompt_encoder" in name:
        parts = [
            named[f"body.layers.{i}.prefix.{part}"] for i in range(L) for part in ("keys", "values")
        ]
        return torch.cat(parts, dim=1)  # (P, 2·L·D)
    place, kind = re.fullmatch(
        r"base_model\.model\.(.+)\.(lora_A|lora_B|ia3_l)\.default(?:\.weight)?", name
    ).groups()
    ours = {hub_name(f"{n}.weight"): n for n, _ in model.named_modules()}[f"{place}.weight"]
    if kind == "ia3_l":
        gain = named[f"{ours}.gain"]
        return gain[None] if re.search(r"output\.dense", place) else gain[:, None]
    return named[f"{ours}.{kind.lower()}.weight"]


def their_scores(theirs: nn.Module, method: str) -> Tensor:
    """Return their scores, in a prompt's case from [CLS] itself."""
    given = {"attention_mask": PADDING.long(), "token_type_ids": TYPES}
    found = theirs(input_ids=TOKENS, **given, output_hidden_states=True)
    if method != "prompt":
        return found.logits
    last, model = found.hidden_states[-1], theirs.base_model
    first = model.classifier(model.bert.pooler(last))
    assert torch.equal(first, found.logits), "peft now looks for [CLS] behind the prompt"
    return model.classifier(model.bert.pooler(last[:, P:]))


def compare(method: str) -> None:
    tuned, theirs = both(method)
    wanted, found = their_scores(theirs, method), tuned.model(TOKENS, TYPES, PADDING)
    close(found, wanted)
    nn.functional.cross_entropy(wanted, LABELS).backward()
    nn.functional.cross_entropy(found, LABELS).backward()
    numbers = 0
    for name, value in theirs.named_parameters():
        if not value.requires_grad:
            continue
        numbers += value.numel()
        if method not in CONFIGS:
            named = {hub_name(n): p for n, p in tuned.model.named_parameters()}
            close(named[name].grad, value.grad)
        elif "classifier" in name:
            close(getattr(tuned.model.classifier, name.rpartition(".")[2]).grad, value.grad)
        else:
            close(of_ours(tuned.model, name, gradient=True), value.grad)
    pooler = D * D + (0 if method == "bitfit" else D)
    assert tuned.n_trainable == numbers + pooler


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


@pytest.mark.parametrize("method", OPTIONS)
def test_scores_gradients_and_counts_are_those_of_peft(method: str) -> None:
    compare(method)


def swapped(prefix: LearnedPrefix) -> Prefix:
    values, keys = (split_heads(x[None], H) for x in (prefix.keys, prefix.values))
    return Prefix(keys, values)


def first_of_all(layer: Layer, place: int, *given: Any, only: Any = Layer.only) -> Tensor:
    del place
    return only(layer, 0, *given)


@pytest.mark.parametrize(
    ("method", "place", "mutant"),
    [
        ("lora", (LoRALinear, "forward"), lambda self, x: nn.Linear.forward(self, x)),
        ("prefix", (LearnedPrefix, "forward"), swapped),
        ("prompt", (Layer, "only"), first_of_all),
    ],
    ids=["no addition", "keys and values swapped", "the prompt read as [CLS]"],
)
def test_a_wrong_method_is_noticed(
    method: str, place: tuple[type, str], mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*place, mutant)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        compare(method)
