"""Prompts and prefixes of models of transformers: peft's numbers, and those of our own BERT.

peft differs in two points, which the comparison accounts for: the positions of the text start
behind a prompt or prefix, and what is classified is the first vector of the prompt.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_models import TOKENS, new_model, shaken, tuned
from torch import Tensor, nn

from attnlab.models import hub_classifier
from attnlab.models.bert import Bert
from attnlab.models.hub_classifier import FAMILIES, PREFIXED, HubClassifier
from attnlab.models.sizes import BertSize
from attnlab.tuning.prefix import LearnedPrefix

peft = pytest.importorskip("peft")

P, D, H, L, T = 4, 12, 3, 2, 7
METHODS = ("prompt", "prefix")
ENCODERS = ("roberta", "distilbert")
TRAINED = ("prompt", "prefix.keys", "prefix.values")


def tuned_model(kind: str, method: str, folder: Path) -> HubClassifier:
    model = new_model(kind, folder)
    tuned(model, method, length=P)
    return shaken(model)


def scores_of(model: HubClassifier, kind: str) -> Tensor:
    tokens = TOKENS[kind]
    return model(tokens, torch.zeros_like(tokens), tokens != model.pad)


def close(found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=0)


def prefixes(model: nn.Module) -> list[LearnedPrefix]:
    return [module for module in model.modules() if isinstance(module, LearnedPrefix)]


# --- peft ---


def of_peft(ours: HubClassifier, kind: str, method: str) -> Any:
    """Return peft's model with our weights, its table of positions longer by P."""
    there = type(ours.net.config)(**ours.net.config.to_dict())
    there.max_position_embeddings += P
    theirs = type(ours.net)(there).double().eval()
    first = FAMILIES[kind].position_offset
    given = dict(ours.net.named_parameters())
    with torch.no_grad():
        for name, value in theirs.named_parameters():
            if "position_embeddings" not in name:
                value.copy_(given[name])
                continue
            value[first + P :] = given[name][first:]
            # a vector of ours has neither position nor type
            types = getattr(theirs.base_model.embeddings, "token_type_embeddings", None)
            value[first : first + P] = 0 if types is None else -types.weight[0]
    sizes = {"num_virtual_tokens": P, "token_dim": D, "num_layers": L, "num_attention_heads": H}
    kinds = {"prompt": peft.PromptTuningConfig, "prefix": peft.PrefixTuningConfig}
    found = peft.get_peft_model(theirs, kinds[method](task_type="SEQ_CLS", **sizes)).double()
    with torch.no_grad():
        found.prompt_encoder["default"].embedding.weight.copy_(as_pefts(ours, lambda p: p))
    return found


def as_pefts(model: HubClassifier, of: Callable[[nn.Parameter], Tensor | None]) -> Any:
    """Put what we train, or its gradients, into the shape that peft has it in."""
    if model.prompt is not None:
        return of(model.prompt)
    pairs = [of(part) for one in prefixes(model) for part in (one.keys, one.values)]
    return torch.cat(pairs, dim=1)  # (P, 2·L·D)


def pefts_scores(theirs: Any, ours: HubClassifier, kind: str, method: str) -> Tensor:
    tokens = TOKENS[kind]
    given = {"input_ids": tokens, "attention_mask": (tokens != ours.pad).long()}
    if method == "prefix":
        return theirs(**given).logits
    found = theirs(**given, output_hidden_states=True)
    return FAMILIES[kind].tell(theirs.base_model, found.hidden_states[-1][:, P])


def compare_with_peft(kind: str, method: str, folder: Path) -> None:
    ours = tuned_model(kind, method, folder)
    theirs = of_peft(ours, kind, method)
    found, wanted = scores_of(ours, kind), pefts_scores(theirs, ours, kind, method)
    close(found, wanted)
    for scores in (found, wanted):
        scores.square().sum().backward()
    learned = theirs.prompt_encoder["default"].embedding.weight
    close(as_pefts(ours, lambda p: p.grad), learned.grad)
    trained = [p for name, p in ours.named_parameters() if name.endswith(TRAINED)]
    assert sum(p.numel() for p in trained) == learned.numel()


@pytest.mark.parametrize(
    ("kind", "method"), [("roberta", "prompt"), ("roberta", "prefix"), ("distilbert", "prompt")]
)
def test_scores_gradients_and_counts_are_those_of_peft(
    kind: str, method: str, tmp_path: Path
) -> None:
    compare_with_peft(kind, method, tmp_path / "model")


def swapped(self: LearnedPrefix, forward: Any = LearnedPrefix.forward) -> Any:
    return forward(self)[::-1]


def at_the_end(prompt: Tensor | None, x: Tensor) -> Tensor:
    return x if prompt is None else torch.cat([x, prompt.expand(len(x), -1, -1)], dim=1)


@pytest.mark.parametrize(
    ("method", "owner", "name", "mutant"),
    [
        ("prefix", LearnedPrefix, "forward", swapped),
        ("prompt", hub_classifier, "_with_prompt", at_the_end),
    ],
    ids=["keys and values swapped", "the prompt after the text"],
)
def test_a_wrong_method_is_noticed(
    method: str,
    owner: Any,
    name: str,
    mutant: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, mutant)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        compare_with_peft("roberta", method, tmp_path / "model")


# --- our own BERT, whose prompts and prefixes equal peft's ---


def our_bert(model: HubClassifier, kind: str) -> Bert:
    """Return the body as our own BERT; a token type that is not there adds nothing."""
    body, config = model.net.base_model, model.net.config
    first = FAMILIES[kind].position_offset
    n_positions = config.max_position_embeddings - first
    eps = getattr(config, "layer_norm_eps", 1e-12)
    size = BertSize(config.vocab_size, D, H, L, 20, n_positions, 1, layer_norm_eps=eps)
    bert = Bert(size).double().eval()
    tables = body.embeddings
    copied = {
        bert.embeddings.words: tables.word_embeddings.weight,
        bert.embeddings.positions: tables.position_embeddings.weight[first:],
        bert.embeddings.types: getattr(
            getattr(tables, "token_type_embeddings", None), "weight", torch.zeros(1, D)
        ),
    }
    with torch.no_grad():
        for table, weight in copied.items():
            table.weight.copy_(weight)
    bert.embeddings.norm.load_state_dict(tables.LayerNorm.state_dict())
    norms = {"roberta": ("attention.output.LayerNorm", "output.LayerNorm"),
             "distilbert": ("sa_layer_norm", "output_layer_norm")}[kind]  # fmt: skip
    names = {"norm1": norms[0], "norm2": norms[1]}
    from attnlab.tuning.hub_parts import PLACES

    places = PLACES[kind]
    names |= {
        role if role in ("up", "down") else f"attn.{role}": place
        for role, place in places.roles.items()
    }
    layers = model.get_submodule(f"net.{places.layers[0]}".rstrip(".*"))
    for layer, theirs in zip(bert.layers, layers, strict=True):
        for ours, place in names.items():
            layer.get_submodule(ours).load_state_dict(theirs.get_submodule(place).state_dict())
    if model.prompt is not None:
        bert.embeddings.prompt = nn.Parameter(model.prompt.detach().clone())
    for layer, prefix in zip(bert.layers, prefixes(model), strict=False):
        layer.prefix = LearnedPrefix((P, D), prefix.keys, n_heads=H, std=1.0)
        layer.prefix.load_state_dict(prefix.state_dict())
    return bert


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ENCODERS)
def test_the_body_is_our_bert_with_the_same_prompt_or_prefix(
    kind: str, method: str, tmp_path: Path
) -> None:
    model = tuned_model(kind, method, tmp_path / "model")
    bert, tokens = our_bert(model, kind), TOKENS[kind]
    given = (tokens, torch.zeros_like(tokens), tokens != model.pad)
    found, wanted = model.summary(*given), bert.summary(*given)
    close(found, wanted)
    for summary in (found, wanted):
        summary.square().sum().backward()
    ours = {n: p for n, p in bert.named_parameters() if n.endswith(TRAINED)}
    theirs = {n: p for n, p in model.named_parameters() if n.endswith(TRAINED)}
    assert len(ours) == len(theirs) == (1 if method == "prompt" else 2 * L)
    for one, other in zip(ours.values(), theirs.values(), strict=True):
        close(one.grad, other.grad)


# --- T5, for which there is no other reference ---


def plainly(module: Any, q: Tensor, k: Tensor, v: Tensor, mask: Any, **given: Any) -> Any:
    """Attend by the textbook, one softmax over the prefix and the text."""
    pk, pv = module.prefix()
    far = torch.finfo(q.dtype).min
    scores = q @ k.transpose(-1, -2) * given["scaling"] + given["position_bias"]
    if mask is not None:
        scores = scores.masked_fill(~mask, far)
    elif module.is_causal:
        future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, far)
    scores = torch.cat([q @ pk.transpose(-1, -2) * given["scaling"], scores], dim=-1)
    weights = scores.softmax(-1)
    text = weights[..., P:] @ v + weights[..., :P] @ pv
    return text.transpose(1, 2), None


def test_every_attention_of_t5_reads_its_prefix(tmp_path: Path) -> None:
    from transformers import AttentionInterface

    model = tuned_model("t5", "prefix", tmp_path / "model")
    found = scores_of(model, "t5")
    found.square().sum().backward()
    assert len(prefixes(model)) == 3 * L
    gradients = [(p.keys.grad.clone(), p.values.grad.clone()) for p in prefixes(model)]
    assert all(part.abs().max() > 1e-9 for pair in gradients for part in pair)
    model.zero_grad()
    AttentionInterface.register(PREFIXED, plainly)
    try:
        wanted = scores_of(model, "t5")
    finally:
        model.read_prefixes()
    close(found, wanted)
    wanted.square().sum().backward()
    for one, pair in zip(prefixes(model), gradients, strict=True):
        close(one.keys.grad, pair[0])
        close(one.values.grad, pair[1])


def test_a_prompt_of_real_tokens_is_these_tokens_to_the_encoder_of_t5(tmp_path: Path) -> None:
    model, tokens = new_model("t5", tmp_path / "model"), TOKENS["t5"][:1]
    tuned(model, "prompt", length=P)
    shaken(model)
    words = torch.tensor([[5, 9, 7, 8]])
    transformer = model.net.transformer
    with torch.no_grad():
        model.prompt.copy_(transformer.shared(words)[0])
    decoder = model.net._shift_right(tokens)
    longer = torch.cat([words, tokens], dim=1)
    hidden = transformer(input_ids=longer, decoder_input_ids=decoder, use_cache=False)[0]
    wanted = model.net.classification_head(hidden[:, tokens.shape[1] - 1])
    close(model(tokens, torch.zeros_like(tokens)), wanted)


# --- all three ---


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FAMILIES)
def test_padding_changes_nothing_and_a_text_of_full_length_fits(
    kind: str, method: str, tmp_path: Path
) -> None:
    model = tuned_model(kind, method, tmp_path / "model")
    together = scores_of(model, kind)
    for row, wanted in zip(TOKENS[kind], together, strict=True):
        text = row[row != model.pad][None]
        close(model(text, torch.zeros_like(text))[0], wanted)
    full = TOKENS[kind][:1, 1:2].repeat(1, 32)
    full[0, -1] = model.net.config.eos_token_id or 2
    assert model(full, torch.zeros_like(full)).isfinite().all()


def test_a_mask_that_hides_the_prefix_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the mask is extended at its end, where the prefix is not."""
    pad = hub_classifier.F.pad

    def at_the_other_end(x: Tensor, by: tuple[int, int], **keywords: Any) -> Tensor:
        return pad(x, by[::-1], **keywords)

    monkeypatch.setattr(hub_classifier.F, "pad", at_the_other_end)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        test_padding_changes_nothing_and_a_text_of_full_length_fits("roberta", "prefix", tmp_path)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FAMILIES)
def test_in_bfloat16_the_scores_are_near_and_gradients_are_in_full_precision(
    kind: str, method: str, tmp_path: Path
) -> None:
    model = tuned_model(kind, method, tmp_path / "model").float()
    wanted = scores_of(model, kind)
    with torch.autocast("cpu", torch.bfloat16):
        found = scores_of(model, kind)
        found.float().square().sum().backward()
    torch.testing.assert_close(found.float(), wanted, atol=0.15, rtol=0.05)
    learned = [p for name, p in model.named_parameters() if name.endswith(TRAINED)]
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in learned)
