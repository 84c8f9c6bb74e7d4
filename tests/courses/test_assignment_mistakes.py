"""Mistakes in the printed *knowledge* assignment, each with the true value.

Those of 1(b) to 1(d), and of *attention* 1.2 to 1.4, are in tests/geometry.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from course_files import load
from torch.utils.flop_counter import FlopCounterMode

from attnlab.attention.variants.dot_product import DotProduct
from attnlab.attention.variants.synthesizer import Synthesizer
from attnlab.checks.leakage import layer_leak
from attnlab.data.knowledge_files import read_questions

TEXT = "The quick brown fox jumps over the lazy dog while seven wizards box a jolly knight again.\n"


@pytest.mark.parametrize("shared", [False, True], ids=["one B per head", "one B for all"])
def test_knowledge_equation_5_lacks_the_mask_and_both_forms_of_b_have_it(shared: bool) -> None:
    torch.manual_seed(0)
    layer = Synthesizer(12, 3, 7, shared=shared).double().eval()
    torch.nn.init.normal_(layer.w2)
    assert tuple(layer.w2.shape) == ((4, 7) if shared else (3, 4, 7))
    assert not layer_leak(layer, torch.randn(2, 7, 12, dtype=torch.float64)).found


@pytest.mark.parametrize("third_mark", [False, True], ids=["the rule", "the printed examples"])
def test_knowledge_2e_two_sentinels_by_the_rule_three_in_its_examples(third_mark: bool) -> None:
    dataset: Any = load("src/dataset.py").CharCorruptionDataset(TEXT, 64, third_mark=third_mark)
    torch.manual_seed(1)
    whole, hidden = [], []
    for _ in range(3000):
        x, y = dataset[0]
        assert len(x) == len(y) == 63  # block_size − 1 by its construction, not block_size
        row = "".join(dataset.itos[int(t)] for t in [x[0], *y]).rstrip("□")
        prefix, suffix, span, *after = row.split("⁇")
        assert len(after) == third_mark
        assert TEXT.startswith(prefix + span + suffix)
        whole.append(len(prefix + span + suffix))
        hidden.append(len(span) / whole[-1])
    assert set(whole) == set(range(4, 64 * 7 // 8 + 1))  # every length is possible
    assert sum(hidden) / len(hidden) == pytest.approx(0.25, abs=0.02)


def flops_of(compute: Any) -> float:
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() / 1e6


def test_knowledge_2g_the_synthesizer_is_quadratic_too() -> None:
    d, heads, length = 256, 8, 128
    x = torch.randn(1, length, d)
    synthesizer, dot = Synthesizer(d, heads, length), DotProduct(d, heads, length)
    q, k = (f(x).view(1, length, heads, -1).transpose(1, 2) for f in (dot.query, dot.key))
    products = flops_of(lambda: q @ k.mT)
    hidden = flops_of(lambda: synthesizer.w1(x))
    scores = flops_of(lambda: synthesizer.synthesize(x, length))
    assert products == pytest.approx(8.39, abs=5e-3)
    assert scores - hidden == pytest.approx(8.39, abs=5e-3)  # ℓ²·d in both
    assert products + flops_of(lambda: (dot.query(x), dot.key(x))) == pytest.approx(41.9, abs=0.05)
    assert scores == pytest.approx(25.2, abs=0.05)


@pytest.mark.data
def test_knowledge_2g_the_5_percent_asked_for_are_what_always_london_scores(
    data_folder: Path,
) -> None:
    questions = read_questions(data_folder / "birthplace" / "birth_dev.tsv")
    answers = [question.answer for question in questions]
    assert (answers.count("London"), len(answers)) == (25, 500)
