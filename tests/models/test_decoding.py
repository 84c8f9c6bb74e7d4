"""Writing on for all prompts at once equals writing on one by one."""

import math

import pytest
import torch
from torch import Tensor, nn

from attnlab.errors import UserError
from attnlab.models.decoding import continue_greedily
from attnlab.models.gpt import GPT

V, MAX_LEN, STOP, MAX_NEW = 11, 13, 4, 6
PROMPTS = [[1, 2, 3], [5], [4, 4, 6, 7, 8], [9, 10], [3, 3, 3, 3, 3, 3, 3], [7]]


def make() -> GPT:
    torch.manual_seed(19)
    model = GPT(V, MAX_LEN, d_model=12, n_heads=3, n_layers=2, dropout=0.0).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)  # so that it says something else to each prompt
    return model


def one_by_one(model: nn.Module, prompt: list[int]) -> tuple[list[int], float, bool]:
    """Without padding or a batch: feed the row, take the likeliest token, until stop."""
    row, log_probability = list(prompt), 0.0
    while len(row) < len(prompt) + MAX_NEW:
        scores = model(torch.tensor([row]))[0, -1].log_softmax(-1)
        token = int(scores.argmax())
        log_probability += float(scores[token])
        if token == STOP:
            return row[len(prompt) :], math.exp(log_probability), True
        row.append(token)
    return row[len(prompt) :], math.exp(log_probability), False


@torch.no_grad()
def test_all_prompts_at_once_equal_one_by_one() -> None:
    model = make()
    expected = [one_by_one(model, prompt) for prompt in PROMPTS]
    assert {stopped for _, _, stopped in expected} == {True, False}, "both ends must be tried"
    found = continue_greedily(model, PROMPTS, stop=STOP, max_new=MAX_NEW, max_len=MAX_LEN)
    for (tokens, probability), (wanted, likely, _) in zip(found, expected, strict=True):
        assert tokens == wanted
        assert probability == pytest.approx(likely, rel=1e-10)


class Counter(nn.Module):
    """Says token + 1 after each token, with probability 3/4 whatever else there is."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.calls = 0

    def forward(self, tokens: Tensor) -> Tensor:
        self.calls += 1
        likely = nn.functional.one_hot((tokens + 1) % V, V).double()
        return (0.75 * likely + 0.25 / (V - 1) * (1 - likely)).log()


def test_it_stops_at_the_stop_token_and_leaves_it_out() -> None:
    found = continue_greedily(Counter(), [[1], [3], [5]], stop=4, max_new=5, max_len=6)
    assert [c.tokens for c in found] == [[2, 3], [], [6, 7, 8, 9, 10]]
    assert [c.probability for c in found] == pytest.approx([0.75**3, 0.75, 0.75**5], abs=1e-12)


def test_it_stops_computing_when_every_row_has_stopped() -> None:
    model = Counter()
    continue_greedily(model, [[2], [3]], stop=4, max_new=50, max_len=60)
    assert model.calls == 2


def test_a_stop_token_in_the_prompt_does_not_stop_anything() -> None:
    found = continue_greedily(Counter(), [[4, 7, 4]], stop=4, max_new=2, max_len=9)
    assert found[0].tokens == [5, 6]


def test_no_prompts_have_no_continuations() -> None:
    assert continue_greedily(Counter(), [], stop=4, max_new=2, max_len=9) == []


def test_a_prompt_that_leaves_no_room_for_the_answer_is_refused() -> None:
    model = Counter()
    with pytest.raises(
        UserError,
        match=r"^a prompt of 5 tokens and an answer of 3 do not fit into the model's 7 positions",
    ):
        continue_greedily(model, [[1], [1, 2, 3, 4, 5]], stop=4, max_new=3, max_len=7)
    assert model.calls == 0
    assert continue_greedily(model, [[1], [1, 2, 3, 4]], stop=4, max_new=3, max_len=7)
