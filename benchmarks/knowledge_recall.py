"""How much of a corpus the recipe ``recall`` can answer, by seconds of training.

    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py curve        # three seeds a length
    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py ablations    # one seed each
    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py baselines    # London; questions alone

The data are the knowledge course's (`birthplace/` in the folder ATTNLAB_DATA): people of dev stand
in the corpus, their questions are never trained on. The recipe starts from a prototype whose
variants had been compared on dev; every choice since then was made on a fifth of the training
questions that was held out, and dev is asked once a run, at its end. Seconds are those of training
steps: reading the files, learning the tokenizer, answering and saving come on top. Runs are kept
in runs/knowledge_recall (0.4 GB each), so that a stopped benchmark goes on.
"""

import argparse
import os
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from attnlab.evaluation.accuracy import score_answers
from attnlab.evaluation.bootstrap import Bootstrap
from attnlab.evaluation.significance import mcnemar
from attnlab.models.sizes import NGramTableSize
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import (
    RECIPES,
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings
from measure import hashes, write_result

RUNS = Path("runs/knowledge_recall")
LENGTHS = ("200k", "400k", "750k", "1.5M", "3M", "6M")
SEEDS, ABLATION_LENGTH, LONGER = (0, 1, 2), "1.5M", "3M"


def files() -> dict[str, str]:
    """Return the course's files by their setting."""
    if "ATTNLAB_DATA" not in os.environ:
        raise SystemExit("set ATTNLAB_DATA to the folder that holds birthplace/")
    folder = Path(os.environ["ATTNLAB_DATA"]) / "birthplace"
    return {
        "corpus": str(folder / "wiki.txt"),
        "questions": str(folder / "birth_places_train.tsv"),
        "dev": str(folder / "birth_dev.tsv"),
    }


def apply_context(
    length: str, seed: int, change: Callable[[Any], Any] = lambda s: s, *, recipe: str = "recall"
) -> Run:
    """Run a recipe for a number of tokens, perhaps with one thing changed."""
    settings = change(replace(RECIPES[recipe].pretrain, **files()))
    training = replace(settings.training, length=f"{length} tokens", seed=seed, save_every=100_000)
    settings = replace(settings, training=training)
    return find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS), console=Console(stderr=True)
    )


def accuracy(run: Run) -> float:
    """Return the accuracy on dev."""
    return float(run.record["scores"]["dev"]["value"])


def right(run: Run) -> list[bool]:
    """Return which questions of dev a run has right."""
    return [row["prediction"] == row["gold"] for row in run.predictions("dev")]


def point(length: str, runs: list[Run]) -> dict[str, Any]:
    """Return what several seeds of one length come to."""
    estimate = Bootstrap.of_means([np.array([right(r) for r in runs], dtype=float)]).score(0)
    return {
        "tokens": length,
        "seconds": round(statistics.fmean(r.record["training_seconds"] for r in runs), 1),
        "longest_seconds": max(r.record["training_seconds"] for r in runs),
        "accuracy": round(statistics.fmean(map(accuracy, runs)), 4),
        "seeds": [round(accuracy(run), 4) for run in runs],
        "interval": [round(bound, 4) for bound in estimate.interval()],
    }


def curve(lengths: list[str]) -> None:
    """Measure accuracy against seconds, three seeds a length."""
    points, everything = [], []
    for length in lengths:
        runs = [apply_context(length, seed) for seed in SEEDS]
        everything += runs
        points.append(point(length, runs))
        print(points[-1])
    best = points[-1]
    write_result(
        "knowledge_recall",
        claim="accuracy on the course's dev questions, mean of three seeds, against seconds",
        value=best["accuracy"],
        interval=best["interval"],
        details={
            "curve": {p["tokens"].replace(".", "_"): p for p in points},
            "n": len(right(everything[0])),
        },
        runs=hashes(everything),
    )


ABLATIONS: dict[str, Callable[[PretrainSettings], PretrainSettings]] = {
    "recall": lambda s: s,
    "no memory": lambda s: replace(s, model=replace(s.model, ngram_table=NGramTableSize())),
    "questions write the memory": lambda s: replace(s, questions_write=True),
    "plain text instead of views": lambda s: replace(s, objective=ObjectiveSettings("text")),
    "views that only list": lambda s: option(s, asked=0.0),
    "no preference for answers": lambda s: option(s, answers_weigh=1.0),
    "all spans of a line": lambda s: option(s, spans=20),
    "nothing round the name": lambda s: option(s, around=0, asked=0.0),
    "two layers": lambda s: replace(s, model=replace(s.model, n_layers=2)),
    "256 wide": lambda s: replace(s, model=replace(s.model, d_model=256)),
    "characters": lambda s: replace(s, tokenizer=TokenizerSettings("characters")),
    "AdamW instead of Muon": lambda s: replace(
        s, training=replace(s.training, optimizer=OptimizerSettings("adamw", lr=3e-3))
    ),
}


def option(settings: PretrainSettings, **options: float) -> PretrainSettings:
    """Change options of the objective."""
    objective = settings.objective
    return replace(settings, objective=replace(objective, options={**objective.options, **options}))


def questions_at_the_end() -> Run:
    """Read without questions, then finetune on them."""
    start = apply_context(ABLATION_LENGTH, 0, lambda s: replace(s, questions="", dev=""))
    given = {name: path for name, path in files().items() if name != "corpus"}
    settings = replace(RECIPES["recall"][1], start=str(start.path), **given)
    settings = replace(settings, training=replace(settings.training, save_every=100_000))
    return find_job("knowledge-finetune").run(
        settings, place=RunPlace(RUNS), console=Console(stderr=True)
    )


def ablations(_: list[str]) -> None:
    """Change one thing at a time, one seed each; the preference for answers with three."""
    found: dict[str, Any] = {}
    runs = {name: apply_context(ABLATION_LENGTH, 0, change) for name, change in ABLATIONS.items()}
    runs["questions at the end"] = questions_at_the_end()
    unpreferred = ABLATIONS["no preference for answers"]
    longer = [apply_context(LONGER, seed, unpreferred) for seed in SEEDS]
    whole = runs["recall"]
    for name, run in runs.items():
        found[name.replace(" ", "_")] = {
            "accuracy": accuracy(run),
            "seconds": run.record["training_seconds"],
            "p_against_recall": round(mcnemar(right(whole), right(run)), 6),
        }
        print(name, found[name.replace(" ", "_")])
    score = whole.record["scores"]["dev"]
    write_result(
        "knowledge_ablations",
        claim=f"accuracy on dev after {ABLATION_LENGTH} tokens, one seed, one thing changed",
        value=score["value"],
        interval=score["interval"],
        details={
            "conditions": found,
            "no_preference_for_longer": {
                "tokens": LONGER,
                "accuracy": round(statistics.fmean(map(accuracy, longer)), 4),
                "seeds": [accuracy(run) for run in longer],
            },
            "n": score["n"],
            "test": "exact McNemar, not corrected",
        },
        runs=hashes(list(runs.values())),
    )


def baselines(_: list[str]) -> None:
    """Ask a model that has learned from questions alone, and compare it with always London."""
    given = files()
    settings = replace(RECIPES["recall"][1], **given)
    training = replace(settings.training, length="20 epochs", save_every=100_000)
    runs = [
        find_job("knowledge-finetune").run(
            replace(settings, training=replace(training, seed=seed)),
            place=RunPlace(RUNS),
            console=Console(stderr=True),
        )
        for seed in SEEDS
    ]
    gold = [row["gold"] for row in runs[0].predictions("dev")]
    london = [answer == "London" for answer in gold]
    scores = [run.record["scores"]["dev"] for run in runs]
    estimate = Bootstrap.of_means([np.array([right(r) for r in runs], dtype=float)]).score(0)
    constant = score_answers(gold, ["London"] * len(gold), train_gold=["London"])
    print("London", constant["right"], [score["right"] for score in scores])
    write_result(
        "knowledge_baselines",
        claim="accuracy on dev of a model that learned from the training questions alone",
        value=round(statistics.fmean(score["value"] for score in scores), 4),
        interval=[round(bound, 4) for bound in estimate.interval()],
        details={
            "seeds": [score["value"] for score in scores],
            "always_London": constant["value"],
            "p_against_London": [round(mcnemar(london, right(run)), 4) for run in runs],
            "n": len(gold),
        },
        runs=hashes(runs),
    )


JOBS = {"curve": curve, "ablations": ablations, "baselines": baselines}


def main() -> None:
    """Run one of the jobs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--lengths", default=",".join(LENGTHS), help="tokens, for the curve")
    arguments = parser.parse_args()
    JOBS[arguments.job](arguments.lengths.split(","))


if __name__ == "__main__":
    main()
