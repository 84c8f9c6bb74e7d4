"""Models of transformers through our interface: number by number what they are there."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlab.data.text_batches import TextRow, collate_texts
from attnlab.errors import UserError
from attnlab.models.encoder import EncoderCheckpoint, open_checkpoint
from attnlab.models.hub_classifier import FAMILIES, HubClassifier
from small_hub import TEXTS, TOKENIZERS, write_small_hub

transformers = pytest.importorskip("transformers")

CLASSES = ["no", "perhaps", "yes"]
KINDS = [*FAMILIES, "electra"]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_small_hub(tmp_path / "model", request.param)


def opened(folder: Path) -> tuple[EncoderCheckpoint, HubClassifier]:
    torch.manual_seed(1)
    checkpoint = open_checkpoint(folder)
    model, _ = checkpoint.new_model(CLASSES, pooler=False, fills_in=False)
    assert isinstance(model, HubClassifier)
    return checkpoint, model.eval()


def rows(checkpoint: EncoderCheckpoint, *, pairs: bool) -> list[TextRow]:
    tokenizer = checkpoint.read_tokenizer()
    found = []
    for i, text in enumerate(TEXTS):
        pair = TEXTS[i - 1][: 5 * i + 4] if pairs else None
        found.append(TextRow(str(i), *tokenizer.row(text, pair, max_len=24), [i % 3]))
    return found


@pytest.mark.parametrize("pairs", [False, True], ids=["texts", "pairs"])
def test_scores_and_gradients_are_those_of_transformers(folder: Path, pairs: bool) -> None:
    checkpoint, model = opened(folder)
    model.double()
    batch = collate_texts(rows(checkpoint, pairs=pairs))
    assert batch.padding is not None
    ours = model(batch.tokens, batch.types, batch.padding)
    ours.square().sum().backward()
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    there = transformers.AutoTokenizer.from_pretrained(folder)
    second = [TEXTS[i - 1][: 5 * i + 4] for i in range(len(TEXTS))] if pairs else None
    read = there(TEXTS, second, max_length=24, truncation=True, padding=True, return_tensors="pt")
    theirs = model.net(**read).logits
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)
    theirs.square().sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-12, rtol=0)


def test_tokens_are_spelled_as_in_the_vocabulary_and_only_some_come_from_no_text(
    folder: Path,
) -> None:
    tokenizer = open_checkpoint(folder).read_tokenizer()
    row = tokenizer.row("the food 中", max_len=24).tokens
    there = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.pieces(row) == there.convert_ids_to_tokens(row)
    only_text = there("the food 中", add_special_tokens=False)["input_ids"]
    assert [token for token in row if token not in tokenizer.framing_ids] == only_text


def test_a_batch_is_its_rows(folder: Path) -> None:
    checkpoint, model = opened(folder)
    model.double()
    some = rows(checkpoint, pairs=False)
    together = collate_texts(some)
    scores = model(together.tokens, together.types, together.padding)
    for row, expected in zip(some, scores, strict=True):
        alone = collate_texts([row])
        found = model(alone.tokens, alone.types, alone.padding)[0]
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_what_is_written_opens_in_transformers_and_here_with_equal_scores(
    folder: Path, tmp_path: Path
) -> None:
    checkpoint, model = opened(folder)
    out = tmp_path / "out"
    checkpoint.released().write(model, out, classes=CLASSES)
    batch = collate_texts(rows(checkpoint, pairs=False))
    scores = model(batch.tokens, batch.types, batch.padding)
    again, fresh = open_checkpoint(out).new_model(CLASSES, pooler=False, fills_in=False)
    assert not fresh
    assert open_checkpoint(out).classes == tuple(CLASSES)
    assert torch.equal(again.eval()(batch.tokens, batch.types, batch.padding), scores)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(out).eval()
    read = transformers.AutoTokenizer.from_pretrained(out)(
        TEXTS, max_length=24, truncation=True, padding=True, return_tensors="pt"
    )
    torch.testing.assert_close(theirs(**read).logits, scores)
    assert list(theirs.config.id2label.values()) == CLASSES


def test_a_head_for_other_classes_is_new_and_a_body_must_be_whole(
    folder: Path, tmp_path: Path
) -> None:
    checkpoint, model = opened(folder)
    out = tmp_path / "out"
    checkpoint.write(model, out, classes=CLASSES)
    _, fresh = open_checkpoint(out).new_model(["no", "yes"], pooler=False, fills_in=False)
    assert fresh
    assert {name.split(".")[0] for name in fresh} <= {
        *("classifier", "pre_classifier", "classification_head")
    }
    tensors = load_file(out / "model.safetensors")
    gone = next(name for name in tensors if "layer" in name or "block" in name)
    save_file({n: t for n, t in tensors.items() if n != gone}, out / "model.safetensors")
    if checkpoint.folder and model.family:
        with pytest.raises(UserError, match=f"lacks 1 of the model's tensors: {gone}"):
            open_checkpoint(out).new_model(CLASSES, pooler=False, fills_in=False)


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_in_a_text_are_only_text(kind: str, tmp_path: Path) -> None:
    tokenizer = open_checkpoint(write_small_hub(tmp_path / "m", kind)).read_tokenizer()
    there = TOKENIZERS[kind]()
    end = there.sep_token or there.eos_token
    tokens, types = tokenizer.row(f"fine {end} food", max_len=30)
    (special,) = there.convert_tokens_to_ids([end])
    assert tokens.count(special) == 1
    assert len(types) == len(tokens)


def test_longest_rows_are_those_that_the_table_of_positions_has(tmp_path: Path) -> None:
    assert open_checkpoint(write_small_hub(tmp_path / "r", "roberta")).max_len == 32
    assert open_checkpoint(write_small_hub(tmp_path / "d", "distilbert")).max_len == 32
    assert open_checkpoint(write_small_hub(tmp_path / "t", "t5")).max_len is None


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = write_small_hub(tmp_path / "m", "roberta")
    TOKENIZERS["distilbert"]().save_pretrained(folder)
    with pytest.raises(UserError, match=r"pad_token_id = 1, the tokenizer 0: they do not belong"):
        open_checkpoint(folder).read_tokenizer()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 50}))
    with pytest.raises(UserError, match=r"has \d+ tokens, but the embedding table has 50 rows"):
        open_checkpoint(folder).read_tokenizer()


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    folder = write_small_hub(tmp_path / "m", "distilbert")
    checkpoint = open_checkpoint(folder)
    with pytest.raises(UserError, match="pooler = true is for BERT"):
        checkpoint.new_model(CLASSES, pooler=True, fills_in=False)
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(UserError, match="has no tokenizer that transformers can read"):
        open_checkpoint(folder).read_tokenizer()
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match="holds no weights"):
        open_checkpoint(folder)
    (folder / "config.json").write_text('{"model_type": "nosuch"}')
    with pytest.raises(UserError, match=r"config.json is refused by transformers: .*nosuch"):
        open_checkpoint(folder)
    (folder / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(UserError, match="has no classifier of the kind 'clip'"):
        open_checkpoint(folder)


def test_a_size_that_cannot_be_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    folder = write_small_hub(tmp_path / "m", "roberta")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 10**9}))
    with pytest.raises(UserError, match="num_hidden_layers = 1000000000"):
        open_checkpoint(folder)
