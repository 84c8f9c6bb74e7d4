"""*boolq* 3.8 and its fine-tuning with few parameters: the formulas, counted on real architectures.

The models have the sizes of the released ones, but no storage, so nothing is loaded.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.sizes import BertSize
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import apply_tuning

PAGE = Path(__file__).parents[2] / "docs" / "answers" / "boolq.md"
BASE = {"d": 768, "L": 12, "V": 30522, "T": 512, "k": 2}
LARGE = BASE | {"d": 1024, "L": 24}
ROBERTA = {"V": 50265, "T": 514, "k": 1}
MODELS: dict[str, dict[str, int]] = {
    "distilbert-base-uncased": BASE | {"L": 6, "k": 0},
    "bert-base-uncased": BASE,
    "bert-large-uncased": LARGE,
    "bert-large-cased": LARGE | {"V": 28996},
    "roberta-base": BASE | ROBERTA,
    "roberta-large": LARGE | ROBERTA,
}
EVERY = pytest.mark.parametrize("name", MODELS)


def shown(name: str) -> list[int]:
    """Return the numbers that the page gives for a model: d, body, head, prompt."""
    (row,) = re.findall(rf"^\| {name} \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [int(number.replace(",", "")) for number in row.split(" | ")]


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def config(name: str) -> Any:
    from transformers import AutoConfig

    kind, size = name.partition("-")[0], MODELS[name]
    d, heads = size["d"], size["d"] // 64
    if kind == "distilbert":
        sizes = {"dim": d, "n_layers": size["L"], "n_heads": heads, "hidden_dim": 4 * d}
    else:
        sizes = {
            "hidden_size": d, "num_hidden_layers": size["L"], "num_attention_heads": heads,
            "intermediate_size": 4 * d, "type_vocab_size": size["k"],
        }  # fmt: skip
    return AutoConfig.for_model(
        kind, vocab_size=size["V"], max_position_embeddings=size["T"], **sizes
    )


@EVERY
def test_the_body_has_the_parameters_of_the_formula(name: str) -> None:
    from transformers import AutoModel

    d, L, V, T, k = (MODELS[name][symbol] for symbol in "dLVTk")
    m = 4 * d
    formula = V * d + T * d + k * d + 2 * d + L * (4 * d * d + 2 * d * m + 9 * d + m)
    pooler = {} if name.startswith("distil") else {"add_pooling_layer": False}
    with torch.device("meta"):
        body = AutoModel.from_config(config(name), **pooler)
    assert count(body) == formula
    assert shown(name) == [d, formula, 2 * d + 2, 130 * d + 2]


@EVERY
def test_heads_have_the_parameters_of_the_formulas(name: str) -> None:
    from transformers import AutoModelForSequenceClassification

    d = MODELS[name]["d"]
    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(config(name))
    head = count(model) - count(model.base_model)
    is_berts = name.startswith("bert")
    assert head == (2 * d + 2 if is_berts else d * d + 3 * d + 2)
    assert 768 * 768 + 3 * 768 + 2 == 592_130


def n_trained(method: str, **options: Any) -> int:
    """Return how many parameters of a BERT-base a method trains, as the model has them."""
    with torch.device("meta"):
        model = BertForSequenceClassification(BertSize(), n_classes=2)
        tuned = apply_tuning(model, TuningSettings(method, options), seed=0)
    return sum(parameter.numel() for parameter in tuned.state().values())


def test_prompts_and_prefixes_have_the_parameters_of_the_formulas() -> None:
    assert n_trained("head") == 2 * 768 + 2 == 1538
    assert n_trained("prompt", length=128) == 130 * 768 + 2 == 99_842
    assert n_trained("prefix", length=128) == 256 * 12 * 768 + 2 * 768 + 2 == 2_360_834
