"""Fine-tuning speed in examples per second: ours against transformers' Trainer.

ATTNLAB_DATA=… python benchmarks/encoder_speed.py          # about 10 minutes

Needs ATTNLAB_DATA/yelp, sst2 and weights. The same body, texts, batch size and longest length, the
same optimizer and clipping, dropout on, all in one process by turns; the Trainer's model has a
pooler besides, less than a thousandth of the arithmetic. It runs with its defaults, with texts of
like length grouped, and with bfloat16 besides where the processor has it (emulated, it takes many
times as long); its best is what we are measured against. A whole epoch of the same 640 texts is
timed, after one to warm up: grouped texts come longest first. Tokenising and evaluating are not
timed.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from transformers import (
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.utils import logging

from attnlab.data.classes import class_names, stratified
from attnlab.data.labelled_text import read_labelled
from attnlab.data.wordpiece import WordPiece
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RunPlace
from attnlab.training.hardware import choose
from attnlab.training.settings import TrainingSettings
from measure import write_result

BATCH, LONGEST, TEXTS, ROUNDS = 32, 128, 640, 3
STEPS = TEXTS // BATCH  # of an epoch
CASES = {
    "yelp": ("yelp/train.csv", "weights/tinybert-4l-312"),
    "sst2": ("sst2/train.tsv", "weights/tinybert-4l-312"),
}
RIVALS: dict[str, dict[str, Any]] = {
    "default": {},
    "grouped": {"train_sampling_strategy": "group_by_length"},
}
if choose(TrainingSettings(device="cpu"), local_processes=1)["precision"] == "bfloat16":
    RIVALS["grouped, bfloat16"] = {"train_sampling_strategy": "group_by_length", "bf16": True}


class Clock(TrainerCallback):
    """Notes when each step ends."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note the time."""
        self.ends.append(time.perf_counter())


def rows_of(train: Path, folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Encode the texts once, for the Trainer; ours reads the same file."""
    words, examples = WordPiece.read(folder / "vocab.txt"), read_labelled(train, labelled=True)
    classes = class_names(examples)
    rows = []
    for example in examples:
        tokens, types = words.pair(words.encode(example.text), None, max_len=LONGEST)
        label = classes.index(str(example.label))
        rows.append({"input_ids": tokens, "token_type_ids": types, "labels": label})
    return rows, len(classes)


def theirs(
    rows: Sequence[dict[str, Any]], n_classes: int, folder: Path, options: dict[str, Any]
) -> float:
    """Return the Trainer's examples a second."""
    torch.manual_seed(0)
    model = BertForSequenceClassification.from_pretrained(
        folder, num_labels=n_classes, dtype=torch.float32
    )
    tokens = (folder / "vocab.txt").read_text().split("\n")[:-1]
    with tempfile.TemporaryDirectory() as place:
        clock = Clock()
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=place,
                per_device_train_batch_size=BATCH,
                num_train_epochs=2,
                learning_rate=3e-5,
                report_to=[],
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
                use_cpu=True,
                **options,
            ),
            train_dataset=list(rows),
            data_collator=DataCollatorWithPadding(_padder(tokens)),
            callbacks=[clock],
        )
        trainer.train()
    assert len(clock.ends) == 2 * STEPS
    return TEXTS / (clock.ends[-1] - clock.ends[STEPS - 1])


def _padder(tokens: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that is there to pad rows."""
    from tokenizers import Tokenizer, models

    vocabulary = {token: i for i, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]")


def ours(train: Path, folder: Path) -> float:
    """Return our examples a second."""
    base = ClassifySettings()
    training = replace(base.training, length="2 epochs", log_every=STEPS, save_every=10**6)
    settings = replace(
        base,
        model=str(folder),
        train=str(train),
        dev_share=0.0,
        batch_size=BATCH,
        max_len=LONGEST,
        training=replace(training, evaluate_every=0),
    )
    with tempfile.TemporaryDirectory() as place:
        run = find_job("classify-train").run(
            settings, place=RunPlace(Path(place)), console=Console(quiet=True)
        )
        seconds = {line["step"]: line["seconds"] for line in run.metrics() if "loss" in line}
    return TEXTS / (seconds[2 * STEPS] - seconds[STEPS])


def some_texts(source: Path, folder: Path) -> Path:
    """Write some of the texts of a file, drawn at random, into a file of their own."""
    examples = read_labelled(source, labelled=True)
    drawn = stratified(examples, TEXTS, generator=np.random.default_rng(0))
    path = folder / f"{source.stem}.jsonl"
    lines = [json.dumps({"text": example.text, "label": example.label}) for example in drawn]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def measure(name: str, data: Path, place: Path) -> dict[str, Any]:
    """Time all of them by turns on one set of texts."""
    source, folder = (data / part for part in CASES[name])
    train = some_texts(source, place)
    rows, n_classes = rows_of(train, folder)
    runners: dict[str, Callable[[], float]] = {
        rival: lambda options=options: theirs(rows, n_classes, folder, options)  # type: ignore[misc]
        for rival, options in RIVALS.items()
    }
    runners["ours"] = lambda: ours(train, folder)
    rates: dict[str, list[float]] = {runner: [] for runner in runners}
    for _ in range(ROUNDS):
        for runner, run in runners.items():
            rates[runner].append(run())
            print(f"{name}, {runner}: {rates[runner][-1]:.1f} examples/s", flush=True)
    best = max(RIVALS, key=lambda rival: median(rates[rival]))
    ratios = [a / b for a, b in zip(rates["ours"], rates[best], strict=True)]
    print(f"{name}: {median(ratios):.2f} times transformers' best ({best})")
    return {
        "examples_per_second": {runner: round(median(rate), 1) for runner, rate in rates.items()},
        "best_rival": best,
        "ratio": round(median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }


def main() -> None:
    """Measure every case and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=list(CASES), help="one of them alone; nothing is written")
    chosen = parser.parse_args().case
    logging.set_verbosity_error()
    data = Path(os.environ["ATTNLAB_DATA"])
    with tempfile.TemporaryDirectory() as place:
        found = {name: measure(name, data, Path(place)) for name in ([chosen] if chosen else CASES)}
    if not chosen:
        write_result(
            "encoder_speed",
            claim="fine-tuning TinyBERT on Yelp, examples a second over transformers' best",
            value=found["yelp"]["ratio"],
            interval=[min(found["yelp"]["ratios"]), max(found["yelp"]["ratios"])],
            details=found,
        )


if __name__ == "__main__":
    main()
