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
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from transformers.utils import logging

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

LONGEST, TEXTS, ROUNDS = 128, 640, 3
CASES = {
    "yelp": ("yelp/train.csv", "weights/tinybert-4l-312"),
    "sst2": ("sst2/train.tsv", "weights/tinybert-4l-312"),
}
RIVALS: dict[str, tuple[Precision, dict[str, Any]]] = {
    "default": ("float32", {}),
    "grouped": ("float32", GROUPED),
}
if choose(TrainingSettings(device="cpu"))["precision"] == "bfloat16":
    RIVALS["grouped, bfloat16"] = ("bfloat16", GROUPED)


def examples_per_second(job: FineTuningJob, train: Callable[[Clock], None]) -> float:
    """Return how many texts a second the last epoch learned from."""
    clock = Clock(time.perf_counter)
    train(clock)
    return len(job.texts.rows) / (clock.ends[-1] - clock.ends[-1 - job.steps_per_epoch])


def measure(name: str, data: Path, place: Path) -> dict[str, Any]:
    """Time all of them by turns on one set of texts."""
    source, folder = (data / part for part in CASES[name])
    job = FineTuningJob(draw_texts(source, folder, place, count=TEXTS, max_len=LONGEST), epochs=2)

    def their_rate(rival: str) -> float:
        precision, options = RIVALS[rival]
        same = replace(job, precision=precision)
        return examples_per_second(same, lambda clock: train_with_trainer(same, clock, options))

    rates: dict[str, list[float]] = {runner: [] for runner in (*RIVALS, "ours")}
    for _ in range(ROUNDS):
        for runner, taken in rates.items():
            if runner == "ours":
                taken.append(examples_per_second(job, lambda clock: train_with_ours(job, clock)))
            else:
                taken.append(their_rate(runner))
            print(f"{name}, {runner}: {taken[-1]:.1f} examples/s", flush=True)
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
