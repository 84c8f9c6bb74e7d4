"""Fine-tuning speed by method and precision: ours against transformers' Trainer, with peft.

    ATTNLAB_DATA=… python benchmarks/finetune_speed.py    # everything; 40 minutes on two cores
    python benchmarks/finetune_speed.py --case full       # one case; nothing is written

Full fine-tuning, LoRA and head tuning of MiniLM on SST-2, or on Rotten Tomatoes without
ATTNLAB_DATA; with it, full fine-tuning of TinyBERT on Yelp besides, where texts are long. Both
sides have the same body, texts, batch size, longest length, optimizer, clipping, precision and
threads, with dropout on, and take turns in one process. The Trainer pads a batch to its own longest
text and groups texts of like length. It sorts pools of 50 batches, the longest first, so whole
pools of it are timed, and both sides draw from all texts: with few it would pad more. bfloat16 is
measured where the processor has it.

Besides the ratio comes the highest that any code could reach: as if our steps took no longer than
their matrix products at the speed of one large product, and all else were free.

Head tuning: 20 epochs of 1,920 texts, once, where ours is the whole job, with reading, loading,
encoding, predicting and writing, and theirs is training alone.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode
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

LONGEST, ROUNDS, WARM_UP_STEPS = 128, 3, 4
THEIR_POOL = 50
"""Batches that the Trainer sorts together, if there are as many as here."""
LARGE = 2_048
"""Rows and columns of the product that shows how fast this processor multiplies."""


@dataclass(frozen=True)
class Case:
    """A method on a dataset."""

    tuning: str
    lr: float
    data: str = "sst2"
    epochs: int = 1
    most_steps: int | None = None
    texts: int | None = None


CASES = {
    "full": Case("full", 3e-5, most_steps=2 * THEIR_POOL),
    "full, long texts": Case("full", 3e-5, "yelp", most_steps=THEIR_POOL),
    "lora": Case("lora", 3e-4, most_steps=2 * THEIR_POOL),
    "head": Case("head", 1e-3, epochs=20, texts=1_920),
}


def main() -> None:
    """Measure every case in every precision and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=list(CASES), help="one alone; nothing is written")
    parser.add_argument("--precision", choices=["float32", "bfloat16", "both"], default="both")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each side")
    asked = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        for name in [asked.case] if asked.case else list(CASES):
            if CASES[name].data == "yelp" and "ATTNLAB_DATA" not in os.environ:
                print(f"{name}: left out, because ATTNLAB_DATA is not set")
                continue
            found[name] = {}
            for precision in precisions(asked.precision):
                job = make_job(CASES[name], precision, Path(place))
                rounds = 1 if name == "head" else asked.rounds
                found[name][precision] = compare(name, job, rounds)
    if not asked.case and asked.precision == "both":
        write(found)


def precisions(asked: str) -> list[Precision]:
    """Return the precisions to measure: bfloat16 only where the processor has it."""
    native = choose(TrainingSettings(device="cpu"))["precision"] == "bfloat16"
    both: list[Precision] = ["float32", "bfloat16"] if native else ["float32"]
    return [precision for precision in both if asked in (precision, "both")]


def make_job(case: Case, precision: Precision, place: Path) -> FineTuningJob:
    """Draw and encode the texts of a case."""
    file, model = sources(case.data)
    texts = draw_texts(file, model, place, count=case.texts, max_len=LONGEST)
    return FineTuningJob(
        texts,
        epochs=case.epochs,
        precision=precision,
        tuning=case.tuning,
        lr=case.lr,
        most_steps=case.most_steps,
    )


def sources(data: str) -> tuple[Path, Path]:
    """Return a file of texts and the model to fine-tune on it."""
    folder = os.environ.get("ATTNLAB_DATA")
    if data == "yelp":
        return Path(folder or "", "yelp/train.csv"), Path(folder or "", "weights/tinybert-4l-312")
    model = find_model(DEFAULT_MODEL)
    if folder:
        return Path(folder, "sst2/train.tsv"), model
    get_dataset(DEFAULT_DATA)
    return dataset_file(DEFAULT_DATA, "train"), model


def compare(name: str, job: FineTuningJob, rounds: int) -> dict[str, Any]:
    """Time both sides by turns; return seconds, and how many times as fast ours is."""
    sides: dict[str, Callable[[FineTuningJob], float]] = {"theirs": theirs, "ours": ours}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for run in sides.values():
        run(replace(job, most_steps=WARM_UP_STEPS))
    for _ in range(rounds):
        for side, run in sides.items():
            seconds[side].append(run(job))
            told = f"{name}, {job.precision}, {side}: {seconds[side][-1]:.1f} s"
            print(f"{told} for {job.steps:,} steps", flush=True)
    ratios = [a / b for a, b in zip(seconds["theirs"], seconds["ours"], strict=True)]
    found: dict[str, Any] = {
        "texts": len(job.texts.rows),
        "steps": job.steps,
        "seconds": {side: round(median(taken), 2) for side, taken in seconds.items()},
        "examples_per_second": {
            side: round(job.steps * job.batch / median(taken), 1) for side, taken in seconds.items()
        },
        "ratio": round(median(seconds["theirs"]) / median(seconds["ours"]), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
    }
    told = f"{found['ratio']:.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f})"
    if job.tuning != "head":
        found["highest"] = round(median(seconds["theirs"]) / products_alone(job), 2)
        told += f"; if only products took time, {found['highest']:.2f}"
    print(f"{name}, {job.precision}: {told}", flush=True)
    return found


def theirs(job: FineTuningJob) -> float:
    """Return the Trainer's seconds."""
    clock = Clock(time.perf_counter)
    train_with_trainer(job, clock, GROUPED)
    return _steps_seconds(job, clock)


def ours(job: FineTuningJob) -> float:
    """Return our seconds: of the steps, or of the whole job if it encodes the texts once."""
    clock, began = Clock(time.perf_counter), time.perf_counter()
    train_with_ours(job, clock)
    return time.perf_counter() - began if job.tuning == "head" else _steps_seconds(job, clock)


def _steps_seconds(job: FineTuningJob, clock: Clock) -> float:
    """Return the seconds of all steps; both sides must have taken the same number of them."""
    assert len(clock.ends) == 1 + job.steps, len(clock.ends)
    return clock.ends[-1] - clock.ends[0]


def products_alone(job: FineTuningJob) -> float:
    """Return the seconds of our matrix products at this processor's speed for a large one."""
    with FlopCounterMode(display=False) as counter:
        train_with_ours(job, Clock(time.perf_counter))
    a = torch.randn(LARGE, LARGE, dtype=getattr(torch, job.precision))
    taken = []
    for _ in range(10):
        began = time.perf_counter()
        a @ a
        taken.append(time.perf_counter() - began)
    return counter.get_total_flops() * min(taken) / (2 * LARGE**3)


def write(found: dict[str, dict[str, Any]]) -> None:
    """Write the ratios down; full fine-tuning in this processor's own precision is the claim."""
    full = list(found["full"].values())[-1]
    write_result(
        "finetune_speed",
        claim="full fine-tuning of MiniLM, times the speed of transformers' Trainer at its best",
        value=full["ratio"],
        interval=[min(full["ratios"]), max(full["ratios"])],
        details={
            "threads": torch.get_num_threads(),
            **{name.replace(", ", "_").replace(" ", "_"): case for name, case in found.items()},
        },
    )


if __name__ == "__main__":
    main()
