"""The knowledge course's model, characters and objective on two cores: what they achieve.

ATTNLAB_DATA=… python benchmarks/knowledge_course.py vanilla        # at most 45 minutes
ATTNLAB_DATA=… python benchmarks/knowledge_course.py synthesizer    # at most 45 minutes
ATTNLAB_DATA=… python benchmarks/knowledge_course.py levers         # tokens per second, 3 minutes

Needs ATTNLAB_DATA/birthplace. The study ``attnlab knowledge course``: read the corpus, try several
ways of fine-tuning, and ask dev once with the one that a tenth of the training questions chose.
Stopped, the same command goes on; the runs stay in runs/knowledge_course.

``--set base.objective.options.jitter=8`` changes one lever, prints what comes out on the held-out
questions and on dev, and writes no result; every combination is a study of its own.

Beside the questions the model is given the beginning of a person's own line, up to the birthplace.
Who is completed there has the place stored, whether or not a question reaches it.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from attnlab.config import resolve
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
from attnlab.recipes.knowledge.study_settings import CourseSettings
from attnlab.runs.directory import Run, RunPlace
from measure import hashes, write_result

RUNS = Path("runs/knowledge_course")
LEVERS: dict[str, Sequence[str]] = {
    "nothing": ["base.training.optimizer.options.orthogonalize_in=weights"],
    "bfloat16_in_muon": ["base.training.optimizer.options.orthogonalize_in=auto"],
    "batch_of_4096": ["base.batch_tokens=4096"],
    "batch_of_8192": ["base.batch_tokens=8192"],
}
"""Settings that change the speed of reading; all but the first have bfloat16 in Muon, too."""
TIMED, WARM = 60, 20
"""Steps of a lever's trial, and how many of them are not timed."""


def settings_of(variant: str, data: Path, changed: Sequence[str]) -> CourseSettings:
    """Return the study's settings with some of them changed."""
    usual = CourseSettings()
    named = replace(
        usual,
        questions=str(data / "birth_places_train.tsv"),
        dev=str(data / "birth_dev.tsv"),
        variant=variant,
        base=replace(usual.base, corpus=str(data / "wiki.txt")),
    )
    settings: CourseSettings = resolve(named, sets=changed)
    return settings


def levers(data: Path, console: Console) -> None:
    """Measure how fast each lever reads, one after the other, in a folder that is not kept."""
    found = {}
    for name, changed in LEVERS.items():
        base = settings_of("vanilla", data, changed).base
        training = replace(base.training, length=f"{TIMED} steps", log_every=WARM)
        with tempfile.TemporaryDirectory() as folder:
            run = find_job("knowledge-pretrain").run(
                replace(base, training=training), place=RunPlace(Path(folder)), console=console
            )
            first, *_, last = run.metrics()
        rate = (last["tokens"] - first["tokens"]) / (last["seconds"] - first["seconds"])
        found[name] = {"tokens_per_second": round(rate)}
        print(f"{name}: {rate:,.0f} tokens per second")
    gain = found["bfloat16_in_muon"]["tokens_per_second"] / found["nothing"]["tokens_per_second"]
    write_result(
        "knowledge_course_levers",
        claim="speed of reading with bfloat16 in Muon, relative to float32 there",
        value=gain,
        interval=[gain, gain],
        details={"levers": found, "steps": TIMED - WARM},
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


def ways_tried(runs: Sequence[Run], variant: str) -> dict[str, Any]:
    """Return what every way of fine-tuning scores on the held-out questions."""
    scores = {run.name.removeprefix(f"{variant}-"): run.record["scores"] for run in runs}
    return {
        way.replace("-", "_").replace(".", "_"): found["held_out"]["value"]
        for way, found in scores.items()
        if "held_out" in found
    }


def main() -> None:
    """Train, ask dev once, compare with always answering London, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*COURSE_VARIANTS, "levers"])
    parser.add_argument("--set", action="append", default=[], dest="changed", metavar="KEY=VALUE")
    given = parser.parse_args()
    data, console = Path(os.environ["ATTNLAB_DATA"]) / "birthplace", Console(stderr=True)
    if given.what == "levers":
        levers(data, console)
        return
    variant: str = given.what
    settings = settings_of(variant, data, given.changed)
    place = RunPlace(RUNS, None if given.changed else variant)
    study = find_job("knowledge-course").run(settings, place=place, console=console)
    by_name = {run.name: run for run in study.begun()}
    asked, read = by_name[variant], by_name[f"{variant}-pretrained"]
    tuned = by_name[Path(asked.setting("run")).name]
    (pair,) = compare([by_name["majority"], asked]).pairs
    shift = int(settings.base.objective.options["shift"])
    corpus = read_corpus(data / "wiki.txt")
    questions = read_questions(Path(settings.dev), labelled=True)
    known = {
        when: stored(load_language_model(at), corpus, questions, shift=shift)
        for when, at in (("after_reading", read), ("after_the_questions", tuned))
    }
    tried = ways_tried(list(by_name.values()), variant)
    split = asked.record["file_split"]
    score = asked.record["scores"][split]
    different = len({row["prediction"] for row in asked.predictions(split)})
    print(f"{variant}: {score['value']:.1%} of {score['n']}, {different} different answers")
    print(pair.verdict)
    print(f"held out: {tried}; chosen: {tuned.name}")
    print(f"stored: {known}")
    if given.changed:
        return
    trained = [run for run in by_name.values() if "training_seconds" in run.record]
    seconds = sum(run.record["training_seconds"] for run in trained)
    write_result(
        f"knowledge_course_{variant}",
        claim=f"accuracy on the course's dev questions, its own model and objective, {variant}",
        value=score["value"],
        interval=score["interval"],
        details={
            "training_seconds": seconds,
            "tokens": read.record["tokens"] + tuned.record["tokens"],
            "different_answers": different,
            "against_london": pair.verdict,
            "stored": known,
            "ways": tried,
            "chosen": tuned.name,
        },
        runs=hashes([read, tuned, asked]),
        trained=seconds,
    )


if __name__ == "__main__":
    main()
