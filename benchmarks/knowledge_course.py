"""The knowledge course's model, characters and objective on two cores: how far it comes.

ATTNLAB_DATA=… python benchmarks/knowledge_course.py vanilla        # about 45 minutes
ATTNLAB_DATA=… python benchmarks/knowledge_course.py synthesizer    # about 40 minutes

Needs ATTNLAB_DATA/birthplace. A tenth of the training questions is held out and chose the settings;
dev is asked once, at the end. Stopped, the same command goes on; the runs stay in
runs/knowledge_course.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from attnlab.evaluation.comparison import compare
from attnlab.models.sizes import COURSE_VARIANTS
from attnlab.recipes.knowledge.constant import ConstantSettings, run_constant
from attnlab.recipes.knowledge.evaluate import run_evaluate
from attnlab.recipes.knowledge.pretrain import run_pretrain
from attnlab.recipes.knowledge.settings import EvaluateSettings, PretrainSettings, pretrain_recipe
from attnlab.runs.directory import RunPlace
from measure import hashes, write_result

RUNS = Path("runs/knowledge_course")


def settings_of(variant: str, data: Path) -> PretrainSettings:
    """Return the recipe `course` with one of the course's attentions."""
    recipe = pretrain_recipe("course")
    return replace(
        recipe,
        corpus=str(data / "wiki.txt"),
        questions=str(data / "birth_places_train.tsv"),
        held_out=0.1,
        model=replace(recipe.model, attention=COURSE_VARIANTS[variant]),
        training=replace(recipe.training, evaluate_every=400),
    )


def main() -> None:
    """Train, ask dev once, compare with always answering London, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant", choices=list(COURSE_VARIANTS))
    variant: str = parser.parse_args().variant
    data, console = Path(os.environ["ATTNLAB_DATA"]) / "birthplace", Console(stderr=True)
    train, dev = str(data / "birth_places_train.tsv"), str(data / "birth_dev.tsv")
    run = run_pretrain(settings_of(variant, data), place=RunPlace(RUNS, variant), console=console)
    asked = run_evaluate(
        EvaluateSettings(str(run.path), dev, samples=0),
        place=RunPlace(RUNS, f"{variant}-asked"),
        console=console,
    )
    london = run_constant(ConstantSettings(train, dev), place=RunPlace(RUNS, "london"))
    comparison = compare([london, asked])
    (pair,) = comparison.pairs
    curve = [
        {key: line[key] for key in ("seconds", "held_out_accuracy", "held_out_loss")}
        for line in run.metrics()
        if "held_out_accuracy" in line
    ]
    score = asked.record["scores"]["test"]
    different = len({row["prediction"] for row in asked.predictions("test")})
    print(f"{variant}: {score['value']:.1%} of {score['n']}, {different} different answers")
    print(pair.verdict)
    write_result(
        f"knowledge_course_{variant}",
        claim=f"accuracy on the course's dev questions, its own model and objective, {variant}",
        value=score["value"],
        interval=score["interval"],
        details={
            "training_seconds": run.record["training_seconds"],
            "tokens": run.record["tokens"],
            "different_answers": different,
            "against_london": pair.verdict,
            "held_out": curve,
        },
        runs=hashes([run, asked]),
    )


if __name__ == "__main__":
    main()
