"""The fixtures of the recipes' tests."""

from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.recipes.classify.settings import GRID_TRAINING, ClassifySettings
from small_bert import write_reviews, write_small_bert


@pytest.fixture
def base(tmp_path: Path) -> ClassifySettings:
    """Return what all cells of a grid on small reviews share."""
    data = write_reviews(tmp_path / "reviews")
    return ClassifySettings(
        model=str(write_small_bert(tmp_path / "bert")),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        test=str(data / "test.csv"),
        max_len=16,
        batch_size=20,
        training=replace(GRID_TRAINING, threads=1),
    )
