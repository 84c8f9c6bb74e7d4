"""What every submission is run with: a small BERT, and sentences whose class one word gives away."""

import tempfile
from pathlib import Path

import torch

from attnlab.data.wordpiece import SPECIAL
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.bert_format import Pretrained, write_bert
from attnlab.models.sizes import BertSize
from attnlab.randomness import rng

FILLERS = "the film a story its cast and plot is of this scene after all with some music".split()
TELLING = ("awful bland dull".split(), "lovely superb fine".split())
WORDS = [*SPECIAL, *FILLERS, *TELLING[0], *TELLING[1]]
SIZE = BertSize(
    vocab_size=len(WORDS),
    d_model=24,
    n_heads=3,
    n_layers=2,
    d_mlp=40,
    max_len=512,
    dropout=0.0,
    attention_dropout=0.0,
)
SPREAD = 0.3
"""Of the weights: large enough for padding and masks to show in the scores."""
COUNTS = {"train": 96, "dev": 24, "test": 24}
MODEL = "bert"


def sentences(split: str) -> list[tuple[str, int]]:
    """Return the sentences of a split with their labels, each of another length than the next."""
    generator, found = rng(0, f"toy {split}"), []
    for i in range(COUNTS[split]):
        words = generator.choice(FILLERS, 2 + i % 7).tolist()
        label = int(generator.integers(2))
        words.insert(int(generator.integers(len(words) + 1)), str(generator.choice(TELLING[label])))
        found.append((" ".join(words), label))
    return found


def write(folder: Path) -> None:
    """Write the model, the data, and the names by which a notebook asks for them."""
    (folder / "sst2").mkdir(parents=True)
    for split in COUNTS:
        lines = [f"{text}\t{label}\n" for text, label in sentences(split)]
        (folder / "sst2" / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "assets.yaml").write_text(f"roberta-base: {folder / MODEL}\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as source:
        (Path(source) / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS))
        write_bert(_drawn(), Pretrained(SIZE, {}, Path(source), ""), folder / MODEL)


def _drawn() -> BertForSequenceClassification:
    """Draw the weights; words that tell the same stand near each other, as after pretraining."""
    model = BertForSequenceClassification(SIZE, 2, pooler=True)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale_of_norm = "norm" in name and name.endswith("weight")
            parameter.normal_(float(scale_of_norm), SPREAD, generator=generator)
        direction = torch.randn(SIZE.d_model, generator=generator)
        for words, sign in zip(TELLING, (-1, 1), strict=True):
            places = [WORDS.index(word) for word in words]
            model.body.embeddings.words.weight[places] += sign * direction
    return model
