"""Every method, for BERT and GPT: how much it trains, what moves, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from tunable import CASES, FAMILIES, MODELS, bert, gpt, outputs, shaken, task_of, trained, tune

from attnlab.errors import RunError, UserError
from attnlab.models.bert import BertForCLSMLM, BertForMaskedLanguageModel
from attnlab.models.bert import BertForSequenceClassification as Classifier
from attnlab.models.sizes import BertSize
from attnlab.tuning import TUNING
from attnlab.tuning.adapted import AdaptedLinear
from attnlab.tuning.counting import Count, head_count
from attnlab.tuning.ia3 import IA3Linear
from attnlab.tuning.lora import LoRALinear
from attnlab.tuning.movement import check_movement, fingerprints
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import apply_tuning, freeze

MERGED = [(family, method) for family in FAMILIES for method in ("lora", "ia3")]
MINILM = BertSize(10, 384, 12, 6, 1536, 512)
"""But for the vocabulary, on which none of the numbers depends."""
SMALL = BertSize(31, 12, 3, 2, 20, 11)


@pytest.mark.parametrize(("family", "method"), CASES)
def test_the_formula_gives_the_number_of_trainable_parameters(family: str, method: str) -> None:
    tuned = tune(MODELS[family](), method)
    named = dict(tuned.model.named_parameters())
    actual = {name for name, p in named.items() if p.requires_grad}
    assert actual == tuned.trainable.names == tuned.state().keys()
    assert tuned.n_trainable == sum(named[name].numel() for name in actual)
    said = f"tuning {method}: {tuned.trainable.count} = {tuned.n_trainable:,} of "
    assert tuned.describe().startswith(said)
    assert ("classifier.weight" in actual) == (family == "bert"), "a new head is always trained"


@pytest.mark.parametrize(
    ("method", "options", "formula", "value"),
    [
        ("head", {}, "2·d + 2", 770),
        ("lora", {}, "4·L·r·d + 2·d + 2", 74_498),
        ("ia3", {}, "2·L·d + L·m + 2·d + 2", 14_594),
        ("ia3", {"targets": ["key", "value", "proj", "down"]}, "3·L·d + L·m + 2·d + 2", 16_898),
        ("prompt", {"length": 10}, "P·d + 2·d + 2", 4_610),
        ("prompt", {"length": 128}, "P·d + 2·d + 2", 130 * 384 + 2),
        ("prefix", {"length": 10}, "2·L·P·d + 2·d + 2", 46_850),
        ("bitfit", {}, "7·L·d + L·m + 3·d + 2", 26_498),
        ("bitfit", {"norms": True}, "9·L·d + L·m + 4·d + 2", 31_490),
        ("projections", {}, "2·L·d² + 2·L·d + 2·d + 2", 1_774_850),
        ("projections", {"targets": ["up"]}, "L·d·m + L·m + 2·d + 2", 3_548_930),
    ],
)
def test_a_minilm_has_the_published_numbers(
    method: str, options: dict[str, Any], formula: str, value: int
) -> None:
    tuned = apply_tuning(Classifier(MINILM, 2), TuningSettings(method, options), seed=0)
    assert (str(tuned.trainable.count), tuned.n_trainable) == (formula, value)
    assert "d = 384" in tuned.describe()


@pytest.mark.parametrize("method", TUNING.names())
def test_a_pooler_and_a_head_for_masked_tokens_are_heads(method: str) -> None:
    pooled = tune(bert(pooler=True), method)
    more = pooled.n_trainable - tune(bert(), method).n_trainable
    assert more == 12**2 + 12
    assert pooled.trainable.names >= {"body.pooler.weight", "body.pooler.bias"}
    if method != "head":
        joint = tune(BertForCLSMLM(SMALL, 5), method)
        assert joint.n_trainable == tune(bert(), method).n_trainable + 12**2 + 3 * 12 + 31


def test_a_formula_is_written_as_it_was_read_with_like_terms_together() -> None:
    assert str(Count("2·L·P·d") + Count("d") + Count("3·d + 4")) == "2·L·P·d + 4·d + 4"
    assert str(Count("L·d²") + Count("2·L·d·d")) == "3·L·d²"
    assert str(Count()) == "0"
    assert Count("2·L·d² + V + 1").value({"L": 3, "d": 5, "V": 7}) == 158
    assert str(head_count(2, dense=True)) == "d² + 3·d + 2"
    with pytest.raises(AssertionError, match="'d4' in the count 'L·d4' is neither"):
        Count("L·d4")


@pytest.mark.parametrize("attention", ["linear", "mlp_projection", "synthesizer", "sliding_window"])
def test_other_attention_is_counted_where_it_is_not_derived(attention: str) -> None:
    for method in ("full", "bitfit"):
        tuned = tune(gpt(attention=attention), method)
        assert ("a" in tuned.trainable.sizes) == (attention != "dot_product")


def test_a_formula_that_misses_a_parameter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a layer norm's bias is forgotten."""
    model = bert()
    freezes = freeze

    def forgetful(model: nn.Module, *, but: frozenset[str]) -> None:
        freezes(model, but=but - {"body.layers.0.norm1.bias"})

    monkeypatch.setattr("attnlab.tuning.tuned.freeze", forgetful)
    message = r"should train 7·L·d \+ L·m \+ 6·d \+ 5 = 285 parameters, but 273 of the model"
    with pytest.raises(RunError, match=message):
        tune(model, "bitfit")


@pytest.mark.parametrize(("family", "method"), MERGED)
def test_at_first_nothing_changes(family: str, method: str) -> None:
    model = MODELS[family]().eval()
    before = outputs(model)
    tune(model, method)
    # up to rounding: the layout in memory decides which kernel torch takes
    torch.testing.assert_close(outputs(model), before, atol=1e-13, rtol=0)


def test_the_same_seed_draws_the_same_additions() -> None:
    first, second = tune(bert(), "lora").state(), tune(bert(), "lora").state()
    assert all(torch.equal(second[name], value) for name, value in first.items())
    other = apply_tuning(bert(), TuningSettings("lora", {"rank": 2}), seed=4).state()
    name = "body.layers.0.attn.query.lora_a.weight"
    assert not torch.equal(first[name], other[name])


@pytest.mark.parametrize(("family", "method"), CASES)
def test_training_moves_what_is_trainable_and_nothing_else(
    family: str, method: str, tmp_path: Path
) -> None:
    tuned = tune(MODELS[family](), method)
    before = fingerprints(tuned.model)
    state = trained(tmp_path, task_of(tuned.model))
    movement = check_movement(tuned, before, steps=state.step)
    assert movement.still == ()
    assert movement.n_frozen == len(before) - len(tuned.trainable.names)
    assert (movement.n_frozen == 0) == (method == "full")
    assert movement.describe().startswith(f"{movement.n_frozen} frozen tensors are bit-equal, ")


def test_a_frozen_tensor_that_moved_is_noticed(tmp_path: Path) -> None:
    """The mutant: a frozen matrix is unfrozen behind the method's back."""
    tuned = tune(bert(), "lora")
    tuned.model.body.layers[1].up.weight.requires_grad_(True)
    before = fingerprints(tuned.model)
    trained(tmp_path, task_of(tuned.model))
    message = r"tuning 'lora': frozen tensors have changed .*: body\.layers\.1\.up\.weight\."
    with pytest.raises(RunError, match=message):
        check_movement(tuned, before, steps=5)


def test_a_model_moved_to_another_precision_in_between_cannot_be_compared() -> None:
    tuned = tune(bert(), "lora")
    before = fingerprints(tuned.model)
    tuned.model.float()
    with pytest.raises(AssertionError, match="place the model on its hardware first"):
        check_movement(tuned, before, steps=1)


def test_a_trainable_tensor_that_did_not_move_is_reported(tmp_path: Path) -> None:
    """The mutant: the prefix of one layer never reaches its attention."""
    tuned = tune(bert(), "prefix")
    tuned.model.body.layers[1]._prefix = lambda: None
    before = fingerprints(tuned.model)
    trained(tmp_path, task_of(tuned.model))
    movement = check_movement(tuned, before, steps=5)
    assert movement.still == ("body.layers.1.prefix.keys", "body.layers.1.prefix.values")
    assert "2 did not: body.layers.1.prefix.keys, body.layers.1.prefix.values" in (
        movement.describe()
    )


def test_after_one_step_the_first_matrix_of_lora_need_not_have_moved() -> None:
    tuned = tune(bert(dropout=0), "lora")
    before = fingerprints(tuned.model)
    optimizer = torch.optim.SGD([p for p in tuned.model.parameters() if p.requires_grad], lr=1.0)
    outputs(tuned.model).square().sum().backward()
    optimizer.step()
    assert check_movement(tuned, before, steps=1).still == ()
    assert len(check_movement(tuned, before, steps=2).still) == 6


@pytest.mark.parametrize("method", ["bitfit", "full"])
def test_the_bias_of_the_keys_may_stay(method: str) -> None:
    names = {f"body.layers.{i}.attn.key.bias" for i in range(2)}
    assert tune(bert(), method).null_directions == names
    assert tune(gpt(positions="alibi"), "lora").null_directions == frozenset()


def test_tied_weights_are_trained_under_either_name_and_frozen_once() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.inner = nn.Embedding(5, 3), nn.Linear(3, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.table.weight

    model = Tied()
    freeze(model, but=["head.weight"])
    assert model.table.weight.requires_grad
    assert not model.inner.weight.requires_grad
    freeze(model, but=["inner.bias"])
    assert not model.head.weight.requires_grad
    with pytest.raises(AssertionError, match=r"no parameter is called: \['inner.bais'\]"):
        freeze(model, but=["inner.bais"])


@pytest.mark.parametrize(("family", "method"), MERGED)
def test_a_merged_model_is_plain_and_computes_the_same(family: str, method: str) -> None:
    plain = MODELS[family]().eval()
    names = plain.state_dict().keys()
    options = {"targets": ["query", "key", "value", "proj", "up", "down"]}
    tuned = tune(plain, method, **options)
    assert tuned.can_merge
    shaken(plain)
    wanted = outputs(plain)
    assert not torch.allclose(wanted, outputs(MODELS[family]().eval()))
    tuned.merge()
    assert plain.state_dict().keys() == names
    assert not any(isinstance(module, AdaptedLinear) for module in plain.modules())
    torch.testing.assert_close(outputs(plain), wanted, atol=1e-12, rtol=0)
    assert not tuned.can_merge


@pytest.mark.parametrize(
    ("kind", "mutant"),
    [
        (LoRALinear, lambda self: self.weight + self.lora_b.weight @ self.lora_a.weight),
        (IA3Linear, lambda self: self.weight * self.gain.mean()),
    ],
    ids=["without the scale", "with one gain for all"],
)
def test_a_wrong_merge_is_noticed(
    kind: type[AdaptedLinear], mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "merged_weight", mutant)
    method = "lora" if kind is LoRALinear else "ia3"
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        test_a_merged_model_is_plain_and_computes_the_same("bert", method)


@pytest.mark.parametrize(
    ("build", "method", "options", "message"),
    [
        (gpt, "head", {}, r"'head' trains a new classifier, but a GPT has none: its head predicts"),
        (
            lambda: BertForCLSMLM(SMALL, 5),
            "head",
            {},
            r"'head' freezes the body, so masked language modelling could teach it nothing\.",
        ),
        (
            lambda: gpt(attention="synthesizer"),
            "prefix",
            {},
            r"'prefix' is not possible with the attention Synthesizer, which does not support a"
            r" prefix: it has no keys .* Attention that does: additive, cosine, .*dot_product",
        ),
        (
            lambda: gpt(attention="aft"),
            "prompt",
            {},
            r"'prompt' is not possible with the attention AttentionFree, .* a prompt would shift\.",
        ),
        (
            lambda: gpt(attention="synthesizer"),
            "ia3",
            {},
            r"'ia3' acts on linear layers, but as its key projection Synthesizer has"
            r" none\. Choose other targets, or another method\.",
        ),
        (
            lambda: gpt(attention="mlp_projection"),
            "lora",
            {},
            r"as its query projection MlpProjection has a Sequential there",
        ),
        (
            lambda: BertForMaskedLanguageModel(SMALL),
            "lora",
            {},
            r"a model that classifies or of a GPT, which a BertForMaskedLanguageModel does not",
        ),
        (bert, "lora", {"rank": 0}, r"'lora': option rank = 0 is not possible: input should be"),
        (bert, "lora", {"ranks": 2}, r"'lora' has no option 'ranks'\. Did you mean 'rank'\? It"),
        (bert, "lora", {"targets": []}, r"option targets = \[\] is not possible"),
        (
            bert,
            "ia3",
            {"targets": ["keys"]},
            r"option targets = \['keys'\] .*: input should be 'query', 'key', 'value', 'proj', 'up'"
            r" or 'down'",
        ),
        (bert, "ia3", {"targets": ["key", "key"]}, r"targets = key, key names one twice"),
        (bert, "lore", {}, r"no tuning method is called 'lore'\. Did you mean 'lora'\? Known: bit"),
    ],
)
def test_what_has_no_meaning_is_refused_with_the_reason(
    build: Any, method: str, options: dict[str, Any], message: str
) -> None:
    model = build()
    before = {name: p.requires_grad for name, p in model.named_parameters()}
    with pytest.raises(UserError, match=message):
        apply_tuning(model, TuningSettings(method, options), seed=0)
    assert {name: p.requires_grad for name, p in model.named_parameters()} == before


def test_biases_that_are_not_there_cannot_be_tuned() -> None:
    model = bert()
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.LayerNorm):
            module.register_parameter("bias", None)
    with pytest.raises(UserError, match="'bitfit' trains biases, but the model has none"):
        tune(model, "bitfit")


def test_lora_drops_inputs_of_the_addition_alone() -> None:
    torch.manual_seed(0)
    layer = LoRALinear(nn.Linear(6, 4), rank=2, alpha=3.0, dropout=0.5)
    x = torch.randn(5, 6)
    assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias))
    nn.init.ones_(layer.lora_b.weight)
    assert not torch.equal(layer(x), layer(x))
    assert torch.equal(layer.eval()(x), layer(x))


def test_names_of_the_base_stay_as_they_were() -> None:
    names = {name for name, _ in bert().named_parameters()}
    for method in TUNING.names():
        assert {name for name, _ in tune(bert(), method).model.named_parameters()} >= names
