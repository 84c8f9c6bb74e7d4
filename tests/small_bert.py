"""A BERT of a few thousand weights and reviews whose class one word gives away."""

import csv
from pathlib import Path

import numpy as np
import torch

from attnlab.models.bert import BertForMaskedLanguageModel
from attnlab.models.bert_format import Pretrained, write_bert
from attnlab.models.sizes import BertSize

WORDS = "the food was and we came back service place again bland awful fine lovely superb".split()
TELLING = {"1": "awful", "2": "bland", "3": "fine", "4": "lovely", "5": "superb"}
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, ".", "##s"]


def small_size(**changes: int | float) -> BertSize:
    given: dict[str, int | float] = {
        "vocab_size": len(VOCABULARY),
        "d_model": 24,
        "n_heads": 3,
        "n_layers": 2,
        "d_mlp": 40,
        "max_len": 20,
        "dropout": 0.0,
        "attention_dropout": 0.0,
    }
    return BertSize(**(given | changes))  # type: ignore[arg-type]


def write_small_bert(folder: Path, **changes: int | float) -> Path:
    """Write a model with random weights in the hub's layout."""
    torch.manual_seed(0)
    size = small_size(**changes)
    source = folder.with_name(f"{folder.name}-vocabulary")
    source.mkdir(parents=True)
    (source / "vocab.txt").write_text("".join(f"{word}\n" for word in VOCABULARY))
    write_bert(BertForMaskedLanguageModel(size), Pretrained(size, {}, source, ""), folder)
    return folder


def review(stars: str, generator: np.random.Generator) -> str:
    words = generator.choice(WORDS[:10], 6).tolist()
    words.insert(int(generator.integers(7)), TELLING[stars])
    return " ".join(words) + "."


def write_reviews(folder: Path, *, train: int = 60, dev: int = 25, seed: int = 0) -> Path:
    """Write train.csv, dev.csv, test.csv and unlabeled.txt, all classes equally often."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    for name, count in (("train", train), ("dev", dev), ("test", dev)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            for i in range(count):
                stars = str(i % 5 + 1)
                writer.writerow([stars, review(stars, generator)])
    lines = [review(str(i % 5 + 1), generator) for i in range(40)]
    (folder / "unlabeled.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder
