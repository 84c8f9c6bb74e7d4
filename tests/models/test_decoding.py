"""Writing on for all prompts at once equals writing on one by one."""

import math

import hypothesis
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from attnlab.attention.positions import POSITIONS
from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.models.decoding import (
    SPREAD,
    TOGETHER,
    continue_prompts,
    groups_of_like_length,
    sampler,
    truncated_sampler,
    write_on,
)
from attnlab.models.gpt import GPT

V, MAX_LEN, STOP, MAX_NEW = 11, 13, 4, 6
PROMPTS = [[1, 2, 3], [5], [4, 4, 6, 7, 8], [9, 10], [3, 3, 3, 3, 3, 3, 3], [7]]


def make(attention: AttentionSettings = AttentionSettings()) -> GPT:  # noqa: B008
    torch.manual_seed(19)
    sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2}
    model = GPT(V, MAX_LEN, **sizes, dropout=0.0, attention=attention).double().eval()
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
    found = continue_prompts(model, PROMPTS, stop=STOP, max_new=MAX_NEW)
    for (tokens, probability), (wanted, likely, _) in zip(found, expected, strict=True):
        assert tokens == wanted
        assert probability == pytest.approx(likely, rel=1e-10)


class Counter(nn.Module):
    """Says token + 1 after each token, with probability 3/4 whatever else there is."""

    def __init__(self, max_len: int = 100) -> None:
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.zeros(1))
        self.calls = 0

    def new_caches(self) -> None:
        return None

    def forward(self, tokens: Tensor, caches: None = None) -> Tensor:  # noqa: ARG002
        self.calls += 1
        likely = nn.functional.one_hot((tokens + 1) % V, V).double()
        return (0.75 * likely + 0.25 / (V - 1) * (1 - likely)).log()


def test_it_stops_at_the_stop_token_and_leaves_it_out() -> None:
    found = continue_prompts(Counter(), [[1], [3], [5]], stop=4, max_new=5)
    assert [c.tokens for c in found] == [[2, 3], [], [6, 7, 8, 9, 10]]
    assert [c.probability for c in found] == pytest.approx([0.75**3, 0.75, 0.75**5], abs=1e-12)


def test_it_stops_computing_when_every_row_has_stopped() -> None:
    model = Counter()
    continue_prompts(model, [[2], [3]], stop=4, max_new=50)
    assert model.calls == 2


def test_a_stop_token_in_the_prompt_does_not_stop_anything() -> None:
    found = continue_prompts(Counter(), [[4, 7, 4]], stop=4, max_new=2)
    assert found[0].tokens == [5, 6]


def test_no_prompts_have_no_continuations() -> None:
    assert continue_prompts(Counter(), [], stop=4, max_new=2) == []


def test_a_prompt_that_leaves_no_room_for_the_answer_is_refused() -> None:
    model = Counter(max_len=7)
    with pytest.raises(
        UserError,
        match=r"^a prompt of 5 tokens and an answer of 3 do not fit into the model's 7 positions",
    ):
        continue_prompts(model, [[1], [1, 2, 3, 4, 5]], stop=4, max_new=3)
    assert model.calls == 0
    assert continue_prompts(model, [[1], [1, 2, 3, 4]], stop=4, max_new=3)


@pytest.mark.parametrize("positions", POSITIONS.names())
@torch.no_grad()
def test_with_a_cache_it_writes_what_it_writes_without(
    positions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(AttentionSettings(positions=positions))
    caches = model.new_caches()
    assert caches is not None
    assert len(caches) == 2
    quick = continue_prompts(model, PROMPTS, stop=STOP, max_new=MAX_NEW)
    monkeypatch.setattr(model, "new_caches", lambda: None)
    plain = continue_prompts(model, PROMPTS, stop=STOP, max_new=MAX_NEW)
    assert [c.tokens for c in quick] == [c.tokens for c in plain]
    assert [c.probability for c in quick] == pytest.approx([c.probability for c in plain])


def test_an_attention_without_a_cache_writes_too() -> None:
    model = make(AttentionSettings("late_mask"))
    assert model.new_caches() is None
    with torch.no_grad():
        assert len(continue_prompts(model, PROMPTS, stop=STOP, max_new=2)) == len(PROMPTS)


def test_a_sampler_draws_tokens_as_often_as_they_are_likely() -> None:
    """Three of four draws say the next token; 400 draws stay within 4 standard deviations."""
    draw = sampler(torch.Generator().manual_seed(0))
    found = continue_prompts(Counter(), [[1]] * 400, stop=4, max_new=1, choose=draw)
    likely = sum(continuation.tokens == [2] for continuation in found)
    assert abs(likely - 300) < 4 * math.sqrt(400 * 0.75 * 0.25)
    cold = sampler(torch.Generator().manual_seed(0), temperature=0.01)
    assert (
        continue_prompts(Counter(), [[1]] * 20, stop=4, max_new=1, choose=cold)
        == [([2], pytest.approx(0.75))] * 20
    )


@hypothesis.settings(deadline=None)
@given(st.lists(st.integers(1, 200), max_size=400))
def test_prompts_go_together_whose_lengths_are_alike(lengths: list[int]) -> None:
    groups = groups_of_like_length(lengths)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        together = [lengths[index] for index in group]
        assert max(together) - min(together) <= SPREAD
        assert len(group) <= TOGETHER


@torch.no_grad()
def test_what_does_not_fit_slides_out_on_the_left() -> None:
    model = make()
    prompts = [[1, 2, 3, 5, 6, 7, 8, 9, 10, 1, 2], [5, 6], [3] * 20]
    found = continue_prompts(model, prompts, stop=STOP, max_new=MAX_NEW, slides=True)
    for prompt, (tokens, probability) in zip(prompts, found, strict=True):
        row, log_probability, written = list(prompt), 0.0, []
        for _ in range(MAX_NEW):
            scores = model(torch.tensor([row[-MAX_LEN:]]))[0, -1].log_softmax(-1)
            row.append(int(scores.argmax()))
            log_probability += float(scores.max())
            if row[-1] == STOP:
                break
            written.append(row[-1])
        assert tokens == written
        assert probability == pytest.approx(math.exp(log_probability), rel=1e-10)
    short = prompts[1:2]
    fits = continue_prompts(model, short, stop=STOP, max_new=MAX_NEW)
    assert fits[0].tokens == found[1].tokens


def truncated(weights: list[float], *, top_k: int | None, top_p: float) -> list[float]:
    """Say plainly what truncation leaves of some probabilities."""
    order = sorted(range(len(weights)), key=lambda token: -weights[token])[:top_k]
    total, kept, mass = sum(weights[token] for token in order), [], 0.0
    for token in order:
        if mass >= top_p * total:
            break
        kept.append(token)
        mass += weights[token]
    return [weights[token] / mass if token in kept else 0.0 for token in range(len(weights))]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    ("top_k", "top_p"), [(None, 1.0), (3, 1.0), (1, 1.0), (None, 0.6), (4, 0.8), (None, 1e-9)]
)
def test_truncated_draws_follow_the_plain_definition(
    temperature: float, top_k: int | None, top_p: float
) -> None:
    weights = torch.tensor([0.07, 0.31, 0.02, 0.4, 0.2], dtype=torch.float64)
    warm = weights ** (1 / temperature)
    expected = truncated((warm / warm.sum()).tolist(), top_k=top_k, top_p=top_p)
    generator = torch.Generator().manual_seed(5)
    choose = truncated_sampler(generator, temperature=temperature, top_k=top_k, top_p=top_p)
    n = 20_000
    found = choose(weights.log().expand(n, -1)).bincount(minlength=5) / n
    assert [share > 0 for share in found.tolist()] == [share > 0 for share in expected]
    assert torch.allclose(found.double(), torch.tensor(expected, dtype=torch.float64), atol=0.02)


def test_every_row_is_truncated_by_itself() -> None:
    rows = torch.tensor([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]], dtype=torch.float64).log()
    choose = truncated_sampler(torch.Generator().manual_seed(0), top_p=0.5)
    assert all(choose(rows).tolist() == [0, 2] for _ in range(50))


@pytest.mark.parametrize("temperature", [1e-3, 1e-320])
def test_a_tiny_temperature_takes_the_likeliest(temperature: float) -> None:
    rows = torch.tensor([[0.3, 0.31, 0.39]], dtype=torch.float64).log()
    choose = truncated_sampler(torch.Generator().manual_seed(0), temperature=temperature)
    assert [int(choose(rows)) for _ in range(20)] == [2] * 20


@torch.no_grad()
@pytest.mark.parametrize("attention", ["dot_product", "synthesizer"])
def test_writing_on_greedily_equals_continuing_prompts(attention: str) -> None:
    model = make(AttentionSettings(attention))
    for prompt in PROMPTS:
        (whole,) = continue_prompts(model, [prompt], stop=V, max_new=MAX_NEW)
        assert list(write_on(model, prompt, max_new=MAX_NEW)) == whole.tokens


@torch.no_grad()
@pytest.mark.parametrize("length", [1, MAX_LEN - 1, MAX_LEN, MAX_LEN + 4])
def test_writing_on_slides_past_the_positions(length: int) -> None:
    model, n_new = make(), 2 * MAX_LEN
    row = [1 + i % (V - 1) for i in range(length)]
    found = list(write_on(model, row, max_new=n_new))
    for token in found:
        expected = int(model(torch.tensor([row[-MAX_LEN:]]))[0, -1].argmax())
        assert token == expected
        row = [*row, token]
    assert len(found) == n_new


@torch.no_grad()
def test_writing_on_is_lazy_and_reads_each_token_once_with_a_cache() -> None:
    counter = Counter()
    written = write_on(counter, [1, 2], max_new=50)
    assert (next(written), next(written)) == (3, 4)
    assert counter.calls == 2
