"""Any Dataset by step: every item once per epoch, and a step repeats whatever was drawn for it."""

import random
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.data.dataset_items import DatasetItems
from attnlab.errors import UserError


class Drawn(torch.utils.data.Dataset[Any]):
    """Items that draw from every generator there is."""

    def __len__(self) -> int:
        return 7

    def __getitem__(self, number: int) -> tuple[int, float, float, float]:
        return number, random.random(), float(np.random.rand()), float(torch.rand(()))


def test_an_epoch_has_every_item_once_and_the_next_another_order() -> None:
    items = DatasetItems(Drawn(), batch_size=3, seed=0)
    assert items.per_epoch == 3
    epochs = [
        [n for step in steps for n in items.of_step(step)] for steps in ((1, 2, 3), (4, 5, 6))
    ]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(7))
    assert epochs[0] != epochs[1]


def test_a_step_is_the_same_again_whatever_was_drawn_in_between() -> None:
    items = DatasetItems(Drawn(), batch_size=3, seed=0)
    first = items.of_step(2)
    items.of_step(5)
    assert items.of_step(2) == first
    assert DatasetItems(Drawn(), batch_size=3, seed=1).of_step(2) != first


def test_an_empty_dataset_is_refused() -> None:
    with pytest.raises(UserError, match="there is nothing to train on: the Dataset has no items"):
        DatasetItems([], batch_size=3, seed=0)
