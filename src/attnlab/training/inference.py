"""Running a model without training it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from attnlab.training.hardware import Hardware


@contextmanager
def inference(model: nn.Module, hardware: Hardware) -> Iterator[None]:
    """No dropout, no gradients, the run's precision; afterwards the model is as it was."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), hardware.autocast():
            yield
    finally:
        model.train(was_training)
