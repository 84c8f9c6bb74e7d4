"""How a model reads: by hand, beyond its training length, and without a future."""

import pytest
import torch

from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.models.gpt import GPT
from attnlab.models.reading import (
    asymmetry_of_scores,
    give_room,
    losses_without_future,
    token_losses,
    weight_on_itself,
)

TOKENS = torch.randint(11, (3, 8), generator=torch.Generator().manual_seed(1))


def gpt(name: str = "dot_product", positions: str = "learned") -> GPT:
    """A model whose weights are large enough for every attention to matter."""
    torch.manual_seed(0)
    attention = AttentionSettings(name, positions=positions)
    model = GPT(11, 7, d_model=12, n_heads=2, n_layers=2, attention=attention, dropout=0.0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model.double().eval()


def test_the_losses_are_those_of_the_logits() -> None:
    model = gpt()
    losses = token_losses(model, TOKENS)
    logits = model(TOKENS[:, :-1])
    for row, place in ((0, 0), (2, 6)):
        by_hand = -logits[row, place].log_softmax(-1)[TOKENS[row, place + 1]]
        assert losses[row, place].item() == pytest.approx(by_hand.item(), abs=1e-12)


@pytest.mark.parametrize("positions", ["learned", "rotary", "none"])
def test_a_causal_model_loses_nothing_without_a_future(positions: str) -> None:
    model = gpt(positions=positions)
    torch.testing.assert_close(
        losses_without_future(model, TOKENS), token_losses(model, TOKENS), atol=1e-12, rtol=0
    )


def test_a_late_mask_reads_the_future_that_is_there() -> None:
    """The bug put in: the weights of the future are hidden after the softmax."""
    model = gpt("late_mask")
    change = (losses_without_future(model, TOKENS) - token_losses(model, TOKENS)).abs()
    assert change[:, :-1].min() > 1e-4
    assert change[:, -1].max() < 1e-12, "the last token has no future either way"


@torch.no_grad()
def test_scores_of_one_projection_for_query_and_key_have_no_direction() -> None:
    shared = AttentionSettings("shared_projection", {"share": "qk"}, positions="learned")
    torch.manual_seed(0)
    model = GPT(11, 7, d_model=12, n_heads=2, n_layers=2, attention=shared, dropout=0.0)
    tokens = TOKENS[:1, :7]
    assert asymmetry_of_scores(model.double().eval(), tokens) == pytest.approx(0, abs=1e-12)
    assert asymmetry_of_scores(gpt(), tokens) > 0.1
    assert asymmetry_of_scores(gpt("linear"), tokens) is None


def test_learned_positions_go_on_with_rows_as_they_began() -> None:
    model, long = gpt(), torch.randint(11, (2, 40))
    before = token_losses(model, long[:, :8])
    with pytest.raises(UserError, match="a sequence of 39 tokens is longer than max_len = 7"):
        token_losses(model, long)
    give_room(model, 39)
    torch.testing.assert_close(token_losses(model, long)[:, :7], before, atol=1e-12, rtol=0)
    new = model.positions.table.weight[7:].detach()
    assert 0.015 < float(new.std()) < 0.025, "as untrained as on the first day"
    give_room(model, 10)
    assert len(model.positions.table.weight) == 39


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "none"])
def test_the_other_positions_have_no_end(positions: str) -> None:
    model = gpt(positions=positions)
    give_room(model, 39)
    assert token_losses(model, torch.randint(11, (2, 40))).shape == (2, 39)


def test_the_weight_on_itself_is_the_diagonal_without_the_first_token() -> None:
    model = gpt()
    with torch.no_grad():
        weights, found = (
            model.attention_weights(TOKENS[:, :7]),
            weight_on_itself(model, TOKENS[:, :7]),
        )
    own = [
        float(layer[b, h, t, t])
        for layer in weights
        for b in range(3)
        for h in range(2)
        for t in range(1, 7)
    ]
    assert found == pytest.approx(sum(own) / len(own), rel=1e-6)
