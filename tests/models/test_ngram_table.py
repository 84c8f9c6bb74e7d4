"""The table of hashed n-grams: what a row depends on, what it learns, and how rows collide."""

import math

import pytest
import torch
from torch import Tensor, nn

from attnlab.models.decoding import continue_prompts
from attnlab.models.gpt import GPT
from attnlab.models.ngram_table import NGramTable
from attnlab.models.sizes import NGramTableSize
from attnlab.training.optimization import build_optimizers
from attnlab.training.settings import OptimizerSettings

B, T, D, V, ROWS = 2, 7, 12, 11, 1009
ORDERS = (2, 3, 5)


def make(rows: int = ROWS, orders: tuple[int, ...] = ORDERS) -> NGramTable:
    torch.manual_seed(0)
    table = NGramTable(D, rows=rows, orders=orders).double()
    nn.init.normal_(table.table.weight)  # as if it had learned
    return table


def make_tokens(seed: int = 1) -> Tensor:
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(seed))


def test_a_table_starts_empty_and_adds_up_a_row_an_order() -> None:
    assert not NGramTable(D, rows=ROWS, orders=ORDERS).table.weight.any()
    table, tokens = make(), make_tokens()
    places = table.places(tokens)
    assert places.shape == (B, T, 3)
    assert int(places.min()) >= 0
    assert int(places.max()) < ROWS
    by_hand = sum(table.table.weight[places[..., i]] for i in range(3))
    assert torch.allclose(table(tokens), by_hand, atol=1e-12)
    assert table.reach == 4


def check_future_changes_nothing(table: NGramTable) -> None:
    tokens = make_tokens()
    found = table(tokens)
    for t in range(T - 1):
        changed = tokens.clone()
        changed[:, t + 1 :] = (changed[:, t + 1 :] + 1) % V
        assert torch.equal(table(changed)[:, : t + 1], found[:, : t + 1]), f"{t} saw its future"


def test_the_future_changes_nothing() -> None:
    check_future_changes_nothing(make())


def test_the_check_of_the_future_notices_n_grams_that_begin_at_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = make()
    places = table.places
    monkeypatch.setattr(table, "places", lambda tokens: places(tokens.flip(1)).flip(1))
    with pytest.raises(AssertionError, match="0 saw its future"):
        check_future_changes_nothing(table)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_a_row_depends_on_so_many_tokens_and_no_more(order: int) -> None:
    table, tokens = make(orders=(order,)), make_tokens()
    last = table.places(tokens)[:, -1]
    for back in range(T):
        changed = tokens.clone()
        changed[:, T - 1 - back] = (changed[:, T - 1 - back] + 1) % V
        moved = (table.places(changed)[:, -1] != last).all()
        assert bool(moved) == (back < order), back


def test_the_same_n_gram_has_the_same_row_wherever_it_stands() -> None:
    table = make(orders=(3,))
    tokens = torch.tensor([[4, 7, 9, 1, 4, 7, 9], [0, 2, 2, 4, 7, 9, 3]])
    places = table.places(tokens)[..., 0]
    assert places[0, 2] == places[0, 6] == places[1, 5]
    assert len({int(place) for place in places.flatten()}) == 2 * T - 2


def test_the_beginning_of_a_text_is_told_from_every_token() -> None:
    """Before the first token stands nothing, which is not token 0."""
    table = make(orders=(2,))
    alone, after_pad = (
        table.places(torch.tensor([[5], [0]])),
        table.places(torch.tensor([[0, 5]])),
    )
    assert alone[0, 0] != after_pad[0, 1]


def test_orders_and_the_order_of_tokens_matter() -> None:
    table = make(orders=(1, 2))
    one, other = table.places(torch.tensor([[3, 8], [8, 3]]))
    assert one[1, 1] != other[1, 1]
    assert len(set(one.flatten().tolist()) | set(other.flatten().tolist())) == 6


def test_random_n_grams_collide_as_seldom_as_in_random_hashing() -> None:
    """Distinct rows of N n-grams over M rows: M (1 - (1 - 1/M)^N) ± 5 standard deviations.

    Two orders each: fails by chance with 2 × 5.7e-7.
    """
    n, m = 6000, 4096
    tokens = torch.randint(50_000, (n, 5), generator=torch.Generator().manual_seed(2))
    places = make(rows=m, orders=(2, 5)).places(tokens)[:, -1]
    empty, two_empty = (1 - 1 / m) ** n, (1 - 2 / m) ** n
    variance = m * (m - 1) * two_empty + m * empty - (m * empty) ** 2
    for order in range(2):
        distinct = len(set(places[:, order].tolist()))
        assert abs(distinct - m * (1 - empty)) < 5 * math.sqrt(variance)


def test_neighbouring_n_grams_collide_as_seldom_as_in_random_hashing() -> None:
    """All 4,900 pairs of 70 tokens, the worst case for a weak hash: fails with 5.7e-7 by chance."""
    m = 4096
    first, second = torch.meshgrid(torch.arange(70), torch.arange(70), indexing="ij")
    pairs = torch.stack([first.flatten(), second.flatten()], dim=1)
    n = len(pairs)
    places = make(rows=m, orders=(2,)).places(pairs)[:, -1, 0]
    empty, two_empty = (1 - 1 / m) ** n, (1 - 2 / m) ** n
    variance = m * (m - 1) * two_empty + m * empty - (m * empty) ** 2
    assert abs(len(set(places.tolist())) - m * (1 - empty)) < 5 * math.sqrt(variance)


def test_the_gradient_is_sparse_and_reaches_the_rows_read_alone() -> None:
    table, tokens = make(), make_tokens()
    table(tokens).square().sum().backward()
    gradient = table.table.weight.grad
    assert gradient is not None
    assert gradient.is_sparse
    read = set(table.places(tokens).flatten().tolist())
    assert set(gradient.coalesce().indices()[0].tolist()) == read
    assert gradient.coalesce().values().abs().sum(-1).min() > 0


def test_a_read_only_row_reads_the_same_and_gives_no_gradient() -> None:
    table, tokens = make(), make_tokens()
    found = table(tokens, torch.tensor([True, False]))
    assert torch.equal(found, table(tokens))
    found.square().sum().backward()
    gradient = table.table.weight.grad
    assert gradient is not None
    touched = gradient.to_dense().abs().sum(-1).nonzero()[:, 0].tolist()
    assert set(touched) == set(table.places(tokens)[1].flatten().tolist())


def test_a_row_that_was_learned_stays_where_it_is_while_it_is_only_read() -> None:
    """Momentum must not carry it on: a zero gradient is not the same to Adam as none."""
    table, tokens = make(), make_tokens()
    (optimizer,) = build_optimizers(
        OptimizerSettings("sparse_adam", lr=0.1), {"sparse": {"table": table.table.weight}}
    )
    for is_read_only in ([False, False], [True, False]):
        before = table.table.weight.detach().clone()
        optimizer.zero_grad()
        table(tokens, torch.tensor(is_read_only)).square().sum().backward()
        optimizer.step()
    moved = (table.table.weight.detach() - before).abs().sum(-1).nonzero()[:, 0].tolist()
    assert set(moved) == set(table.places(tokens)[1].flatten().tolist())


def test_a_batch_that_only_reads_leaves_the_table_without_a_gradient_to_follow() -> None:
    table, tokens = make(), make_tokens()
    head = nn.Linear(D, 1).double()
    head(table(tokens, torch.tensor([True, True]))).sum().backward()
    gradient = table.table.weight.grad
    assert gradient is None or not gradient.to_dense().any()
    assert head.weight.grad is not None


@torch.no_grad()
def test_with_caches_a_model_writes_what_it_writes_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(3)
    sizes = {"d_model": D, "n_heads": 3, "n_layers": 2}
    model = GPT(V, 17, **sizes, ngram_table=NGramTableSize(ROWS, ORDERS)).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    prompts = [[1, 2, 3], [5], [4, 4, 6, 7, 8], [9, 10], [3] * 9, [7]]
    caches = model.new_caches()
    assert caches is not None
    assert len(caches) == 3, "one a layer, and one for the tokens"
    quick = continue_prompts(model, prompts, stop=4, max_new=8)
    monkeypatch.setattr(model, "new_caches", lambda: None)
    plain = continue_prompts(model, prompts, stop=4, max_new=8)
    assert [c.tokens for c in quick] == [c.tokens for c in plain]
    assert [c.probability for c in quick] == pytest.approx([c.probability for c in plain])
    assert max(len(c.tokens) for c in plain) == 8, "some must outlast the longest n-gram"


@torch.no_grad()
def test_fed_token_by_token_a_model_says_the_same() -> None:
    torch.manual_seed(4)
    model = GPT(V, T, d_model=D, n_heads=3, n_layers=1, ngram_table=NGramTableSize(ROWS, ORDERS))
    model = model.double().eval()
    nn.init.normal_(model.ngram_table.table.weight)
    tokens, caches = make_tokens(), model.new_caches()
    steps = [model(tokens[:, t : t + 1], caches) for t in range(T)]
    assert torch.allclose(torch.cat(steps, dim=1), model(tokens), atol=1e-12)


def test_a_table_knows_the_share_of_n_grams_that_were_learned() -> None:
    table = NGramTable(3, rows=997, orders=(1, 2))
    read, new = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 8]])
    assert table.known(read).tolist() == [0]
    with torch.no_grad():
        table.table.weight[table.places(read)] = 1.0
    assert table.known(read).tolist() == [1]
    assert table.known(new).tolist() == pytest.approx([4 / 6])
