"""Linear probes find what is linear in hidden states, and nothing in noise."""

import torch

from attnlab.attention.settings import AttentionSettings
from attnlab.models.gpt import GPT
from attnlab.models.linear_probe import last_states, probe

D, CLASSES = 12, 5


def examples(count: int, *, strength: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw features around a direction for each class."""
    directions = torch.randn(CLASSES, D, generator=torch.Generator().manual_seed(0)).double()
    generator = torch.Generator().manual_seed(seed)
    classes = torch.randint(CLASSES, (count,), generator=generator)
    noise = torch.randn(count, D, generator=generator).double()
    return strength * directions[classes] + noise, classes


def accuracy_on_new_examples(strength: float) -> float:
    (train, classes), (dev, dev_classes), (test, test_classes) = (
        examples(n, strength=strength, seed=seed) for seed, n in enumerate((300, 60, 400), 1)
    )
    probed = probe((train, dev, test), classes, dev_classes)
    return float((probed.tested_on == test_classes).double().mean())


def test_a_class_that_is_linear_in_the_features_is_found() -> None:
    assert accuracy_on_new_examples(4.0) > 0.95


def test_nothing_is_found_in_noise() -> None:
    assert abs(accuracy_on_new_examples(0.0) - 1 / CLASSES) < 0.08


def test_of_equally_good_penalties_the_strongest_is_taken() -> None:
    """With one class, every penalty is right: the answer cannot tell which was taken."""
    train, dev, test = (torch.randn(n, D).double() for n in (20, 7, 9))
    same = torch.zeros(20, dtype=torch.long)
    assert probe((train, dev, test), same, same[:7]).tested_on.tolist() == [0] * 9


def test_states_are_those_of_the_last_token_whatever_is_in_the_same_batch() -> None:
    torch.manual_seed(0)
    settings = AttentionSettings(positions="rotary")
    model = GPT(31, 11, d_model=D, n_heads=3, n_layers=2, dropout=0.0, attention=settings).double()
    rows = [[3, 4, 5, 6, 7], [8, 9], [10, 11, 12]]
    with torch.no_grad():
        together = last_states(model, rows)
        alone = torch.cat([last_states(model, [row]) for row in rows], dim=1)
        hidden = model.hidden(torch.tensor([rows[0]]))[0, -1]
    assert together.shape == (3, 3, D)
    torch.testing.assert_close(together, alone, atol=1e-12, rtol=0)
    last = model.ln_f(together[-1, 0])
    torch.testing.assert_close(last, hidden, atol=1e-12, rtol=0)
