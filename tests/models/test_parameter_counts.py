"""The size of a model is known before it is made."""

from dataclasses import replace

import pytest
from torch import nn

from attnlab.attention import ATTENTION
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.models.bert import Bert
from attnlab.models.gpt import GPT
from attnlab.models.parameter_counts import bert_parameters, gpt_parameters, need_memory_for
from attnlab.models.sizes import SIZES, BertSize, ModelSettings, NGramTableSize

SMALL = ModelSettings(48, 6, 3, ngram_table=NGramTableSize(rows=101))


def n_parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("positions", ["learned", "rotary", "none"])
def test_every_parameter_of_a_gpt_is_counted(positions: str) -> None:
    size = replace(SMALL, attention=AttentionSettings(positions=positions))
    counted = gpt_parameters(size, vocab_size=71, max_len=20)
    assert sum(counted.values()) == n_parameters(GPT(71, 20, **vars(size)))


@pytest.mark.parametrize("attention", ATTENTION.names())
def test_other_attention_is_counted_roughly(attention: str) -> None:
    size = replace(SIZES["small"], attention=AttentionSettings(attention, positions="none"))
    size = replace(size, ngram_table=NGramTableSize())
    counted = sum(gpt_parameters(size, vocab_size=300, max_len=32).values())
    assert counted == pytest.approx(n_parameters(GPT(300, 32, **vars(size))), rel=0.25)


def test_every_parameter_of_a_bert_is_counted() -> None:
    size = BertSize(101, 24, 4, 3, 50, 30)
    assert sum(bert_parameters(size).values()) == n_parameters(Bert(size))


@pytest.mark.parametrize(
    ("size", "culprit"),
    [
        (replace(SMALL, d_model=10**8), "n_layers = 3 with d_model = 100000000"),
        (replace(SMALL, d_model=10**400), "n_layers = 3 with d_model = 1000"),
        (
            replace(SMALL, ngram_table=NGramTableSize(rows=10**11)),
            "ngram_table.rows = 100000000000 with d_model = 48",
        ),
    ],
)
def test_a_model_that_cannot_be_is_refused_by_its_largest_part(
    size: ModelSettings, culprit: str
) -> None:
    parameters = gpt_parameters(size, vocab_size=2048, max_len=128)
    with pytest.raises(UserError, match=rf"x: a model of {culprit}.*, to train, needs about"):
        need_memory_for(parameters, trains=True, origin="x")


def test_training_needs_four_times_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.runs.memory.free_memory_bytes", lambda: 1000 * 15)
    need_memory_for({"one": 1000}, trains=False, origin="x")
    with pytest.raises(UserError, match=r"needs about 15\.6 KiB of memory, but 14\.6 KiB are free"):
        need_memory_for({"one": 1000}, trains=True, origin="x")
