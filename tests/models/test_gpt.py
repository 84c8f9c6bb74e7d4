"""The GPT: shape, no look ahead, a gradient for everything, and ten rows learned by heart."""

import pytest
import torch
from torch import Tensor

from attnlab.attention.contract import AttentionMask
from attnlab.data.batches import TokenRow
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.errors import UserError
from attnlab.models.decoding import continue_prompts
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import NGramTableSize

B, T, D, H, V = 2, 7, 12, 3, 11


NONE, SMALL = NGramTableSize(), NGramTableSize(rows=101, orders=(1, 3))


def make(*, dropout: float = 0.0, ngram_table: NGramTableSize = NONE) -> GPT:
    torch.manual_seed(0)
    sizes = {"d_model": D, "n_heads": H, "n_layers": 2}
    model = GPT(V, T, **sizes, dropout=dropout, ngram_table=ngram_table).double()
    if model.ngram_table:
        torch.nn.init.normal_(model.ngram_table.table.weight, std=0.5)  # as if it had learned
    return model


def make_tokens(seed: int = 1) -> Tensor:
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("ngram_table", [NONE, SMALL], ids=["no table", "ngram_table"])
@pytest.mark.parametrize("n_tokens", [1, 4, T])
def test_every_position_gives_a_logit_for_every_token(
    n_tokens: int, ngram_table: NGramTableSize
) -> None:
    assert make(ngram_table=ngram_table)(make_tokens()[:, :n_tokens]).shape == (B, n_tokens, V)


def check_future_changes_nothing(model: GPT) -> None:
    tokens = make_tokens()
    logits = model(tokens)
    for t in range(T - 1):
        changed = tokens.clone()
        changed[:, t + 1 :] = (changed[:, t + 1 :] + 1) % V
        assert torch.equal(model(changed)[:, : t + 1], logits[:, : t + 1]), f"{t} saw its future"


@pytest.mark.parametrize("ngram_table", [NONE, SMALL], ids=["no table", "ngram_table"])
def test_the_future_changes_nothing(ngram_table: NGramTableSize) -> None:
    check_future_changes_nothing(make(ngram_table=ngram_table))


def test_the_check_of_the_future_notices_a_model_that_looks_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attnlab.models.gpt.CAUSAL", AttentionMask())
    with pytest.raises(AssertionError, match="0 saw its future"):
        check_future_changes_nothing(make())


def test_the_past_and_the_place_matter() -> None:
    model, tokens = make(), make_tokens()
    changed = tokens.clone()
    changed[:, 0] = (changed[:, 0] + 1) % V
    assert not torch.equal(model(changed)[:, -1], model(tokens)[:, -1])
    same = torch.full((1, T), 3)
    logits = model(same)[0]
    assert not torch.allclose(logits[0], logits[-1])


def test_every_parameter_gets_a_gradient_but_the_key_bias() -> None:
    model = make()
    model(make_tokens()).square().sum().backward()
    silent = [
        n for n, p in model.named_parameters() if p.grad is None or p.grad.abs().max() < 1e-12
    ]
    null = [
        f"blocks.{i}.attn.{name}"
        for i, block in enumerate(model.blocks)
        for name in block.attn.null_directions
    ]
    assert silent == null == ["blocks.0.attn.key.bias", "blocks.1.attn.key.bias"]


def test_dropout_is_random_in_training_and_gone_in_evaluation() -> None:
    model, tokens = make(dropout=0.5), make_tokens()
    assert not torch.equal(model(tokens), model(tokens))
    assert torch.equal(model.eval()(tokens), make().eval()(tokens))


def test_the_head_reads_what_is_hidden() -> None:
    model, tokens = make(ngram_table=SMALL), make_tokens()
    assert torch.equal(model.head(model.hidden(tokens)), model(tokens))


def test_a_memory_changes_what_is_said_and_nothing_else_that_was_drawn() -> None:
    """With and without one the other weights are the same."""
    plain, remembering = make(), make(ngram_table=SMALL)
    others = dict(remembering.named_parameters())
    for name, parameter in plain.named_parameters():
        assert torch.equal(parameter, others.pop(name)), name
    assert list(others) == ["ngram_table.table.weight"]
    assert not torch.allclose(plain(make_tokens()), remembering(make_tokens()))


def test_weights_start_small_and_biases_at_zero() -> None:
    parameters = dict(GPT(50, 40, d_model=60, n_heads=3, n_layers=1).named_parameters())
    for name in (
        "tok_emb.weight",
        "positions.table.weight",
        "head.weight",
        "blocks.0.attn.key.weight",
    ):
        assert float(parameters[name].detach().std()) == pytest.approx(0.02, rel=0.1)
    biases = [p for n, p in parameters.items() if n.endswith("bias")]
    assert len(biases) == 9
    assert all(not bias.any() for bias in biases)


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UserError, match=r"^d_model = 12 does not divide into n_heads = 5 heads\."):
        GPT(V, T, d_model=12, n_heads=5, n_layers=1)


def test_ten_rows_are_learned_by_heart() -> None:
    """The first token of a row stands for it alone; the rest can only be remembered."""
    generator = torch.Generator().manual_seed(3)
    rests = torch.randint(11, 20, (10, 5), generator=generator).tolist()
    rows = [TokenRow(str(i), [i + 1, *rest, 0]) for i, rest in enumerate(rests)]
    torch.manual_seed(0)
    model = GPT(20, 7, d_model=24, n_heads=3, n_layers=1, dropout=0.0)
    task = NextToken(model, Epochs(lambda _: rows, size=tokens_per_batch(60), seed=0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(1, 61):
        term = task.loss(task.batch(step))["cross_entropy"]
        optimizer.zero_grad()
        (term.sum / term.weight).backward()
        optimizer.step()
    with torch.no_grad():
        prompts = [row.tokens[:1] for row in rows]
        answers = continue_prompts(model, prompts, stop=0, max_new=6)
    assert [answer.tokens for answer in answers] == rests
    assert min(answer.probability for answer in answers) > 0.8


@pytest.mark.parametrize("ngram_table", [NONE, SMALL], ids=["no table", "ngram_table"])
def test_every_layer_says_where_its_tokens_look(ngram_table: NGramTableSize) -> None:
    model = make(ngram_table=ngram_table).eval()
    assert model.shows_weights
    weights = model.attention_weights(make_tokens())
    assert [layer.shape for layer in weights] == [(B, H, T, T)] * 2
    for layer in weights:
        torch.testing.assert_close(layer.sum(-1), torch.ones(B, H, T).double())
        assert (layer.triu(1) == 0).all()
    seen: list[Tensor] = []
    last = model.blocks[1]
    last.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    model(make_tokens())
    again = last.attn(last.ln1(seen[0]), mask=AttentionMask(causal=True), need_weights=True)
    torch.testing.assert_close(again.weights, weights[1])
