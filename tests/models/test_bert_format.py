"""Checkpoints in the hub's layout: every way they come, and what is wrong with one, by name."""

import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from attnlab.errors import UserError
from attnlab.models.bert import (
    BertForCLSMLM,
    BertForMaskedLanguageModel,
    BertForSequenceClassification,
)
from attnlab.models.bert_format import is_lowercase, load_pretrained, read_bert
from attnlab.models.bert_names import hub_name
from small_bert import VOCABULARY, small_size, write_small_bert

Tensors = dict[str, Tensor]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_small_bert(tmp_path / "bert")


def rewrite(folder: Path, change: Callable[[Tensors], Tensors]) -> None:
    path = folder / "model.safetensors"
    safetensors.torch.save_file(change(safetensors.torch.load_file(path)), path)


def reconfigure(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def loaded(folder: Path) -> dict[str, Tensor]:
    model = BertForMaskedLanguageModel(small_size())
    assert not load_pretrained(model, read_bert(folder))
    return model.state_dict()


def same(first: Tensors, second: Tensors) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[n], second[n]) for n in first)


def body_without_prefix(tensors: Tensors) -> Tensors:
    return {name.removeprefix("bert."): value for name, value in tensors.items()}


def old_norms(tensors: Tensors) -> Tensors:
    def old(name: str) -> str:
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        )

    return {old(name): value for name, value in tensors.items()}


def with_what_is_not_used(tensors: Tensors) -> Tensors:
    return tensors | {
        "bert.embeddings.position_ids": torch.arange(20)[None],
        "cls.seq_relationship.weight": torch.zeros(2, 24),
        "fit_dense.weight": torch.zeros(24, 24),
        "fit_denses.0.bias": torch.zeros(24),
    }


def with_the_decoder(tensors: Tensors) -> Tensors:
    return tensors | {
        "cls.predictions.decoder.weight": tensors["bert.embeddings.word_embeddings.weight"].clone(),
        "cls.predictions.decoder.bias": tensors["cls.predictions.bias"].clone(),
    }


@pytest.mark.parametrize(
    "change", [body_without_prefix, old_norms, with_what_is_not_used, with_the_decoder]
)
def test_every_way_of_writing_the_same_weights_is_read(
    folder: Path, change: Callable[[Tensors], Tensors]
) -> None:
    wanted = loaded(folder)
    rewrite(folder, change)
    assert same(loaded(folder), wanted)


def test_a_pickled_file_is_read_and_nothing_in_it_executed(folder: Path) -> None:
    wanted = loaded(folder)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(tensors, folder / "pytorch_model.bin")
    assert same(loaded(folder), wanted)

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (folder / "executed",))

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Evil()}))
    with pytest.raises(UserError, match="nothing in it was executed"):
        read_bert(folder)
    assert not (folder / "executed").exists()


def test_half_precision_is_read_as_single(folder: Path) -> None:
    rewrite(folder, lambda tensors: {n: v.half() for n, v in tensors.items()})
    assert {v.dtype for v in read_bert(folder).tensors.values()} == {torch.float32}


def test_heads_that_are_not_there_are_named_and_begun_afresh(folder: Path) -> None:
    model = BertForCLSMLM(small_size(), 5, pooler=True)
    before = model.classifier.weight.clone()
    fresh = load_pretrained(model, read_bert(folder))
    assert sorted(fresh) == [
        "body.pooler.bias",
        "body.pooler.weight",
        "classifier.bias",
        "classifier.weight",
    ]
    assert torch.equal(model.classifier.weight, before)


def test_a_classifier_for_other_classes_is_begun_afresh(folder: Path) -> None:
    rewrite(
        folder,
        lambda t: t | {"classifier.weight": torch.zeros(3, 24), "classifier.bias": torch.zeros(3)},
    )
    model = BertForSequenceClassification(small_size(), 5)
    assert load_pretrained(model, read_bert(folder)) == ["classifier.weight", "classifier.bias"]
    three = BertForSequenceClassification(small_size(), 3)
    assert not load_pretrained(three, read_bert(folder))
    assert not three.classifier.weight.any()


def test_a_missing_tensor_is_named(folder: Path) -> None:
    gone = "bert.encoder.layer.1.output.dense.weight"
    rewrite(folder, lambda t: {n: v for n, v in t.items() if n != gone})
    with pytest.raises(UserError, match=f"lacks 1 of the model's tensors: {gone}"):
        loaded(folder)


def test_a_tensor_that_has_no_place_is_named(folder: Path) -> None:
    rewrite(folder, lambda t: t | {"bert.encoder.layer.0.lora_a.weight": torch.zeros(2)})
    with pytest.raises(UserError, match=r"no place in a BERT: bert\.encoder\.layer\.0\.lora_a"):
        read_bert(folder)


def test_a_decoder_that_is_not_the_table_of_tokens_is_refused(folder: Path) -> None:
    rewrite(folder, lambda t: t | {"cls.predictions.decoder.weight": torch.zeros(3, 3)})
    with pytest.raises(UserError, match=r"cls\.predictions\.decoder\.weight"):
        read_bert(folder)


def test_layers_that_the_configuration_does_not_know_are_refused(folder: Path) -> None:
    reconfigure(folder, num_hidden_layers=1)
    with pytest.raises(UserError, match="num_hidden_layers = 1, but the weights have layer 1"):
        read_bert(folder)


def test_another_shape_is_named(folder: Path) -> None:
    reconfigure(folder, intermediate_size=41)
    model = BertForMaskedLanguageModel(small_size(d_mlp=41))
    with pytest.raises(UserError, match=r"has the shape \[.*40.*\],\s+but config.json asks for"):
        load_pretrained(model, read_bert(folder))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "model_type is 'roberta'"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        ({"is_decoder": True}, "is_decoder is True"),
        ({"hidden_size": None}, "does not say hidden_size"),
        ({"hidden_size": -3}, "config.json, hidden_size: d_model = -3 is not possible"),
        ({"hidden_act": "swish"}, "config.json, hidden_act: activation = 'swish' is not possible"),
        ({"num_attention_heads": 7}, "d_model = 24 does not divide into n_heads = 7"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_configuration_that_is_not_ours_is_refused(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    reconfigure(folder, **changes)
    with pytest.raises(UserError, match=message):
        read_bert(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "config.json"),
        ("vocab.txt", "has no vocab.txt"),
        ("model.safetensors", "neither model.safetensors nor pytorch_model.bin"),
    ],
)
def test_a_missing_file_is_named(folder: Path, name: str, message: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UserError, match=message):
        read_bert(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder .*nowhere"):
        read_bert(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_the_weights_are_read_once_and_the_hash_is_of_what_was_read(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "pytorch_model.bin":
        torch.save(safetensors.torch.load_file(folder / "model.safetensors"), folder / name)
        (folder / "model.safetensors").unlink()
    parts = [(folder / file).read_bytes() for file in ("config.json", "vocab.txt", name)]
    opened: list[str] = []
    read = Path.read_bytes

    def noted(path: Path) -> bytes:
        opened.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    assert read_bert(folder).sha256 == hashlib.sha256(b"".join(parts) + b"True").hexdigest()
    assert opened.count(name) == 1


def test_a_checkpoint_lets_go_of_what_is_not_needed_again(folder: Path) -> None:
    whole = read_bert(folder)
    less = whole.released()
    assert not less.tensors
    assert replace(less, tensors=whole.tensors) == whole


def test_other_weights_have_another_hash(folder: Path) -> None:
    before = read_bert(folder).sha256
    rewrite(folder, lambda t: {n: v + 1 for n, v in t.items()})
    assert read_bert(folder).sha256 != before


def test_the_case_of_the_words_is_what_the_checkpoint_says(folder: Path) -> None:
    assert is_lowercase(folder)
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert not is_lowercase(folder)
    (folder / "tokenizer_config.json").write_text("{}")
    assert is_lowercase(folder)
    (folder / "tokenizer_config.json").unlink()
    assert is_lowercase(folder)
    with (folder / "vocab.txt").open("a") as file:
        file.write("Paris\n")
    assert not is_lowercase(folder)


@pytest.mark.parametrize("said", ['"false"', "0", "[]"])
def test_a_case_that_is_neither_true_nor_false_is_refused(folder: Path, said: str) -> None:
    (folder / "tokenizer_config.json").write_text(f'{{"do_lower_case": {said}}}')
    with pytest.raises(UserError, match=r"tokenizer_config\.json: do_lower_case is .* write true"):
        read_bert(folder)


def test_names_are_translated() -> None:
    assert hub_name("body.layers.11.attn.proj.bias") == (
        "bert.encoder.layer.11.attention.output.dense.bias"
    )
    assert hub_name("masked.bias") == "cls.predictions.bias"


def test_the_vocabulary_is_copied(folder: Path) -> None:
    assert (folder / "vocab.txt").read_text().split() == VOCABULARY


@pytest.mark.parametrize(
    "key", ["hidden_size", "vocab_size", "intermediate_size", "max_position_embeddings"]
)
def test_a_configuration_that_no_memory_can_hold_is_refused(folder: Path, key: str) -> None:
    reconfigure(folder, **{key: 12 * 10**15})
    with pytest.raises(
        UserError, match=rf"config\.json: a model of .*{key} = 12000000000000000.* needs about"
    ):
        read_bert(folder)


def test_more_layers_than_any_model_has_are_refused(folder: Path) -> None:
    reconfigure(folder, num_hidden_layers=10**9)
    with pytest.raises(UserError, match=r"num_hidden_layers.*less than or equal to 1000"):
        read_bert(folder)
