"""The yelp course's two commands on real reviews: accuracy, time, effect of joint training.

ATTNLAB_DATA=… python benchmarks/yelp_classifier.py tried      # learning rates, one epoch each
ATTNLAB_DATA=… python benchmarks/yelp_classifier.py first      # Problem 2, three seeds
ATTNLAB_DATA=… python benchmarks/yelp_classifier.py joint      # Problem 3, all labels
ATTNLAB_DATA=… python benchmarks/yelp_classifier.py fifty      # Problem 3, fifty labels

Needs ATTNLAB_DATA/yelp and weights/tinybert-4l-312. The settings are the document's but for the
learning rate, which `tried` chose on dev, and with fifty labels the length: 100 steps are 50
epochs. There is no test set here, so every figure is on dev, which also chose the step. Stopped,
the same command goes on; the runs stay in runs/yelp_classifier.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.evaluation.comparison import Comparison, compare
from attnlab.recipes.classify.settings import ClassifySettings, MaskedSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from measure import hashes, write_result

RUNS = Path("runs/yelp_classifier")
LR, TRIED, SEEDS = 1e-4, (3e-5, 1e-4, 3e-4), (0, 1, 2)
TRIED_LENGTH = "1 epochs"
ALPHA, FEW, FEW_STEPS = 0.5, 50, 100


def settings_of(
    data: Path,
    *,
    lr: float = LR,
    seed: int = 0,
    alpha: float = 0.0,
    labels: int = 0,
    length: str = "3 epochs",
) -> ClassifySettings:
    """Return the document's settings with these changes."""
    base = ClassifySettings()
    training = replace(
        base.training,
        seed=seed,
        optimizer=replace(base.training.optimizer, lr=lr),
        length=length,
    )
    return replace(
        base,
        model=str(data / "weights" / "tinybert-4l-312"),
        train=str(data / "yelp" / "train.csv"),
        dev=str(data / "yelp" / "dev.csv"),
        labels=labels,
        masked=MaskedSettings(text=str(data / "yelp" / "unlabeled.txt"), alpha=alpha),
        training=training,
    )


def run_of(settings: ClassifySettings, console: Console) -> Run:
    """Train, or show what is finished; a run is named by what it changes."""
    lr, seed = settings.training.optimizer.lr, settings.training.seed
    labels, length = settings.labels or "all", settings.training.length.replace(" ", "-")
    name = f"labels-{labels}-{length}-alpha-{settings.masked.alpha:g}-lr-{lr:g}-seed-{seed}"
    return find_job("classify-train").run(settings, place=RunPlace(RUNS, name), console=console)


def last_accuracy(run: Run) -> float:
    """Return the dev accuracy of the last step, which nothing chose."""
    return float([line["dev_accuracy"] for line in run.metrics() if "dev_accuracy" in line][-1])


def report(name: str, claim: str, runs: Sequence[Run]) -> None:
    """Write down every condition with its interval, and the paired tests."""
    comparison: Comparison = compare(runs)
    last = comparison.conditions[-1]
    for condition in comparison.conditions:
        low, high = condition.interval
        print(f"{condition.name}: {condition.score:.1%} [{low:.1%}, {high:.1%}]")
    for pair in comparison.pairs:
        print(pair.verdict)
    seconds = {run.name: run.record["training_seconds"] for run in runs}
    write_result(
        name,
        claim=claim,
        value=last.score,
        interval=list(last.interval),
        details={
            "conditions": [
                {
                    "name": condition.name,
                    "value": condition.score,
                    "interval": list(condition.interval),
                    "seeds": list(condition.scores),
                }
                for condition in comparison.conditions
            ],
            "pairs": [
                {
                    "difference": 100 * pair.difference,
                    "interval": [100 * end for end in pair.interval],
                    "p": pair.corrected_p,
                    "verdict": pair.verdict,
                }
                for pair in comparison.pairs
            ],
            "last_step": sum(map(last_accuracy, runs)) / len(runs),
            "training_seconds": seconds,
            "seconds_a_run": sum(seconds.values()) / len(seconds),
            "n": comparison.n,
        },
        runs=hashes(runs),
        trained=sum(seconds.values()),
    )


def main() -> None:
    """Run one of the four."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["tried", "first", "joint", "fifty"])
    what = parser.parse_args().what
    data, console = Path(os.environ["ATTNLAB_DATA"]), Console(stderr=True)
    match what:
        case "tried":
            claim = f"Yelp dev accuracy by learning rate, one epoch, one seed; here {TRIED[-1]:g}"
            cells = [settings_of(data, lr=lr, length=TRIED_LENGTH) for lr in TRIED]
        case "first":
            claim = (
                f"Yelp dev accuracy of the first command, learning rate {LR:g}, mean of three seeds"
            )
            cells = [settings_of(data, seed=seed) for seed in SEEDS]
        case "joint":
            claim = "Yelp dev accuracy with masked text beside, all labels"
            cells = [settings_of(data, alpha=alpha) for alpha in (0.0, ALPHA)]
        case _:
            claim = f"Yelp dev accuracy with masked text beside, {FEW} labels"
            cells = [
                settings_of(data, alpha=alpha, labels=FEW, seed=seed, length=f"{FEW_STEPS} steps")
                for alpha in (0.0, ALPHA)
                for seed in SEEDS
            ]
    runs = [run_of(settings, console) for settings in cells]
    report(f"yelp_{what}", claim, runs)


if __name__ == "__main__":
    main()
