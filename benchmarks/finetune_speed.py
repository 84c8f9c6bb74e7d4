"""Fine-tuning speed by method and precision: ours against transformers' Trainer, with peft.

    python benchmarks/finetune_speed.py            # everything; about half an hour on two cores
    python benchmarks/finetune_speed.py --quick    # a first look; nothing is written

Full fine-tuning, LoRA and head tuning of MiniLM on SST-2 (ATTNLAB_DATA/sst2), or on Rotten Tomatoes
without ATTNLAB_DATA. Both sides have the same body, texts, batch size, longest length, optimizer,
clipping, precision and threads, with dropout on, and take turns in one process. The Trainer pads
a batch to its own longest text and groups texts of like length; it does so the better the more
texts there are, so both sides get all of them. bfloat16 is measured where the processor has it.

Full fine-tuning and LoRA: the first 96 steps. Head tuning: 20 epochs of 1,920 texts, once, where
ours is the whole job, with reading, loading, encoding, predicting and writing, and theirs is
training alone.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from transformers.utils import logging

from attnlab.assets.catalogue import DEFAULT_DATA, DEFAULT_MODEL
from attnlab.assets.datasets import dataset_file, get_dataset
from attnlab.assets.models import find_model
from attnlab.training.hardware import choose
from attnlab.training.settings import Precision, TrainingSettings
from measure import write_result
from trainer_rival import (
    GROUPED,
    Clock,
    FineTuningJob,
    draw_texts,
    train_with_ours,
    train_with_trainer,
)

LONGEST, ROUNDS = 128, 3
WARM_TEXTS, QUICK_TEXTS, HEAD_TEXTS = 64, 640, 1_920
METHODS: dict[str, dict[str, Any]] = {
    "full": {"epochs": 1, "lr": 3e-5, "most_steps": 96},
    "lora": {"epochs": 1, "lr": 3e-4, "most_steps": 96},
    "head": {"epochs": 20, "lr": 1e-3},
}
Now = Callable[[], float]


def main() -> None:
    """Measure every method in every precision and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_TEXTS} texts, one round, processor time instead of the clock's, so that it"
        " says something on a busy machine; nothing is written. With so few texts the Trainer"
        " pads more than it would with all.",
    )
    parser.add_argument("--method", choices=list(METHODS), help="one alone; nothing is written")
    parser.add_argument("--precision", choices=["float32", "bfloat16", "both"], default="both")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each side")
    asked = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    methods = [asked.method] if asked.method else list(METHODS)
    found: dict[str, dict[str, Any]] = {method: {} for method in methods}
    with tempfile.TemporaryDirectory() as place:
        draw = partial(
            draw_texts, labelled_file(), find_model(DEFAULT_MODEL), Path(place), max_len=LONGEST
        )
        few, texts = draw(count=WARM_TEXTS), draw(count=QUICK_TEXTS if asked.quick else None)
        fewer = texts if asked.quick else draw(count=HEAD_TEXTS)
        now, rounds = (time.process_time, 1) if asked.quick else (time.perf_counter, asked.rounds)
        for precision in precisions(asked.precision):
            warm_up = FineTuningJob(few, epochs=1, precision=precision)
            for side in (theirs, ours):
                side(warm_up, now)
            for method in methods:
                chosen = fewer if method == "head" else texts
                job = replace(warm_up, texts=chosen, tuning=method, **METHODS[method])
                turns = 1 if method == "head" else rounds
                found[method][precision] = compare(job, turns, now)
    if not asked.quick and not asked.method and asked.precision == "both":
        write(found)


def precisions(asked: str) -> list[Precision]:
    """Return the precisions to measure: bfloat16 only where the processor has it."""
    native = choose(TrainingSettings(device="cpu"))["precision"] == "bfloat16"
    both: list[Precision] = ["float32", "bfloat16"] if native else ["float32"]
    return [precision for precision in both if asked in (precision, "both")]


def labelled_file() -> Path:
    """Return the training texts of SST-2 if they are there, else of Rotten Tomatoes."""
    if folder := os.environ.get("ATTNLAB_DATA"):
        return Path(folder) / "sst2" / "train.tsv"
    get_dataset(DEFAULT_DATA)
    return dataset_file(DEFAULT_DATA, "train")


def compare(job: FineTuningJob, rounds: int, now: Now) -> dict[str, Any]:
    """Time both sides by turns; return seconds, and how many times as fast ours is."""
    sides: dict[str, Callable[[FineTuningJob, Now], float]] = {"theirs": theirs, "ours": ours}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            seconds[side].append(run(job, now))
            told = f"{job.tuning}, {job.precision}, {side}: {seconds[side][-1]:.1f} s"
            print(f"{told} for {job.steps:,} steps", flush=True)
    ratios = [a / b for a, b in zip(seconds["theirs"], seconds["ours"], strict=True)]
    ratio = median(seconds["theirs"]) / median(seconds["ours"])
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{job.tuning}, {job.precision}: {ratio:.2f} times as fast ({spread})", flush=True)
    return {
        "texts": len(job.texts.rows),
        "steps": job.steps,
        "seconds": {side: round(median(taken), 2) for side, taken in seconds.items()},
        "ratio": round(ratio, 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }


def theirs(job: FineTuningJob, now: Now) -> float:
    """Return the Trainer's seconds."""
    clock = Clock(now)
    train_with_trainer(job, clock, GROUPED)
    return _steps_seconds(job, clock)


def ours(job: FineTuningJob, now: Now) -> float:
    """Return our seconds: of the steps, or of the whole job if it encodes the texts once."""
    clock, began = Clock(now), now()
    train_with_ours(job, clock)
    return now() - began if job.tuning == "head" else _steps_seconds(job, clock)


def _steps_seconds(job: FineTuningJob, clock: Clock) -> float:
    """Return the seconds of all steps; both sides must have taken the same number of them."""
    assert len(clock.ends) == 1 + job.steps, len(clock.ends)
    return clock.ends[-1] - clock.ends[0]


def write(found: dict[str, dict[str, Any]]) -> None:
    """Write the ratios down; full fine-tuning in this processor's own precision is the claim."""
    full = list(found["full"].values())[-1]
    write_result(
        "finetune_speed",
        claim="full fine-tuning of MiniLM, times the speed of transformers' Trainer at its best",
        value=full["ratio"],
        interval=[min(full["ratios"]), max(full["ratios"])],
        details={"threads": torch.get_num_threads(), **found},
    )


if __name__ == "__main__":
    main()
