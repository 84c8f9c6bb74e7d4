"""What does not belong together is refused by `classify train` before step 1, both sides named."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlab.models import hub_classifier
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.bert_format import Pretrained, write_bert
from attnlab.models.encoder import open_checkpoint
from commands_here import Outcome, attnlab_in
from small_bert import VOCABULARY, small_size, write_reviews, write_small_bert
from small_hub import TOKENIZERS, write_small_hub

SHORT = ["--length", "2 steps", "--set=training.threads=1", "--batch-size", "20"]
STARS = ["1", "2", "3", "4", "5"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_reviews(tmp_path, train=20, dev=10)
    return tmp_path


def train(folder: Path, *words: str, max_len: int = 16) -> Outcome:
    given = ["train.csv", "--dev", "dev.csv", "--max-len", str(max_len), "--name", "run"]
    return attnlab_in(folder, "classify", "train", *given, *SHORT, *words)


def refused(folder: Path, *words: str, max_len: int = 16, code: int = 2) -> str:
    """Return why training is refused; check that it has not begun."""
    done = train(folder, *words, max_len=max_len)
    assert done.code == code, done
    metrics = folder / "runs" / "run" / "metrics.jsonl"
    assert not metrics.is_file() or not metrics.read_text()
    return " ".join(done.err.split())


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# --- tokenizers ---


@pytest.mark.parametrize("more", [-2, 3], ids=["smaller", "larger"])
def test_a_vocabulary_of_another_size(folder: Path, more: int) -> None:
    write_small_bert(folder / "bert")
    words = [*VOCABULARY, "x", "y", "z"][: len(VOCABULARY) + more]
    (folder / "bert" / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    said = refused(folder, "--model", "bert")
    assert f"vocab.txt has {22 + more} tokens, but the embedding table has 22 rows" in said


def test_a_tokenizer_of_another_kind(folder: Path) -> None:
    write_small_hub(folder / "roberta", "roberta")
    TOKENIZERS["distilbert"]().save_pretrained(folder / "roberta")
    said = refused(folder, "--model", "roberta")
    assert "config.json has pad_token_id = 1, the tokenizer 0: they do not belong together" in said


def test_a_tokenizer_with_more_tokens_than_the_table(folder: Path) -> None:
    write_small_hub(folder / "t5", "t5")
    edit(folder / "t5" / "config.json", vocab_size=40)
    said = refused(folder, "--model", "t5")
    n_tokens = len(TOKENIZERS["t5"]())
    assert f"t5 has {n_tokens} tokens, but the embedding table has 40 rows" in said


# --- classes ---


def test_a_label_that_train_has_not(folder: Path) -> None:
    write_small_bert(folder / "bert")
    (folder / "dev.csv").write_text("1,awful\n6,beyond superb\n")
    said = refused(folder, "--model", "bert")
    assert "dev.csv" in said
    assert "line 2: the label '6' is not one of the 5 classes: 1, 2, 3, 4, 5" in said


def with_classifier(folder: Path, kind: str, classes: list[str]) -> Path:
    """Write a model that classifies."""
    torch.manual_seed(0)
    if kind == "bert":
        write_small_bert(folder / "plain")
        model = BertForSequenceClassification(small_size(), len(classes))
        start = Pretrained(small_size(), {}, folder / "plain", "")
        write_bert(model, start, folder / "model", classes=classes)
        return folder / "model"
    checkpoint = open_checkpoint(write_small_hub(folder / "plain", kind))
    net, _ = checkpoint.new_model(classes, pooler=False, fills_in=False)
    checkpoint.write(net, folder / "model", classes=classes)
    return folder / "model"


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_classifier_that_is_not_the_one_config_json_describes(kind: str, folder: Path) -> None:
    model = with_classifier(folder, kind, ["a", "b", "c"])
    names = {str(i): name for i, name in enumerate(STARS)}
    edit(model / "config.json", id2label=names, label2id={n: int(i) for i, n in names.items()})
    said = refused(folder, "--model", "model")
    assert "has the shape [3" in said
    assert "but config.json asks for [5" in said


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_classifier_for_other_classes_gives_way_to_a_new_one_and_the_run_says_so(
    kind: str, folder: Path
) -> None:
    with_classifier(folder, kind, ["bad", "fine", "good"])
    done = train(folder, "--model", "model")
    assert done.code == 0, done
    said = " ".join(done.err.split())
    assert "model has the classes ['bad', 'fine', 'good'], the texts ['1', '2', '3', '4', '5']" in (
        said
    )


# --- what tuning has added ---


@pytest.mark.parametrize("method", ["lora", "prompt"])
def test_a_model_that_is_not_whole_without_what_tuning_added(method: str, folder: Path) -> None:
    write_small_bert(folder / "bert")
    words = ["--tuning", method, "--set=tuning.merge=false"]
    assert train(folder, "--model", "bert", *words).code == 0
    (folder / "runs" / "run").rename(folder / "first")
    said = refused(folder, "--model", "first/model")
    assert "first/model has tuning.safetensors: what prompt, prefix, lora or ia3 has added" in said


def test_a_run_does_not_go_on_with_another_base(folder: Path) -> None:
    weights = write_small_bert(folder / "bert") / "model.safetensors"
    words = ["--model", "bert", "--tuning", "lora"]
    assert train(folder, *words).code == 0
    (folder / "runs" / "run" / "record.json").unlink()
    tensors = load_file(weights)
    next(iter(tensors.values())).view(-1)[0] += 1e-3
    save_file(tensors, weights)
    done = train(folder, *words)
    assert done.code == 2
    assert "bert has changed since run was begun, so the run cannot resume" in done.err


def test_additions_of_another_base_are_not_put_on_a_model(folder: Path) -> None:
    """The run's manifest tells; without one, the shapes do."""
    runs = {}
    for name, width in (("small", 24), ("large", 36)):
        write_small_bert(folder / name, d_model=width)
        assert train(folder, "--model", name, "--tuning", "prompt").code == 0
        (folder / "runs" / "run").rename(folder / "runs" / name)
        runs[name] = folder / "runs" / name
    added = (runs["large"] / "model" / "tuning.safetensors").read_bytes()
    (runs["small"] / "model" / "tuning.safetensors").write_bytes(added)
    done = attnlab_in(folder, "classify", "predict", "runs/small", "dev.csv")
    assert done.code != 0
    assert "tuning.safetensors" in done.err


def test_an_adapter_of_peft(folder: Path) -> None:
    write_small_bert(folder / "bert")
    (folder / "bert" / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "base_model_name_or_path": "google-bert/bert-base"})
    )
    said = refused(folder, "--model", "bert")
    assert "bert has an adapter of peft, made for the model 'google-bert/bert-base'" in said


# --- positions ---


@pytest.mark.parametrize(
    ("kind", "positions", "method"),
    [("bert", 20, "prompt"), ("roberta", 32, "prefix"), ("distilbert", 32, "prompt")],
)
def test_texts_longer_than_the_positions_beside_a_prompt_or_prefix(
    kind: str, positions: int, method: str, folder: Path
) -> None:
    """A prompt or prefix takes none of them."""
    write_small_bert(folder / kind) if kind == "bert" else write_small_hub(folder / kind, kind)
    long = " ".join(["food"] * 40)
    (folder / "train.csv").write_text("".join(f"{star},{long}\n" for star in STARS))
    words = ["--model", kind, "--tuning", method, "--set=tuning.options.length=9"]
    said = refused(folder, *words, max_len=positions + 1)
    assert f"max_len = {positions + 1} is more than the {positions} positions of " in said
    done = train(folder, *words, max_len=positions)
    assert done.code == 0, done


# --- heads ---


def half_a_head(net: Any, summary: torch.Tensor) -> torch.Tensor:
    return net.classification_head.out_proj(summary)


def detached(self: Any, summary: torch.Tensor) -> torch.Tensor:
    return self.classifier(self.body.pool(summary)).detach()


@pytest.mark.parametrize("method", ["full", "head", "lora", "prompt"])
def test_a_head_without_a_gradient(
    method: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants: scores that leave a layer of the head out, and scores without a gradient."""
    write_small_hub(folder / "t5", "t5")
    family = hub_classifier.FAMILIES["t5"]
    monkeypatch.setitem(
        hub_classifier.FAMILIES,
        "t5",
        hub_classifier.Family(family.summary, half_a_head, family.heads, family.output),
    )
    said = refused(folder, "--model", "t5", "--tuning", method, code=1)
    assert "no gradient reaches net.classification_head.dense.bias" in said
    write_small_bert(folder / "bert")
    monkeypatch.setattr(BertForSequenceClassification, "tell", detached)
    said = refused(folder, "--model", "bert", "--tuning", method, code=1)
    assert "no gradient reaches classifier.bias, classifier.weight of the classifier's head" in said
