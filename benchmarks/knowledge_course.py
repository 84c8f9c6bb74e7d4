"""The knowledge course's model, characters and objective on two cores: what they achieve.

ATTNLAB_DATA=… python benchmarks/knowledge_course.py vanilla        # about 40 minutes
ATTNLAB_DATA=… python benchmarks/knowledge_course.py synthesizer    # about 40 minutes

Needs ATTNLAB_DATA/birthplace. What the document's two commands do: read the corpus, then learn from
the questions. A tenth of the training questions is held out, and chose the settings; dev is asked
once, at the end. Stopped, the same command goes on; the runs stay in runs/knowledge_course.

Beside the questions the model is given the beginning of a person's own line, up to the birthplace.
Who is completed there has the place stored, whether or not a question reaches it.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from attnlab.data.entries import split_name
from attnlab.data.knowledge_files import Question, read_corpus, read_questions
from attnlab.data.objectives.span_corruption import PAD_TOKEN
from attnlab.evaluation.comparison import compare
from attnlab.evaluation.counterfactuals import names_asked
from attnlab.evaluation.intervals import wilson
from attnlab.models.decoding import continue_prompts
from attnlab.models.sizes import COURSE_VARIANTS
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.language_model import LanguageModel, load_language_model
from attnlab.recipes.knowledge.settings import (
    EvaluateSettings,
    MajoritySettings,
    find_recipe,
)
from attnlab.runs.directory import Run, RunPlace
from measure import hashes, write_result

RUNS = Path("runs/knowledge_course")
HELD_OUT = 0.1


def pretrained(variant: str, data: Path, console: Console) -> Run:
    """Read the corpus with one of the course's attentions, by the recipe `course`."""
    recipe = find_recipe("course").pretrain
    settings = replace(
        recipe,
        corpus=str(data / "wiki.txt"),
        model=replace(recipe.model, attention=COURSE_VARIANTS[variant]),
    )
    return find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS, f"{variant}-pretrained"), console=console
    )


def finetuned(variant: str, start: Run, data: Path, console: Console) -> Run:
    """Learn from the training questions, by the recipe `course`."""
    recipe = find_recipe("course").finetune
    settings = replace(
        recipe,
        start=str(start.path),
        questions=str(data / "birth_places_train.tsv"),
        held_out=HELD_OUT,
        training=replace(recipe.training, evaluate_every=100),
    )
    return find_job("knowledge-finetune").run(
        settings, place=RunPlace(RUNS, variant), console=console
    )


def stored(
    lm: LanguageModel, corpus: Sequence[str], questions: Sequence[Question], *, shift: int
) -> dict[str, Any]:
    """Count who is completed with the right place where the person's own line has it."""
    lines = {split_name(line)[0]: line for line in corpus}
    room = lm.model.max_len * 7 // 8
    asked = []
    for name, question in zip(names_asked([q.text for q in questions]), questions, strict=True):
        line, place = lines.get(name, ""), str(question.answer)
        start = line.find(place, len(name))
        if start >= 0 and start + len(place) <= room:
            asked.append((line[:start], place))
    encode, mark = lm.tokenizer.encode, lm.tokenizer.sentinel
    with torch.no_grad():
        written = continue_prompts(
            lm.model.eval(),
            [[PAD_TOKEN] * shift + encode(before) for before, _ in asked],
            stop=mark,
            max_new=max(len(place) for _, place in asked),
        )
    right = sum(
        lm.tokenizer.decode(one.tokens).startswith(place)
        for one, (_, place) in zip(written, asked, strict=True)
    )
    low, high = wilson(right, len(asked))
    return {"value": right / len(asked), "interval": [low, high], "n": len(asked)}


def main() -> None:
    """Train, ask dev once, compare with always answering London, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variant", choices=list(COURSE_VARIANTS))
    variant: str = parser.parse_args().variant
    data, console = Path(os.environ["ATTNLAB_DATA"]) / "birthplace", Console(stderr=True)
    train, dev = str(data / "birth_places_train.tsv"), str(data / "birth_dev.tsv")
    read = pretrained(variant, data, console)
    run = finetuned(variant, read, data, console)
    asked = find_job("knowledge-evaluate").run(
        EvaluateSettings(str(run.path), dev, samples=0),
        place=RunPlace(RUNS, f"{variant}-asked"),
        console=console,
    )
    london = find_job("knowledge-majority").run(
        MajoritySettings(train, dev), place=RunPlace(RUNS, "london"), console=console
    )
    (pair,) = compare([london, asked]).pairs
    shift = int(find_recipe("course").pretrain.objective.options["shift"])
    corpus, questions = read_corpus(data / "wiki.txt"), read_questions(Path(dev), labelled=True)
    known = {
        when: stored(load_language_model(at), corpus, questions, shift=shift)
        for when, at in (("after_reading", read), ("after_the_questions", run))
    }
    curve = [
        {key: line[key] for key in ("seconds", "held_out_accuracy", "held_out_loss")}
        for line in run.metrics()
        if "held_out_accuracy" in line
    ]
    split = asked.record["file_split"]
    score = asked.record["scores"][split]
    different = len({row["prediction"] for row in asked.predictions(split)})
    print(f"{variant}: {score['value']:.1%} of {score['n']}, {different} different answers")
    print(pair.verdict)
    print(f"stored: {known}")
    seconds = read.record["training_seconds"] + run.record["training_seconds"]
    write_result(
        f"knowledge_course_{variant}",
        claim=f"accuracy on the course's dev questions, its own model and objective, {variant}",
        value=score["value"],
        interval=score["interval"],
        details={
            "training_seconds": seconds,
            "tokens": read.record["tokens"] + run.record["tokens"],
            "different_answers": different,
            "against_london": pair.verdict,
            "stored": known,
            "held_out": curve,
        },
        runs=hashes([read, run, asked]),
        trained=seconds,
    )


if __name__ == "__main__":
    main()
