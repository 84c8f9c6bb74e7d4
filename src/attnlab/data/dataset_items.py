"""The items of any Dataset by step: a pure function of the Dataset, the seed and the step."""

import random
from functools import lru_cache
from typing import Any

import numpy as np

from attnlab.errors import UserError
from attnlab.randomness import rng, seed_torch


class DatasetItems:
    """A ``torch.utils.data.Dataset`` in a random order, another one in every epoch.

    Torch, numpy and random are seeded before a step's items are read: a Dataset that draws from
    them gives the same items when a stopped run repeats the step.
    """

    def __init__(self, dataset: Any, *, batch_size: int, seed: int, purpose: str = "order") -> None:
        """Take a Dataset that has ``__len__`` and ``__getitem__``; ``purpose`` keys its order."""
        if not len(dataset):
            raise UserError("there is nothing to train on: the Dataset has no items.")
        self._dataset, self._seed, self._purpose = dataset, seed, purpose
        self.batch_size = min(batch_size, len(dataset))
        self.per_epoch = -(-len(dataset) // self.batch_size)
        self._order = lru_cache(maxsize=2)(self._make_order)

    def of_step(self, step: int) -> dict[int, Any]:
        """Return the items of a step, counted from 1, by their number in the Dataset."""
        epoch, index = divmod(step - 1, self.per_epoch)
        begin = index * self.batch_size
        numbers = self._order(epoch)[begin : begin + self.batch_size]
        seed_everything(self._seed, "examples", step)
        return {number: self._dataset[number] for number in numbers}

    def _make_order(self, epoch: int) -> list[int]:
        order: list[int] = (
            rng(self._seed, self._purpose, epoch).permutation(len(self._dataset)).tolist()
        )
        return order


def seed_everything(seed: int, purpose: str, *index: int) -> None:
    """Seed torch, numpy and random, for code that draws from any of them."""
    seed_torch(seed, purpose, *index)
    number = int(rng(seed, purpose, *index).integers(2**32))
    random.seed(number)
    np.random.seed(number)
