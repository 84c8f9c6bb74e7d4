"""Small models of transformers to tune, and rows for them to read."""

from pathlib import Path
from typing import Any

import torch

from attnlab.models.encoder import open_checkpoint
from attnlab.models.hub_classifier import HubClassifier
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import Tuned, apply_tuning
from small_hub import write_small_hub

TOKENS = {
    "roberta": torch.tensor([[0, 9, 8, 7, 2], [0, 5, 2, 1, 1]]),
    "distilbert": torch.tensor([[2, 9, 8, 7, 3], [2, 5, 3, 0, 0]]),
    "t5": torch.tensor([[9, 8, 7, 6, 1], [5, 6, 1, 0, 0]]),
}
"""Two rows as each tokenizer would make them, the second of them padded."""


def new_model(kind: str, folder: Path, *, n_classes: int = 2, **changes: Any) -> HubClassifier:
    """Return a model in float64, without dropout unless it is given."""
    torch.manual_seed(1)
    model, _ = open_checkpoint(write_small_hub(folder, kind, **changes)).new_model(
        [str(i) for i in range(n_classes)], pooler=False, fills_in=False
    )
    assert isinstance(model, HubClassifier)
    return model.double().eval()


def tuned(model: HubClassifier, name: str, **options: Any) -> Tuned:
    return apply_tuning(model, TuningSettings(name, options), seed=0)


def shaken(model: HubClassifier) -> HubClassifier:
    """Give every parameter another value than the initial one, so that nothing is tiny."""
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model
