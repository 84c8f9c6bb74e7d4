"""Our BERT gives transformers' numbers: hidden states, scores and gradients, padding and types."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM, BertModel
from transformers import BertForSequenceClassification as TheirClassifier

from attnlab.attention.assemble import supporting
from attnlab.attention.contract import AttentionMask
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.models.bert import (
    Bert,
    BertForCLSMLM,
    BertForMaskedLanguageModel,
    BertForSequenceClassification,
)
from attnlab.models.bert_format import Pretrained, load_pretrained, read_bert, write_bert
from attnlab.models.bert_names import hub_name
from attnlab.models.sizes import BertSize

SIZE = BertSize(31, 12, 3, 2, 20, 11, dropout=0.0, attention_dropout=0.0)
CLASSES = 5


def their_config(**changes: object) -> BertConfig:
    return BertConfig(
        vocab_size=31,
        hidden_size=12,
        num_attention_heads=3,
        num_hidden_layers=2,
        intermediate_size=20,
        max_position_embeddings=11,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=CLASSES,
        attn_implementation="eager",
        **changes,
    )


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Three rows of 7 tokens, two of them shorter, with pairs."""
    torch.manual_seed(1)
    tokens = torch.randint(0, 31, (3, 7))
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 0], [0] * 7])
    padding = torch.arange(7) < torch.tensor([[7], [4], [2]])
    return tokens, types, padding


def copied(ours: nn.Module, theirs: nn.Module, folder: Path) -> nn.Module:
    """Write their model, as they do, and read it into ours."""
    theirs.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"word{i}\n" for i in range(31)))
    fresh = load_pretrained(ours, read_bert(folder))
    assert not fresh
    return ours.double()


def shaken(model: nn.Module) -> nn.Module:
    """Give every parameter, biases and gains too, another value than the initial one."""
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.float()


def close(ours: Tensor, theirs: Tensor, padding: Tensor | None = None) -> None:
    if padding is not None:
        ours, theirs = ours[padding], theirs[padding]
    torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)


def compare_gradients(ours: nn.Module, theirs: nn.Module) -> None:
    gradients = {name: p.grad for name, p in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        given = gradients.get(hub_name(name), gradients.get(hub_name(name).removeprefix("bert.")))
        assert given is not None, name
        assert parameter.grad is not None, name
        close(parameter.grad, given)


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_hidden_states_are_those_of_transformers(tmp_path: Path, activation: str) -> None:
    theirs = shaken(
        BertModel(their_config(hidden_act=activation), add_pooling_layer=False)
    ).double()
    theirs.float().save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("".join(f"word{i}\n" for i in range(31)))
    pretrained = read_bert(tmp_path)
    holder = nn.Module()
    holder.body = Bert(pretrained.size)
    assert not load_pretrained(holder, pretrained)
    tokens, types, padding = batch()
    theirs = theirs.double().eval()
    body = holder.body.double().eval()
    found = [body.embeddings(tokens, types)]
    for layer in body.layers:
        found.append(layer(found[-1], AttentionMask(padding=padding)))
    assert torch.equal(found[-1], body(tokens, types, padding))
    wanted = theirs(
        tokens, attention_mask=padding.long(), token_type_ids=types, output_hidden_states=True
    )
    assert len(found) == len(wanted.hidden_states) == 3
    for ours, state in zip(found, wanted.hidden_states, strict=True):
        close(ours, state, padding)


def test_class_scores_and_gradients_with_a_pooler_are_those_of_transformers(
    tmp_path: Path,
) -> None:
    theirs = shaken(TheirClassifier(their_config()))
    ours = copied(BertForSequenceClassification(SIZE, CLASSES, pooler=True), theirs, tmp_path)
    tokens, types, padding = batch()
    labels = torch.tensor([4, 0, 2])
    wanted = theirs.double().train()(
        tokens, attention_mask=padding.long(), token_type_ids=types, labels=labels
    )
    scores = ours.train()(tokens, types, padding)
    close(scores, wanted.logits)
    wanted.loss.backward()
    nn.functional.cross_entropy(scores, labels).backward()
    compare_gradients(ours, theirs)


def test_scores_behind_masks_and_gradients_are_those_of_transformers(tmp_path: Path) -> None:
    theirs = shaken(BertForMaskedLM(their_config()))
    ours = copied(BertForMaskedLanguageModel(SIZE), theirs, tmp_path)
    tokens, types, padding = batch()
    labels = torch.where(padding & (tokens % 3 == 0), tokens, -100)
    wanted = theirs.double().train()(
        tokens, attention_mask=padding.long(), token_type_ids=types, labels=labels
    )
    scores = ours.train()(tokens, types, padding)
    close(scores, wanted.logits, padding)
    wanted.loss.backward()
    nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten()).backward()
    compare_gradients(ours, theirs)


def test_the_first_token_alone_is_worked_out_to_the_same_numbers() -> None:
    torch.manual_seed(0)
    body = Bert(SIZE).double()
    shaken(body).double()
    tokens, types, padding = batch()
    whole = body(tokens, types, padding)[:, 0]
    close(body.summary(tokens, types, padding), whole)
    whole.square().sum().backward()
    wanted = [p.grad.clone() for p in body.parameters() if p.grad is not None]
    body.zero_grad()
    body.summary(tokens, types, padding).square().sum().backward()
    for parameter, gradient in zip(body.parameters(), wanted, strict=True):
        assert parameter.grad is not None
        close(parameter.grad, gradient)


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    model = BertForSequenceClassification(SIZE, CLASSES).double().eval()
    tokens, types, padding = batch()
    alone = torch.cat(
        [model(tokens[i : i + 1, :n], types[i : i + 1, :n]) for i, n in enumerate((7, 4, 2))]
    )
    close(model(tokens, types, padding), alone)


def test_both_heads_on_one_body_give_what_each_alone_gives() -> None:
    torch.manual_seed(0)
    joint = BertForCLSMLM(SIZE, CLASSES).double().eval()
    state = joint.state_dict()
    classifier = BertForSequenceClassification(SIZE, CLASSES).double().eval()
    classifier.load_state_dict({k: v for k, v in state.items() if not k.startswith("masked.")})
    filler = BertForMaskedLanguageModel(SIZE).double().eval()
    filler.load_state_dict({k: v for k, v in state.items() if not k.startswith("classifier.")})
    tokens, types, padding = batch()
    close(joint(tokens, types, padding), classifier(tokens, types, padding))
    hidden = joint.body(tokens, types, padding)
    close(joint.guess(hidden), filler(tokens, types, padding))


def test_a_row_longer_than_the_positions_is_refused() -> None:
    tokens = torch.zeros(1, 12, dtype=torch.long)
    with pytest.raises(UserError, match="12 tokens is longer than max_len = 11"):
        Bert(SIZE)(tokens, tokens)


def test_our_export_opens_in_transformers_with_equal_outputs_and_back(tmp_path: Path) -> None:
    torch.manual_seed(3)
    ours = shaken(BertForCLSMLM(SIZE, CLASSES, pooler=True)).eval()
    source = tmp_path / "source"
    source.mkdir()
    (source / "vocab.txt").write_text("".join(f"word{i}\n" for i in range(31)))
    pretrained = Pretrained(SIZE, {}, source, "")
    write_bert(ours, pretrained, tmp_path / "out", classes=["1", "2", "3", "4", "5"])
    tokens, types, padding = batch()
    theirs = TheirClassifier.from_pretrained(tmp_path / "out", attn_implementation="eager").eval()
    assert theirs.config.id2label == {i: str(i + 1) for i in range(5)}
    given = {"attention_mask": padding.long(), "token_type_ids": types}
    torch.testing.assert_close(
        ours(tokens, types, padding), theirs(tokens, **given).logits, atol=1e-5, rtol=1e-5
    )
    filler = BertForMaskedLM.from_pretrained(tmp_path / "out", attn_implementation="eager").eval()
    scores = ours.guess(ours.body(tokens, types, padding))[padding]
    torch.testing.assert_close(
        scores, filler(tokens, **given).logits[padding], atol=1e-5, rtol=1e-5
    )
    again = BertForCLSMLM(SIZE, CLASSES, pooler=True)
    assert not load_pretrained(again, read_bert(tmp_path / "out"))
    for name, value in again.state_dict().items():
        assert torch.equal(value, ours.state_dict()[name]), name


def test_without_a_pooler_the_export_is_no_classifier_of_transformers(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "vocab.txt").write_text("".join(f"word{i}\n" for i in range(31)))
    model = BertForSequenceClassification(SIZE, CLASSES)
    write_bert(model, Pretrained(SIZE, {}, source, ""), tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["architectures"] == ["BertModel"]
    assert not load_pretrained(model, read_bert(tmp_path / "out"))


@pytest.mark.data
@pytest.mark.parametrize("name", ["tinybert-4l-312", "bert-tiny-2l-128"])
def test_real_weights_give_transformers_numbers(data_folder: Path, name: str) -> None:
    folder = data_folder / "weights" / name
    pretrained = read_bert(folder)
    holder = nn.Module()
    holder.body = Bert(pretrained.size)
    assert not load_pretrained(holder, pretrained)
    theirs = BertModel.from_pretrained(
        folder, add_pooling_layer=False, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    torch.manual_seed(0)
    tokens = torch.randint(1000, 30000, (3, 17))
    types = (torch.arange(17) > 8).long().expand(3, 17)
    padding = torch.arange(17) < torch.tensor([[17], [9], [4]])
    wanted = theirs(tokens, attention_mask=padding.long(), token_type_ids=types).last_hidden_state
    found = holder.body.eval()(tokens, types, padding)
    torch.testing.assert_close(found[padding], wanted[padding], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", supporting("bidirectional"))
def test_bert_takes_every_attention_that_looks_both_ways(name: str) -> None:
    torch.manual_seed(0)
    model = BertForMaskedLanguageModel(SIZE, attention=AttentionSettings(name, positions="none"))
    model.double().eval()
    tokens, types, padding = batch()
    scores = model(tokens, types, padding)
    other = torch.where(padding, tokens, 3)  # padding holds something else
    torch.testing.assert_close(
        model(other, types, padding)[padding], scores[padding], atol=1e-12, rtol=0
    )
    summary = model.body.summary(tokens, types, padding)
    whole = model.body(tokens, types, padding)
    torch.testing.assert_close(summary, whole[:, 0], atol=1e-12, rtol=0)
    if name != "hard":  # whose weights are 0 or 1 and do not move a little
        later = tokens.clone()
        later[0, 6] = (later[0, 6] + 1) % 31
        moved = model(later, types, padding)[0, 0] - scores[0, 0]
        assert moved.abs().max() > 0, "the first token sees the last"


def test_an_attention_that_cannot_look_both_ways_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "from attnlab.attention.variants.dot_product import DotProduct\n"
        "class Forward(DotProduct):\n"
        "    supports = frozenset({'causal'})\n"
    )
    with pytest.raises(UserError, match=r"does not look both ways, as BERT's must. Those that do"):
        Bert(SIZE, attention=AttentionSettings(f"{own}:Forward", positions="none"))
    with pytest.raises(UserError, match=r"positions = 'rotary' is not possible: BERT has a table"):
        Bert(SIZE, attention=AttentionSettings(positions="rotary"))
