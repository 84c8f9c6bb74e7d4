"""What `classify select` and `classify compare` find on real data.

    python benchmarks/selection.py boolq          # the document's 3 × 3 grid, 2,000 rows, MiniLM
    python benchmarks/selection.py batch          # its 30 epochs: does dev turn down?
    python benchmarks/selection.py overfit        # ten questions learned by heart
    python benchmarks/selection.py full_size      # the hours on all questions; trains nothing
    ATTNLAB_DATA=… python benchmarks/selection.py sst2 yelp      # rate × batch × epochs, reduced
    ATTNLAB_DATA=… python benchmarks/selection.py sst2_train     # what dev chose, on its own rows
    ATTNLAB_DATA=… python benchmarks/selection.py optimizers     # as given, and each at its best
    python benchmarks/random_encoders.py $ATTNLAB_DATA/sst2/train.tsv runs/selection/encoders
    ATTNLAB_DATA=… python benchmarks/selection.py models         # three pretrained, three random

Dev chooses; then what was chosen reads test, once: that of BoolQ, or a tenth of the training rows
by a fixed seed. Stopped, the same command resumes from runs/selection.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.assets.catalogue import DEFAULT_MODEL
from attnlab.cli.classify import BY_HEART_LENGTH
from attnlab.evaluation.comparison import Comparison, compare
from attnlab.evaluation.selection import select_best
from attnlab.evaluation.turning import turn_of
from attnlab.recipes.classify.batch_size import LAST_EPOCH, TRAIN
from attnlab.recipes.classify.select import grid_cells
from attnlab.recipes.classify.settings import (
    BatchSizeSettings,
    ClassifySettings,
    CompareSettings,
    SelectSettings,
)
from attnlab.recipes.jobs import find_job
from attnlab.recipes.planning import plan_of
from attnlab.recipes.studies import Finished
from attnlab.report.epochs import epochs_of
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import read_json
from attnlab.runs.study import Study
from measure import RESULTS, hashes, write_result
from train_accuracy import train_accuracy

RUNS = Path("runs/selection")
SHARE, FEW = 0.1, 2_000
"""The share of the rows that is test, and the rows to learn from where all would take long."""


def data(name: str) -> Path:
    """Return a file or folder of ATTNLAB_DATA."""
    return Path(os.environ["ATTNLAB_DATA"]) / name


def tinybert() -> str:
    """Return the folder of TinyBERT."""
    return str(data("weights/tinybert-4l-312"))


def sst2(*, labels: int = 0) -> ClassifySettings:
    """Return what all runs on SST-2 share."""
    base = SelectSettings().base
    train, dev = str(data("sst2/train.tsv")), str(data("sst2/dev.tsv"))
    return replace(base, train=train, dev=dev, test_share=SHARE, labels=labels)


def select_on_boolq(*, labels: int = FEW) -> SelectSettings:
    """Return the document's grid: three rates and three numbers of epochs."""
    base = replace(SelectSettings().base, train="boolq", labels=labels, max_len=128)
    return SelectSettings(lrs=(1e-4, 5e-4, 1e-3), epochs=(5, 7, 9), base=base)


def batch_size_on_boolq(*, labels: int = FEW) -> BatchSizeSettings:
    """Return the document's 30 epochs, with what fits into 2 GB."""
    base = replace(BatchSizeSettings().base, train="boolq", labels=labels, max_len=128)
    return BatchSizeSettings(memory="2GB", effective_batch=64, epochs=30, base=base)


def select_on_sst2() -> SelectSettings:
    """Return a small grid of batch size, rate and epochs."""
    return SelectSettings(lrs=(3e-5, 1e-4), epochs=(1, 2), batch_sizes=(32, 64), base=sst2())


def select_on_yelp() -> SelectSettings:
    """Return three rates and two lengths for TinyBERT."""
    train, dev = str(data("yelp/train.csv")), str(data("yelp/dev.csv"))
    base = replace(SelectSettings().base, train=train, dev=dev, test_share=SHARE, model=tinybert())
    return SelectSettings(lrs=(3e-5, 1e-4, 3e-4), epochs=(1, 2), base=base)


def compare_optimizers(*lrs: float) -> CompareSettings:
    """Return three optimizers, at one rate or each at the one that dev chooses for it."""
    return CompareSettings(
        models=(DEFAULT_MODEL,),
        optimizers=("sgd", "adagrad", "adamw"),
        lrs=lrs,
        epochs=(3,),
        base=sst2(labels=FEW),
    )


def compare_models() -> CompareSettings:
    """Return pretrained models, and random ones named as such, each at its own rate."""
    random = [str(folder) for folder in sorted((RUNS / "encoders").glob("random-*"))]
    pretrained = [DEFAULT_MODEL, tinybert(), str(data("weights/bert-tiny-2l-128"))]
    return CompareSettings(
        models=(*pretrained, *random), lrs=(5e-5, 3e-4), epochs=(3,), base=sst2(labels=FEW)
    )


def run_study(job: str, settings: Any, name: str, console: Console) -> Study:
    """Run a study, or go on with it."""
    study = find_job(job).run(settings, place=RunPlace(RUNS, name), console=console)
    assert isinstance(study, Study)
    return study


def write_selection(name: str, settings: SelectSettings, console: Console) -> None:
    """Run a grid; write down every cell, what dev chose and what it scored on test."""
    study = run_study("classify-select", settings, name, console)
    runs = [Run.open(study.path / cell["name"]) for cell in study.cells]
    grid = [run for run in runs if "test" not in run.record["scores"]]
    tested = next(run for run in runs if "test" in run.record["scores"])
    best, test = select_best(grid), tested.record["scores"]["test"]
    place = RunPlace(RUNS, f"{name}-chosen-on-train")
    details = {
        "train": train_accuracy(tested, settings.base, place=place, console=console),
        "cells": conditions_of(best.comparison),
        "n_dev": best.comparison.n,
        "chosen": best.chosen.name,
        "tied": best.tied,
        "not_distinguishable": best.alike,
        "one_class_to_all": best.constant,
        "within_reach_of_the_majority": best.at_majority,
        "n_test": test["n"],
        "majority_on_test": test["baseline"]["value"],
    }
    write(f"selection_{name}", f"{name} test accuracy of what dev chose", test, details, runs)


def write_chosen_on_train(console: Console) -> None:
    """Train the cell that the grid on SST-2 chose once more, alone; ask it its own training rows.

    It is trained in one go instead of going on from the run of fewer epochs, which is the same bit
    for bit with the same threads; with others it is not, so its dev score is written down as well.
    """
    chosen = read_json(RESULTS / "selection_sst2.json")["details"]["chosen"]
    cells = grid_cells(select_on_sst2(), Finished(RUNS, {}))
    settings = replace(next(one for one in cells if one.name == chosen).settings, resume_from="")
    train = find_job("classify-train")
    run = train.run(settings, place=RunPlace(RUNS, "sst2-chosen-again"), console=console)
    place = RunPlace(RUNS, "sst2-chosen-again-on-train")
    score = train_accuracy(run, settings, place=place, console=console)
    dev = run.record["scores"]["dev"]
    epochs = epochs_of(run.metrics(), run.record["steps_per_epoch"])
    details = {
        "chosen": chosen,
        "n_train": score["n"],
        "dev": {key: dev[key] for key in ("value", "interval", "n")},
        "train_accuracy_while_training": [one.values["train_accuracy"] for one in epochs],
        "threads": run.record["resolved"]["threads"],
        "training_seconds": run.record["training_seconds"],
    }
    claim = "sst2 accuracy of what dev chose, trained once more, on the rows it was trained on"
    write("selection_sst2_train", claim, score, details, [run])


def write_comparison(name: str, settings: CompareSettings, console: Console) -> None:
    """Run a comparison; write down all scores on test and dev, and which differ."""
    study = run_study("classify-compare", settings, name, console)
    runs = study.opened()
    on_test, on_dev = compare(runs, split="test"), compare(runs, split="dev")
    best = max(on_test.conditions, key=lambda condition: condition.score)
    details = {
        "test": conditions_of(on_test),
        "dev": conditions_of(on_dev),
        "chosen_lr": {key_of(run.name): run.setting("training")["optimizer"]["lr"] for run in runs},
        "train_in_last_epoch": {key_of(run.name): last_train_accuracy(run) for run in runs},
        "verdicts": [pair.verdict for pair in on_test.pairs],
        "n_test": on_test.n,
        "n_dev": on_dev.n,
    }
    score = {"value": best.score, "interval": best.interval}
    write(f"comparison_{name}", f"sst2 test accuracy of the best of {name}", score, details, runs)


def write_turn(settings: BatchSizeSettings, console: Console) -> None:
    """Find the largest batch and train on; write down whether and when dev turned down."""
    study = run_study("classify-batch-size", settings, "batch", console)
    runs = {run.name: run for run in study.opened()}
    trained, last = runs[TRAIN], runs.get(LAST_EPOCH)
    epochs = epochs_of(trained.metrics(), trained.record["steps_per_epoch"])
    turn = turn_of(trained, last, epochs=len(epochs))
    probes = [run.record["probe"] for run in runs.values() if "probe" in run.record]
    details = {
        "largest_batch": max(probe["batch_size"] for probe in probes if probe["fits"]),
        "verdict": turn.verdict,
        "best_epoch": trained.record["best_step"] // trained.record["steps_per_epoch"],
        "last_epoch": {"value": turn.last.score, "interval": list(turn.last.interval)},
        "p": turn.p_value,
        "n_dev": turn.n,
        "epochs": [one.values for one in epochs],
    }
    score = {"value": turn.best.score, "interval": turn.best.interval}
    write(
        "boolq_30_epochs", "boolq dev accuracy of the best of 30 epochs", score, details, [trained]
    )


def write_full_size() -> None:
    """Time a few steps on all 8,000 questions; write down the hours that the studies would take."""
    planned = {
        "grid": ("classify-select", select_on_boolq(labels=0)),
        "epochs": ("classify-batch-size", batch_size_on_boolq(labels=0)),
    }
    plans = {
        name: plan_of(job, settings, RunPlace(RUNS, f"all-{name}"))
        for name, (job, settings) in planned.items()
    }
    hours = {name: round(plan.seconds / 3600, 2) for name, plan in plans.items()}
    steps = {name: sum(cell.steps for cell in plan.cells) for name, plan in plans.items()}
    threads = max(plan.threads for plan in plans.values())
    details = {"hours": hours, "steps": steps, "threads": threads}
    score = {"value": hours["grid"], "interval": [hours["grid"]] * 2}
    write(
        "boolq_full_size", "predicted hours of the 3 x 3 grid on all of boolq", score, details, []
    )


def write_overfit(console: Console) -> None:
    """Learn ten questions by heart; write down how many were right in the end."""
    base = ClassifySettings()
    training = replace(base.training, length=BY_HEART_LENGTH)
    settings = replace(base, train="boolq", max_len=128, overfit=10, training=training)
    run = find_job("classify-train").run(settings, place=RunPlace(RUNS, "overfit"), console=console)
    score = run.record["scores"]["dev"]
    write("boolq_overfit", "ten boolq questions, asked after learning them", score, {}, [run])


def last_train_accuracy(run: Run) -> float | None:
    """Return the accuracy on the training rows in the last epoch, before each was learned from."""
    trained = Run.open(Path(run.setting("resume_from")))  # the chosen run read test and no more
    epochs = epochs_of(trained.metrics(), trained.record["steps_per_epoch"])
    return epochs[-1].values.get("train_accuracy") if epochs else None


def key_of(name: str) -> str:
    """Return the name of a run as a page can refer to it."""
    return name.replace("-", "_")


def conditions_of(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Return the score and interval of each condition, by names that a page can refer to."""
    return {
        key_of(one.name): {"value": one.score, "interval": list(one.interval)}
        for one in comparison.conditions
    }


def write(
    name: str, claim: str, score: dict[str, Any], details: dict[str, Any], runs: Sequence[Run]
) -> None:
    """Print and store a result."""
    for key, value in details.items():
        print(f"{key}: {value}")
    write_result(
        name,
        claim=claim,
        value=score["value"],
        interval=list(score["interval"]),
        details=details,
        runs=hashes(runs),
        trained=sum(run.record["training_seconds"] for run in runs),
    )


WHAT: dict[str, Callable[[Console], None]] = {
    "boolq": lambda console: write_selection("boolq", select_on_boolq(), console),
    "batch": lambda console: write_turn(batch_size_on_boolq(), console),
    "overfit": write_overfit,
    "full_size": lambda _: write_full_size(),
    "sst2": lambda console: write_selection("sst2", select_on_sst2(), console),
    "sst2_train": write_chosen_on_train,
    "yelp": lambda console: write_selection("yelp", select_on_yelp(), console),
    "optimizers": lambda console: (
        write_comparison("optimizers_as_given", compare_optimizers(5e-5), console),
        write_comparison("optimizers", compare_optimizers(5e-5, 5e-4, 5e-3, 5e-2), console),
    )[0],
    "models": lambda console: write_comparison("models", compare_models(), console),
}


def main() -> None:
    """Run what was asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="+", choices=list(WHAT))
    for what in parser.parse_args().what:
        WHAT[what](Console(stderr=True))


if __name__ == "__main__":
    main()
