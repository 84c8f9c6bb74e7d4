"""The tuning methods side by side on SST-2 and BoolQ, and the document's own run on SST-2.

ATTNLAB_DATA=… python benchmarks/tuning_methods.py sst2       # full, head, lora: three seeds
python benchmarks/tuning_methods.py boolq                     # 2,000 rows, 128 tokens, one seed
ATTNLAB_DATA=… python benchmarks/tuning_methods.py document   # 64 rows a step, 5e-5, 20 epochs

SST-2 needs ATTNLAB_DATA/sst2; BoolQ is downloaded. Learning rates and lengths were set beforehand,
not chosen. The methods are evaluated once, after the last step, so dev chose nothing either. In the
document's run dev chooses the step; a tenth of the training rows, by a fixed seed, is its test set,
which is read once. Stopped, the same command goes on from runs/tuning_methods.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.console import Console

from attnlab.evaluation.comparison import compare
from attnlab.evaluation.significance import holm, mcnemar
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.report.epochs import epochs_of
from attnlab.runs.directory import Run, RunPlace
from attnlab.tuning.settings import TuningSettings
from measure import hashes, write_result

RUNS = Path("runs/tuning_methods")
SEEDS = (0, 1, 2)
TEST_SHARE, BATCH = 0.1, 64


class Method(NamedTuple):
    """A tuning method, and how it is trained."""

    name: str
    lr: float
    epochs: int = 3
    seeds: tuple[int, ...] = (0,)
    options: Mapping[str, Any] = MappingProxyType({})


SST2 = (
    Method("full", 5e-5, seeds=SEEDS),
    Method("head", 5e-3, epochs=20, seeds=SEEDS),
    Method("lora", 1e-3, seeds=SEEDS),
    Method("bitfit", 1e-3),
    Method("ia3", 5e-3),
    Method("prompt", 1e-2),
    Method("prefix", 1e-2),
)
BOOLQ = (
    Method("full", 5e-5, epochs=5),
    Method("head", 5e-3, epochs=20),
    Method("lora", 1e-3, epochs=5),
    Method("prompt", 1e-2, epochs=5, options={"length": 128}),
    Method("prefix", 1e-2, epochs=5),
)


def base_of(task: str) -> ClassifySettings:
    """Return what all methods share on a task."""
    if task == "boolq":
        return replace(ClassifySettings(), train="boolq:train", dev="boolq:dev", labels=2_000)
    data = Path(os.environ["ATTNLAB_DATA"]) / "sst2"
    return replace(ClassifySettings(), train=str(data / "train.tsv"), dev=str(data / "dev.tsv"))


def settings_of(task: str, method: Method, seed: int) -> ClassifySettings:
    """Return a method's settings; dev is asked after the last step alone."""
    base = base_of(task)
    training = replace(
        base.training,
        length=f"{method.epochs} epochs",
        seed=seed,
        optimizer=replace(base.training.optimizer, lr=method.lr),
        evaluate_every=0,
    )
    tuning = TuningSettings(method.name, dict(method.options))
    return replace(base, tuning=tuning, training=training)


def trained(settings: ClassifySettings, name: str, console: Console) -> Run:
    """Train, or take what is finished."""
    return find_job("classify-train").run(settings, place=RunPlace(RUNS, name), console=console)


def right(run: Run) -> list[bool]:
    """Say for each question of dev whether it was answered rightly."""
    return [row["prediction"] == row["gold"] for row in run.predictions("dev")]


def as_majority(run: Run) -> float:
    """Return the p-value of "as often right as always giving the most frequent answer"."""
    answer = run.record["scores"]["dev"]["baseline"]["answer"]
    return mcnemar([row["gold"] == answer for row in run.predictions("dev")], right(run))


def compare_methods(task: str, methods: Sequence[Method], console: Console) -> None:
    """Train every method with every seed; write down scores, parameters, seconds and tests."""
    runs = {
        method.name: [
            trained(settings_of(task, method, seed), f"{task}-{method.name}-{seed}", console)
            for seed in method.seeds
        ]
        for method in methods
    }
    every = [run for group in runs.values() for run in group]
    comparison = compare(every, split="dev", all_pairs=False)
    one_seed = [mcnemar(right(runs["full"][0]), right(group[0])) for group in runs.values()]
    as_full = dict(zip(runs, [1.0, *holm(one_seed[1:])], strict=True))
    found: dict[str, dict[str, Any]] = {}
    for method, condition in zip(methods, comparison.conditions, strict=True):
        group = runs[method.name]
        assert {run.name for run in group} == set(condition.runs)
        found[method.name] = {
            "value": condition.score,
            "interval": list(condition.interval),
            "seeds": list(condition.scores),
            "trained": group[0].record["n_trainable"],
            "seconds": sum(run.record["training_seconds"] for run in group) / len(group),
            "p_as_majority": [as_majority(run) for run in group],
            "p_as_full_seed_0": as_full[method.name],
            "lr": method.lr,
            "epochs": method.epochs,
        }
    for name, one in found.items():
        low, high = one["interval"]
        print(
            f"{name:7} {one['value']:.1%} [{low:.1%}, {high:.1%}] {one['trained']:>10,} trained,"
            f" {one['seconds']:.0f} s; as full: p = {one['p_as_full_seed_0']:.2g}, as majority:"
            f" p = {max(one['p_as_majority']):.2g}"
        )
    write_result(
        f"tuning_{task}",
        claim=f"{task} dev accuracy of full fine-tuning, MiniLM; the details have every method",
        value=found["full"]["value"],
        interval=found["full"]["interval"],
        details={
            "methods": found,
            "majority": every[0].record["scores"]["dev"]["baseline"]["value"],
            "n": comparison.n,
            "verdicts": [pair.verdict for pair in comparison.pairs],
            "threads": sorted({run.record["resolved"]["threads"] for run in every}),
            "precision": sorted({run.record["resolved"]["hardware"]["precision"] for run in every}),
        },
        runs=hashes(every),
        trained=sum(run.record["training_seconds"] for run in every),
    )


def document(console: Console) -> None:
    """Train at the document's values; write down every epoch and the test score."""
    base = base_of("sst2")
    n_train = len(Path(base.train).read_text().splitlines())
    per_epoch = ceil((n_train - round(n_train * TEST_SHARE)) / BATCH)
    training = replace(
        base.training,
        length="20 epochs",
        optimizer=replace(base.training.optimizer, lr=5e-5),
        schedule=replace(base.training.schedule, name="constant", warmup=0),
        evaluate_every=per_epoch,
    )
    settings = replace(base, batch_size=BATCH, test_share=TEST_SHARE, training=training)
    run = trained(settings, "sst2-document", console)
    record, test = run.record, run.record["scores"]["test"]
    epochs = epochs_of(run.metrics(), record["steps_per_epoch"])
    for epoch in epochs:
        print(epoch.number, ", ".join(f"{key} {one:.3f}" for key, one in epoch.values.items()))
    print(f"test: {test['value']:.1%} of {test['n']}, step {record['best_step']}")
    write_result(
        "sst2_document",
        claim="SST-2 test accuracy at the document's values: 64, 5e-5, 20 epochs; MiniLM, one seed",
        value=test["value"],
        interval=test["interval"],
        details={
            "dev": record["scores"]["dev"]["value"],
            "n": test["n"],
            "best_step": record["best_step"],
            "epochs": [{"epoch": epoch.number, **epoch.values} for epoch in epochs],
            "best_epoch_on": {
                split: max(epochs, key=lambda one: one.values[f"{split}_accuracy"]).number
                for split in ("train", "dev")
            },
            "training_seconds": record["training_seconds"],
        },
        runs=hashes([run]),
        trained=record["training_seconds"],
    )


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["sst2", "boolq", "document"])
    what, console = parser.parse_args().what, Console(stderr=True)
    if what == "document":
        document(console)
    else:
        compare_methods(what, {"sst2": SST2, "boolq": BOOLQ}[what], console)


if __name__ == "__main__":
    main()
