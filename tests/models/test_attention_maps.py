"""Where heads look: the numbers of the layers themselves and of transformers, mask and all."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnlab.attention import ATTENTION
from attnlab.attention.assemble import supports_of, variant_class
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.watching import watched_scores
from attnlab.errors import UserError
from attnlab.models.attention_maps import encoder_layers, gpt_layers
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.encoder import open_checkpoint
from attnlab.models.gpt import GPT
from attnlab.models.hub_classifier import HubClassifier
from attnlab.models.sizes import BertSize
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import apply_tuning
from small_hub import write_small_hub

VOCABULARY, T, H, L = 17, 7, 3, 2
NO_OPTIONS = [name for name in ATTENTION.names() if name != "custom"]
SHOWN = [name for name in NO_OPTIONS if "weights" in supports_of(variant_class(name))]


def gpt(name: str = "dot_product", positions: str = "learned") -> GPT:
    torch.manual_seed(0)
    attention = AttentionSettings(name, positions=positions)
    sizes = {"d_model": 12, "n_heads": H, "n_layers": L, "dropout": 0.0}
    return GPT(VOCABULARY, 9, attention=attention, **sizes).eval()


def tokens() -> Tensor:
    return torch.randint(VOCABULARY, (1, T), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
@pytest.mark.parametrize("name", SHOWN)
def test_weights_of_every_variant_are_those_that_the_model_gives(name: str) -> None:
    model = gpt(name)
    expected = model.attention_weights(tokens())
    layers = gpt_layers(model, tokens())
    assert [layer.name for layer in layers] == ["layer 1", "layer 2"]
    for layer, weights in zip(layers, expected, strict=True):
        heads = layer.heads()
        assert torch.equal(heads.weights, weights[0])
        assert (heads.scores is None) == (name in ("linear", "performer"))


@torch.no_grad()
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_the_softmax_of_the_scores_after_the_mask_is_the_weights(positions: str) -> None:
    model = gpt(positions=positions)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    for layer in gpt_layers(model, tokens()):
        heads = layer.heads()
        assert heads.scores is not None
        assert heads.masked is not None
        assert torch.isfinite(heads.scores).all()
        assert torch.equal(heads.masked == -torch.inf, future.expand(H, T, T))
        torch.testing.assert_close(heads.masked.softmax(-1), heads.weights)
        if positions != "alibi":
            assert torch.equal(heads.masked[:, ~future], heads.scores[:, ~future])


@torch.no_grad()
def test_a_mask_that_comes_too_late_hides_no_score() -> None:
    (layer, _) = gpt_layers(gpt("late_mask"), tokens())
    heads = layer.heads()
    assert heads.masked is not None
    assert torch.isfinite(heads.masked).all()
    assert not heads.weights.triu(1).any()


def test_an_attention_without_weights_says_so() -> None:
    with pytest.raises(UserError, match="AttentionFree of this model has no weights"):
        gpt_layers(gpt("aft"), tokens())


@torch.no_grad()
@pytest.mark.parametrize("method", ["prompt", "prefix"])
def test_learned_keys_come_first(method: str) -> None:
    model = gpt()
    apply_tuning(model, TuningSettings(method), seed=0)
    heads = gpt_layers(model, tokens())[0].heads()
    n_learned = heads.weights.shape[2] - T
    assert n_learned > 0
    assert torch.equal(heads.weights[:, -T:], model.attention_weights(tokens())[0][0])
    assert heads.masked is not None
    assert torch.isfinite(heads.masked[:, -T:, :n_learned]).all()


@torch.no_grad()
def test_our_bert_reads_as_it_does_and_every_query_of_the_last_layer_is_there() -> None:
    torch.manual_seed(0)
    size = BertSize(VOCABULARY, 12, H, L, 20, 9, dropout=0.0, attention_dropout=0.0)
    model = BertForSequenceClassification(size, 5).eval()
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1]])
    layers = encoder_layers(model, tokens(), types)
    assert len(layers) == L
    last = layers[-1].heads()
    assert last.weights.shape == (H, T, T)
    torch.testing.assert_close(last.weights.sum(-1), torch.ones(H, T))
    assert last.scores is not None
    torch.testing.assert_close(last.scores.softmax(-1), last.weights)
    assert not any(module._forward_pre_hooks for module in model.modules())


@pytest.fixture(params=["roberta", "distilbert", "t5", "electra"])
def hub(request: pytest.FixtureRequest, tmp_path: Path) -> HubClassifier:
    pytest.importorskip("transformers")
    torch.manual_seed(1)
    checkpoint = open_checkpoint(write_small_hub(tmp_path / "model", request.param))
    model, _ = checkpoint.new_model(["no", "yes"], pooler=False, fills_in=False)
    assert isinstance(model, HubClassifier)
    return model.eval()


def read_by(model: HubClassifier) -> tuple[Tensor, Tensor]:
    given = torch.randint(5, 40, (1, T), generator=torch.Generator().manual_seed(1))
    given[0, -1] = model.net.config.eos_token_id or 1
    return given, torch.zeros_like(given)


def theirs(model: HubClassifier, given: Tensor) -> list[Tensor]:
    """Return the weights that transformers gives, in the order of the layers."""
    net: Any = model.net
    before = net.config._attn_implementation
    net.set_attn_implementation("eager")
    out = net(input_ids=given, attention_mask=torch.ones_like(given), output_attentions=True)
    net.set_attn_implementation(before)
    if net.config.model_type != "t5":
        return list(out.attentions)
    pairs = zip(out.decoder_attentions, out.cross_attentions, strict=True)
    return [*out.encoder_attentions, *(one for pair in pairs for one in pair)]


@torch.no_grad()
def test_weights_of_transformers_are_theirs(hub: HubClassifier) -> None:
    given, types = read_by(hub)
    scores = hub(given, types)
    layers = encoder_layers(hub, given, types)
    assert torch.equal(hub(given, types), scores)  # it attends as before
    expected = theirs(hub, given)
    assert len(layers) == len(expected)
    for layer, weights in zip(layers, expected, strict=True):
        torch.testing.assert_close(layer.heads().weights, weights[0], atol=1e-6, rtol=0)
    if hub.net.config.model_type == "t5":
        assert [(one.name, one.queries, one.keys) for one in layers[2:4]] == [
            ("decoder 1", "decoder", "decoder"),
            ("decoder 1, to the text", "decoder", "text"),
        ]


def test_a_prefix_of_transformers_is_seen(tmp_path: Path) -> None:
    torch.manual_seed(1)
    checkpoint = open_checkpoint(write_small_hub(tmp_path / "model", "roberta"))
    model, _ = checkpoint.new_model(["no", "yes"], pooler=False, fills_in=False)
    apply_tuning(model.eval(), TuningSettings("prefix"), seed=0)
    assert isinstance(model, HubClassifier)
    given, types = read_by(model)
    with torch.no_grad():
        scores = model(given, types)
        heads = encoder_layers(model, given, types)[0].heads()
        assert heads.weights.shape[2] > T
        assert torch.equal(model(given, types), scores)


def test_nobody_watches_unless_asked() -> None:
    with watched_scores() as seen:
        pass
    gpt()(tokens())
    assert seen == []


class Silent(nn.Module):
    """An attention that declares nothing."""


def test_an_undeclared_attention_is_refused() -> None:
    model = gpt()
    for block in model.blocks:
        block.attn = Silent()
    with pytest.raises(UserError, match="the attention Silent of this model has no weights"):
        gpt_layers(model, tokens())
