"""What peft cannot do with a classifier, and what happens here instead.

Each test first shows that peft still fails: when it no longer does, the manual's table is out of
date and peft can serve as another reference.
"""

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_models import TOKENS, new_model, tuned
from tunable import C, stop_at, task_of, trained

from attnlab.errors import StoppedError, UserError
from attnlab.models.hub_classifier import HubClassifier
from attnlab.tuning.tuned import Tuned

peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

P = 4
TASK = {"task_type": "SEQ_CLS"}


def with_prompt(net: Any) -> Any:
    return peft.get_peft_model(net, peft.PromptTuningConfig(**TASK, num_virtual_tokens=P))


def with_prefix(net: Any) -> Any:
    return peft.get_peft_model(net, peft.PrefixTuningConfig(**TASK, num_virtual_tokens=P))


def scores_of(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    return model(tokens, torch.zeros_like(tokens), tokens != model.pad)


def learns(ours: Tuned, kind: str) -> None:
    """Check that everything trained gets a gradient, but what begins with zero."""
    scores_of(ours.model, TOKENS[kind]).square().sum().backward()
    idle = {n for n, p in ours.model.named_parameters() if p.requires_grad and p.grad is None}
    assert not idle


@pytest.mark.parametrize(("wrap", "method"), [(with_prompt, "prompt"), (with_prefix, "prefix")])
def test_a_text_of_full_length_fits_behind_a_prompt_or_prefix(
    wrap: Any, method: str, tmp_path: Path
) -> None:
    longest = torch.full((1, 32), 9)
    with pytest.raises((IndexError, RuntimeError)):
        wrap(new_model("roberta", tmp_path / "t").net)(input_ids=longest)
    ours = tuned(new_model("roberta", tmp_path / "o"), method, length=P)
    assert scores_of(ours.model, longest).isfinite().all()


def test_distilbert_takes_prefixes(tmp_path: Path) -> None:
    net = new_model("distilbert", tmp_path / "t").net
    sizes = {"token_dim": 12, "num_layers": 2, "num_attention_heads": 3}
    config = peft.PrefixTuningConfig(**TASK, **sizes, num_virtual_tokens=P)
    with pytest.raises(ValueError, match="does not support past key values"):
        peft.get_peft_model(net, config)(input_ids=TOKENS["distilbert"])
    learns(tuned(new_model("distilbert", tmp_path / "o"), "prefix", length=P), "distilbert")


@pytest.mark.parametrize("kind", ["modernbert", "deberta-v2"])
def test_modernbert_and_deberta_are_refused_with_the_reason(kind: str) -> None:
    size = {"vocab_size": 90, "hidden_size": 12, "intermediate_size": 20, "num_attention_heads": 3,
            "num_hidden_layers": 1}  # fmt: skip
    config = transformers.AutoConfig.for_model(kind, **size, pad_token_id=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DeBERTa calls torch.jit.script
        theirs, net = (
            transformers.AutoModelForSequenceClassification.from_config(config) for _ in range(2)
        )
    with pytest.raises(ValueError, match="does not support past key values"):
        with_prefix(theirs)(input_ids=TOKENS["distilbert"])
    with pytest.raises(UserError, match=r"'prefix' must know where .* is of an untested kind"):
        tuned(HubClassifier(net, pad=0, reads_types=False), "prefix")


@pytest.mark.parametrize(
    ("config", "method", "lacks"),
    [
        (lambda: peft.LoraConfig(**TASK), "lora", "target_modules"),
        (lambda: peft.IA3Config(**TASK), "ia3", "target_modules"),
        (lambda: peft.PromptTuningConfig(**TASK, num_virtual_tokens=P), "prompt", "token_dim"),
    ],
)
def test_distilbert_needs_no_names_and_sizes_of_its_parts(
    config: Any, method: str, lacks: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"specify `{lacks}`"):
        peft.get_peft_model(new_model("distilbert", tmp_path / "t").net, config())
    learns(tuned(new_model("distilbert", tmp_path / "o"), method), "distilbert")


def test_a_prompt_is_loaded_again_to_train_on(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft looks for the model's config.json on the hub
        with_prompt(new_model("roberta", tmp_path / "t").net).save_pretrained(tmp_path / "saved")
    with pytest.raises(ValueError, match="Cannot set a prompt learning adapter to trainable"):
        peft.PeftModel.from_pretrained(
            new_model("roberta", tmp_path / "u").net, tmp_path / "saved", is_trainable=True
        )

    def begun(name: str) -> Any:
        model = new_model("roberta", tmp_path / name, n_classes=C, dropout=0.1)
        return tuned(model, "prompt", length=P).model

    whole, cut = begun("w"), begun("c")
    trained(tmp_path / "whole", task_of(whole))
    with stop_at(3), pytest.raises(StoppedError, match="stopped after step 3"):
        trained(tmp_path / "cut", task_of(cut))
    resumed = begun("r")
    trained(tmp_path / "cut", task_of(resumed))
    assert torch.equal(resumed.prompt, whole.prompt)
    assert not torch.equal(resumed.prompt, begun("n").prompt)


def test_the_head_of_t5_is_trained_with_lora(tmp_path: Path) -> None:
    theirs = peft.get_peft_model(new_model("t5", tmp_path / "t").net, peft.LoraConfig(**TASK))
    trained_there = {name for name, p in theirs.named_parameters() if p.requires_grad}
    assert not any("classification_head" in name for name in trained_there)
    ours = tuned(new_model("t5", tmp_path / "o"), "lora")
    assert "net.classification_head.out_proj.weight" in ours.trainable.names
    learns(ours, "t5")


@pytest.mark.parametrize(
    ("wrap", "method", "error", "message"),
    [
        (with_prompt, "prompt", NotImplementedError, "Passing input embeddings is currently not"),
        (with_prefix, "prefix", RuntimeError, "must match the size of tensor"),
    ],
)
def test_t5_takes_prompts_and_prefixes(
    wrap: Any, method: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    tokens = TOKENS["t5"]
    with pytest.raises(error, match=message):
        wrap(new_model("t5", tmp_path / "t").net)(input_ids=tokens, attention_mask=tokens.ne(0))
    learns(tuned(new_model("t5", tmp_path / "o"), method, length=P), "t5")


def test_rows_of_t5_may_have_different_numbers_of_ends(tmp_path: Path) -> None:
    tokens = torch.tensor([[9, 8, 1, 6, 1], [5, 6, 1, 0, 0]])
    model = new_model("t5", tmp_path / "model")
    with pytest.raises(ValueError, match="must have the same number of <eos> tokens"):
        model.net(input_ids=tokens)
    alone = scores_of(model, tokens[1:, :3])
    torch.testing.assert_close(scores_of(model, tokens)[1:], alone, atol=1e-12, rtol=0)
