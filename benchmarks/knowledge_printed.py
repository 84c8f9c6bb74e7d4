"""The knowledge course's printed commands at its own hyperparameters: a score, and the hours.

ATTNLAB_DATA=… python benchmarks/knowledge_printed.py alone     # 2(d): 75 epochs
ATTNLAB_DATA=… python benchmarks/knowledge_printed.py hours     # 2(f), 2(g): time of a few steps

Needs ATTNLAB_DATA/birthplace. Every command is run as STUDENT.md prints it, with --to-the-letter.
`hours` trains for a few steps and says how long all of them take. The runs stay in
runs/knowledge_printed.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from attnlab.data.knowledge_files import read_corpus, read_questions
from attnlab.evaluation.intervals import wilson
from attnlab.runs.directory import RECORD
from measure import write_result

SOURCE = Path(__file__).parent.parent / "courses" / "knowledge" / "src"
FOLDER = Path("runs/knowledge_printed")
EPOCHS, ROWS = 650, 128
"""How long the course's own Trainer pretrains, and its rows per step."""
TIMED, SEEDS = 30, (0, 1, 2)
"""Steps whose time is taken, and how often."""


def command(*arguments: str) -> None:
    """Run a command of the course in the folder; what it says is shown."""
    line = [sys.executable, str(SOURCE / "run.py"), *arguments, "--to-the-letter"]
    subprocess.run(line, cwd=FOLDER, check=True)


def alone(data: Path) -> None:
    """Train on the questions alone for 75 epochs, and answer dev once."""
    corpus, train, dev = (
        str(data / name) for name in ("wiki.txt", "birth_places_train.tsv", "birth_dev.tsv")
    )
    weights, outputs = "vanilla.model.params", "vanilla.nopretrain.dev.predictions"
    to, where = ("--writing_params_path", weights), ("--finetune_corpus_path", train)
    command("finetune", "vanilla", corpus, *to, *where)
    read, ask = ("--reading_params_path", weights), ("--eval_corpus_path", dev)
    command("evaluate", "vanilla", corpus, *read, *ask, "--outputs_path", outputs)
    answers = [str(question.answer) for question in read_questions(Path(dev), labelled=True)]
    places = (FOLDER / outputs).read_text(encoding="utf-8").splitlines()
    right = sum(answer == place for answer, place in zip(answers, places, strict=True))
    (record,) = FOLDER.glob(f"runs/finetune-vanilla-*/{RECORD}")
    seconds = json.loads(record.read_text(encoding="utf-8"))["training_seconds"]
    write_result(
        "knowledge_printed_alone",
        claim="accuracy on the course's dev questions without pretraining, its own hyperparameters",
        value=right / len(answers),
        interval=list(wilson(right, len(answers))),
        details={
            "n": len(answers),
            "different_answers": len(set(places)),
            "always_London": answers.count("London") / len(answers),
            "training_seconds": seconds,
        },
        trained=seconds,
    )
    print(f"{right} of {len(answers)}, {len(set(places))} different answers")


def hours(data: Path) -> None:
    """Time some steps of both pretrainings, several times, and multiply."""
    n_steps = EPOCHS * math.ceil(len(read_corpus(data / "wiki.txt")) / ROWS)
    found = {
        variant: [_seconds(variant, data, seed) / TIMED * n_steps / 3600 for seed in SEEDS]
        for variant in ("vanilla", "synthesizer")
    }
    low, mean, high = (
        sum(map(of, found.values())) for of in (min, lambda times: sum(times) / len(times), max)
    )
    print(f"2 × {n_steps:,} steps: about {mean:.1f} hours ({low:.1f} to {high:.1f})")
    write_result(
        "knowledge_printed_hours",
        claim="hours that both pretrainings of the course take at its own hyperparameters",
        value=mean,
        interval=[low, high],
        details={"hours": found, "steps": n_steps, "timed_steps": TIMED},
    )


def _seconds(variant: str, data: Path, seed: int) -> float:
    """Return how long a few steps of pretraining take."""
    known = set(FOLDER.glob(f"runs/*/{RECORD}"))
    command(
        *("pretrain", variant, str(data / "wiki.txt"), "--seed", str(seed)),
        *("--writing_params_path", "timed.params", "--length", f"{TIMED} steps"),
    )
    (record,) = set(FOLDER.glob(f"runs/*/{RECORD}")) - known
    return float(json.loads(record.read_text(encoding="utf-8"))["training_seconds"])


def main() -> None:
    """Measure one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["alone", "hours"])
    what: str = parser.parse_args().what
    data = (Path(os.environ["ATTNLAB_DATA"]) / "birthplace").resolve()
    FOLDER.mkdir(parents=True, exist_ok=True)
    {"alone": alone, "hours": hours}[what](data)


if __name__ == "__main__":
    main()
