"""*sst2* Q1.1 to Q4.7: what the answers claim of torch and transformers, tried out."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from attnlab.data.labelled_text import read_labelled
from attnlab.evaluation.intervals import wilson
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.sizes import BertSize
from results import ROOT, read_results
from small_hub import TEXTS, TOKENIZERS

SMALL = BertSize(vocab_size=30, d_model=12, n_heads=3, n_layers=2, d_mlp=20, max_len=8)


def test_the_tokenizers_arguments() -> None:
    tokenizer = TOKENIZERS["roberta"]()
    plain = tokenizer(TEXTS)["input_ids"]
    assert isinstance(plain[0], list)
    lengths = [len(row) for row in plain]
    assert len(set(lengths)) > 1
    padded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    assert isinstance(padded["input_ids"], Tensor)
    assert padded["input_ids"].shape == (len(TEXTS), max(lengths))  # of this batch, not 512
    assert padded["attention_mask"].sum(1).tolist() == lengths
    cut = tokenizer(TEXTS, truncation=True, max_length=5)["input_ids"]
    assert {len(row) for row in cut} == {5}
    assert all(row[-1] == tokenizer.eos_token_id for row in cut)  # special tokens count and stay


def test_one_token_too_many_is_an_error() -> None:
    model = BertForSequenceClassification(SMALL, 2).eval()
    most = torch.ones(1, SMALL.max_len, dtype=torch.long)
    assert model(most, torch.zeros_like(most)).shape == (1, 2)
    more = torch.ones(1, SMALL.max_len + 1, dtype=torch.long)
    with pytest.raises(Exception, match=r"\b9\b"):
        model(more, torch.zeros_like(more))


@pytest.mark.data
def test_the_lengths_of_the_splits(data_folder: Path) -> None:
    found = [len(read_labelled(data_folder / "sst2" / f"{name}.tsv")) for name in ("train", "dev")]
    assert found == [6920, 872]


def test_the_data_loaders_parameters() -> None:
    def lengths(items: list[str]) -> list[int]:
        return [len(item) for item in items]

    texts = ["a" * n for n in range(1, 12)]
    torch.manual_seed(0)
    in_order = list(DataLoader(texts, batch_size=4, collate_fn=lengths))
    assert in_order == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]
    loader = DataLoader(texts, batch_size=4, shuffle=True, collate_fn=lengths)
    first, second = ([n for batch in loader for n in batch] for _ in range(2))
    assert first != second
    assert sorted(first) == sorted(second) == list(range(1, 12))


def test_the_three_lines() -> None:
    weight = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def gradient() -> list[float]:
        (weight**2).sum().backward()
        assert weight.grad is not None
        return weight.grad.tolist()

    assert gradient() == [2.0, -4.0]
    assert gradient() == [4.0, -8.0]  # without zero_grad() they add up
    optimizer.zero_grad()
    assert gradient() == [2.0, -4.0]
    assert weight.tolist() == [1.0, -2.0]  # nothing moves before step()
    optimizer.step()
    assert weight.tolist() == pytest.approx([0.8, -1.6])


def test_modes_change_dropout_but_neither_layer_norm_nor_gradients() -> None:
    torch.manual_seed(0)
    x = torch.randn(50, 12)
    dropout, norm = nn.Dropout(0.5), nn.LayerNorm(12)
    assert set((dropout.train()(torch.ones(1000))).tolist()) == {0.0, 2.0}
    assert torch.equal(dropout.eval()(x), x)
    assert torch.equal(norm.train()(x), norm.eval()(x))
    assert norm.eval()(x).requires_grad


def test_no_grad_records_nothing_and_leaves_dropout_on() -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(12, 12), torch.randn(50, 12)
    recorded = layer(x)
    with torch.no_grad():
        plain = layer(x)
        dropped = nn.Dropout(0.5).train()(x)
    assert recorded.requires_grad
    assert not plain.requires_grad
    assert torch.equal(recorded, plain)
    assert (dropped == 0).any()


def test_the_loss_grows_with_confidence_while_the_accuracy_stays() -> None:
    """Nine of ten are right at any scale of the scores; longer scores cost more where wrong."""
    scores = torch.tensor([[2.0, -2.0]] * 9 + [[-2.0, 2.0]])
    labels = torch.zeros(10, dtype=torch.long)
    found = [
        (
            (scale * scores).argmax(1).eq(labels).double().mean().item(),
            nn.functional.cross_entropy(scale * scores, labels).item(),
        )
        for scale in (1, 2, 4)
    ]
    assert [accuracy for accuracy, _ in found] == pytest.approx([0.9] * 3)
    losses = [loss for _, loss in found]
    assert losses == sorted(losses)
    assert losses[-1] > 2 * losses[0]


def test_what_872_sentences_can_tell() -> None:
    low, high = wilson(round(0.88 * 872), 872)
    assert (0.88 - low, high - 0.88) == pytest.approx((0.02, 0.02), abs=4e-3)


def test_order_matters_in_training_and_not_in_evaluation() -> None:
    x = torch.linspace(-1, 1, 8, dtype=torch.float64)

    def trained(order: Tensor) -> Tensor:
        weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        optimizer = torch.optim.SGD([weight], lr=0.5)
        for batch in x[order].split(2):
            optimizer.zero_grad()
            (weight * batch - batch.exp()).square().mean().backward()
            optimizer.step()
        return weight.detach()

    order, other = torch.arange(8), torch.tensor([7, 0, 6, 1, 5, 2, 4, 3])
    assert not torch.allclose(trained(order), trained(other), atol=1e-3)
    errors = (2 * x - x.exp()).square()
    assert errors[order].mean().item() == pytest.approx(errors[other].mean().item(), abs=1e-15)


def moved(make: Callable[[list[nn.Parameter]], torch.optim.Optimizer], gradient: Tensor) -> Tensor:
    """Return by how much one step of an optimizer moves weights of 1."""
    weight = nn.Parameter(torch.ones_like(gradient))
    weight.grad = gradient
    make([weight]).step()
    return weight.detach() - 1


GRADIENT = torch.tensor([1e-4, 1.0, -50.0], dtype=torch.float64)


def test_what_optimizers_do_with_a_gradient() -> None:
    sgd = moved(lambda weights: torch.optim.SGD(weights, lr=0.1), GRADIENT)
    assert torch.allclose(sgd, -0.1 * GRADIENT)
    adam = moved(lambda weights: torch.optim.Adam(weights, lr=0.1), GRADIENT)
    assert torch.allclose(adam, -0.1 * GRADIENT.sign(), rtol=1e-3)
    adamw = moved(lambda weights: torch.optim.AdamW(weights, lr=0.1, weight_decay=0.2), GRADIENT)
    assert torch.allclose(adamw, adam - 0.1 * 0.2)  # and shrinks every weight by lr · decay


def test_sgd_hardly_moves_at_the_rate_of_adamw() -> None:
    """The gradients of a small BERT: at one rate, SGD's step is far shorter than AdamW's."""
    torch.manual_seed(0)
    model = BertForSequenceClassification(SMALL, 2).eval()
    before = nn.utils.parameters_to_vector(model.parameters()).detach()
    tokens = torch.randint(30, (16, 8))
    scores = model(tokens, torch.zeros_like(tokens))
    nn.functional.cross_entropy(scores, tokens[:, 0] % 2).backward()
    lengths = []
    for optimizer in (torch.optim.SGD, torch.optim.AdamW):
        nn.utils.vector_to_parameters(before.clone(), model.parameters())
        optimizer(model.parameters(), lr=5e-5).step()
        after = nn.utils.parameters_to_vector(model.parameters()).detach()
        lengths.append((after - before).norm().item())
    assert 0 < lengths[0] < lengths[1] / 10


def test_adagrads_steps_keep_shrinking_and_adamws_do_not() -> None:
    """Twenty equal gradients of any size: Adagrad divides by their sum, AdamW by their mean."""

    def lengths(kind: type[torch.optim.Optimizer], gradient: float) -> list[float]:
        weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        optimizer, seen = kind([weight], lr=0.1), [0.0]
        for _ in range(20):
            weight.grad = torch.full_like(weight, gradient)
            optimizer.step()
            seen.append(weight.item())
        return [abs(b - a) for a, b in pairwise(seen)]

    for gradient in (1e-3, 1.0, 50.0):
        assert lengths(torch.optim.Adagrad, gradient) == pytest.approx(
            [0.1 / n**0.5 for n in range(1, 21)], rel=1e-3
        )
        assert lengths(torch.optim.AdamW, gradient) == pytest.approx([0.1] * 20, rel=0.05)


def test_the_best_of_many_is_too_high() -> None:
    """Eight cells that are equally good: the best on 872 sentences looks a point better."""
    dice = np.random.default_rng(0)
    best = dice.binomial(872, 0.88, size=(2000, 8)).max(axis=1) / 872
    assert best.mean() - 0.88 == pytest.approx(0.0157, abs=2e-3)


def test_the_choice_trained_again_is_the_choice() -> None:
    """What was asked about its training rows is what validation chose, with the same score."""
    results = read_results(ROOT / "results")
    grid, again = (results[name]["details"] for name in ("selection_sst2", "selection_sst2_train"))
    assert again["chosen"] == grid["chosen"]
    chosen = grid["cells"][grid["chosen"].replace("-", "_")]
    assert again["dev"]["value"] == chosen["value"]
    assert again["dev"]["n"] == grid["n_dev"] == 872
    assert again["n_train"] == 6920 - grid["n_test"]  # the rows set aside as test are not asked
