"""How much of a corpus the recipes ``recall`` and ``synthetic`` can answer, by seconds.

    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py curve        # three seeds a length
    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py ablations    # one seed each
    ATTNLAB_DATA=… python benchmarks/knowledge_recall.py baselines    # London; questions alone

The data are the knowledge course's (`birthplace/` in the folder ATTNLAB_DATA). A reader learns from
the training questions and picks an answer for everybody in the corpus, dev's people among them;
no label of dev is used. In `recall` its answers say which spans the views favour, and dev's people
are never asked about in training. In `synthetic` they are, with its answers. The recipes start from
a prototype whose variants had been compared on dev; every choice since then was made on a fifth of
the training questions that was held out, and dev is asked once a run, at its end.

Three times are measured: `seconds` are those of training steps, `reader_seconds` what the reader
takes before them, and `whole_seconds` the whole run, with reading the files, learning the
tokenizer, answering and saving; loading Python is not counted. The ablations are those of the
recipe before it had a reader, with `prefer=answers`. Runs are kept in runs/knowledge_recall (0.4 GB
each), so that a stopped benchmark goes on.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

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
from attnlab.runs.files import parse_object, replace_file, to_json
from attnlab.training.settings import OptimizerSettings
from measure import hashes, write_result

RUNS = Path("runs/knowledge_recall")
WHOLE_SECONDS = RUNS / "whole_seconds.json"
LENGTHS = ("200k", "400k", "750k", "1.5M", "3M")
SEEDS, ABLATION_LENGTH, LONGER = (0, 1, 2), "1.5M", "3M"
CLAIMS = {
    "recall": "accuracy on the course's dev questions, mean of three seeds, against seconds",
    "synthetic": "accuracy on the course's dev questions, which are asked in training with the"
    " answers of a reader, mean of three seeds, against seconds",
}


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
    settings, begin = replace(settings, training=training), time.perf_counter()
    run: Run = find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS), console=Console(stderr=True)
    )
    _keep_whole_seconds(run, time.perf_counter() - begin)
    return run


def _keep_whole_seconds(run: Run, took: float) -> None:
    """Write down how long a run took as a whole, unless it was there before."""
    if took >= run.record["training_seconds"]:
        kept = {**_whole_seconds(), run.name: round(took, 2)}
        replace_file(WHOLE_SECONDS, to_json(kept))


def _whole_seconds() -> dict[str, float]:
    path = WHOLE_SECONDS
    return parse_object(path.read_bytes(), path) if path.exists() else {}


def accuracy(run: Run) -> float:
    """Return the accuracy on dev."""
    return float(run.record["scores"]["dev"]["value"])


def right(run: Run) -> list[bool]:
    """Return which questions of dev a run has right."""
    return [row["prediction"] == row["gold"] for row in run.predictions("dev")]


def point(length: str, runs: list[Run]) -> dict[str, Any]:
    """Return what several seeds of one length come to."""
    estimate = Bootstrap.of_means([np.array([right(r) for r in runs], dtype=float)]).score(0)
    whole = _whole_seconds()
    return {
        "tokens": length,
        "seconds": round(statistics.fmean(r.record["training_seconds"] for r in runs), 1),
        "longest_seconds": max(r.record["training_seconds"] for r in runs),
        "reader_seconds": round(statistics.fmean(r.record["reader_seconds"] for r in runs), 1),
        "whole_seconds": round(statistics.fmean(whole[r.name] for r in runs), 1),
        "longest_whole_seconds": max(whole[r.name] for r in runs),
        "accuracy": round(statistics.fmean(map(accuracy, runs)), 4),
        "seeds": [round(accuracy(run), 4) for run in runs],
        "interval": [round(bound, 4) for bound in estimate.interval()],
    }


def curve(lengths: list[str]) -> None:
    """Measure accuracy against seconds for both recipes, three seeds a length."""
    found = {recipe: curve_of(recipe, lengths) for recipe in CLAIMS}
    everything = [run for one in found.values() for run in one.runs]
    trained = sum(run.record["training_seconds"] for run in everything)
    for recipe, one in found.items():
        best, record = one.points[-1], one.runs[-1].record
        write_result(
            f"knowledge_{recipe}",
            claim=CLAIMS[recipe],
            value=best["accuracy"],
            interval=best["interval"],
            details={
                "curve": {point["tokens"].replace(".", "_"): point for point in one.points},
                "n": record["scores"]["dev"]["n"],
                "reader": record["reader"],
                "views_favour": record["views_favour"],
                "synthetic_questions": record.get("synthetic_questions", 0),
            },
            runs=hashes(one.runs),
            trained=trained,
        )


class Curve(NamedTuple):
    """What one recipe comes to, length by length."""

    points: list[dict[str, Any]]
    runs: list[Run]


def curve_of(recipe: str, lengths: list[str]) -> Curve:
    """Train a recipe at every length, and print what it scores."""
    found = Curve([], [])
    for length in lengths:
        runs = [apply_context(length, seed, recipe=recipe) for seed in SEEDS]
        found.runs.extend(runs)
        found.points.append(point(length, runs))
        print(recipe, found.points[-1], flush=True)
    return found


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


def ablated(length: str, seed: int, change: Callable[[PretrainSettings], PretrainSettings]) -> Run:
    """Change one thing of the recipe as it was before it had a reader."""
    return apply_context(length, seed, lambda s: change(replace(s, prefer="answers")))


def option(settings: PretrainSettings, **options: float) -> PretrainSettings:
    """Change options of the objective."""
    objective = settings.objective
    return replace(settings, objective=replace(objective, options={**objective.options, **options}))


def questions_at_the_end() -> Run:
    """Read without questions, then finetune on them."""
    start = ablated(ABLATION_LENGTH, 0, lambda s: replace(s, questions="", dev=""))
    given = {name: path for name, path in files().items() if name != "corpus"}
    settings = replace(RECIPES["recall"][1], start=str(start.path), **given)
    settings = replace(settings, training=replace(settings.training, save_every=100_000))
    return find_job("knowledge-finetune").run(
        settings, place=RunPlace(RUNS), console=Console(stderr=True)
    )


def ablations(_: list[str]) -> None:
    """Change one thing at a time, one seed each; the preference for answers with three.

    All prefer answers: they were chosen and measured before views favoured a reader's.
    """
    found: dict[str, Any] = {}
    runs = {name: ablated(ABLATION_LENGTH, 0, change) for name, change in ABLATIONS.items()}
    runs["questions at the end"] = questions_at_the_end()
    unpreferred = ABLATIONS["no preference for answers"]
    longer = [ablated(LONGER, seed, unpreferred) for seed in SEEDS]
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
