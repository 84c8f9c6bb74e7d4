"""Grade submissions: A2S3, the code of Steps 1 to 4 and what Step 5 recorded.

    python grade.py class/ada class/bob.zip

One folder or zip per student. Their code runs in separate processes with limits of time and memory;
none of it is imported here.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("grade.py")  # what follows takes a while to load

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the graders of all courses are in courses/grading

from grading import sandbox
from grading.classroom import Assignment, add_arguments, grade_class
from grading.findings import Part
from grading.sandbox import Limits
from grading.sst2 import batches, probe, results, toy, training
from grading.submission import NOTEBOOKS, chosen_notebook

from attnlab.cli.course import run_command

NAME = "A2S3"
ASSIGNMENT = Assignment(
    wanted=[f"{NAME}{suffix}" for suffix in reversed(NOTEBOOKS)],
    points={
        **{"1 dataset": 6, "2 loaders": 5, "3 training": 3, "3 evaluation": 5},
        **{"4 main loop": 4, "5 test": 1},
    },
    by_hand="the report: 16 questions, Q1.1 to Q5.1, 1 point each.",
)
TITLES = {
    "1 dataset": "SST2Dataset and collate_fn",
    "2 loaders": "make_loaders",
    "3 training": "train_one_epoch",
    "3 evaluation": "evaluation",
    "4 main loop": "fit",
    "5 test": "the final model",
}


def grade(folder: Path, limits: Limits) -> list[Part]:
    """Grade the notebook, and what it recorded."""
    file, note = chosen_notebook(folder, NAME, ASSIGNMENT.wanted)
    assert file is not None  # or the folder is no submission
    findings, notes = results.grade(folder)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        toy.write(place)
        asked = {"kind": "all", "folder": name, "model": str(place / toy.MODEL)}
        asked |= {**batches.request(), **training.request()}
        answer = sandbox.ask(probe, file, asked, limits)
        steps = {"1 dataset": batches.STEP_1, "2 loaders": batches.STEP_2}
        steps |= training.checks_of(place, answer[1])
        found = {part: batches.judged(answer[0], checks) for part, checks in steps.items()}
    found["5 test"] = findings
    first = {"1 dataset": [note] if note else [], "5 test": notes}
    return [
        Part(part, TITLES[part], found[part], of, shared=len(found[part]) > 1,
             notes=first.get(part, []))
        for part, of in ASSIGNMENT.points.items()
    ]  # fmt: skip


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="grade.py",
        description="Grade the notebooks of submissions, one folder or zip per student.",
        epilog="example: python grade.py class/*",
    )
    add_arguments(parser)
    run_command(parser, lambda options: grade_class(options, ASSIGNMENT, grade), folder=HERE)


if __name__ == "__main__":
    main()
