"""Grade submissions: 2(d) predictions, 2(e) span corruption, 2(f) accuracy, 2(g)i the synthesizer.

    python grade.py assignment_ada.zip assignment_bob.zip --labels birth_test.tsv

One folder or zip per student. Their code runs in separate processes with limits of time and memory;
none of it is imported here.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("grade.py")  # what follows takes a while to load

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the graders of all courses are in courses/grading

from grading import sandbox
from grading.classroom import Assignment, add_arguments, grade_class, share
from grading.findings import Part
from grading.knowledge import baseline, corruption, predictions, probe, synthesizer
from grading.sandbox import Limits

from attnlab.cli.course import run_command

ASSIGNMENT = Assignment(
    wanted=["src"],
    points={"2(d)": 5, "2(e)": corruption.POINTS, "2(f)": 10, "2(g)i": 8},
    by_hand="2(g)ii, 2 points, and the other written answers.",
)


def grade(
    folder: Path, limits: Limits, labels: Sequence[str] | None, options: argparse.Namespace
) -> list[Part]:
    """Grade the parts, one after the other."""
    asked = corruption.request(seed=options.seed)
    answer = sandbox.ask(probe, folder / "src" / "dataset.py", asked, limits)
    return [
        grade_baseline(folder, limits, labels),
        corruption.grade(answer),
        grade_pretrained(folder, labels, options.vanilla_accuracy),
        grade_synthesizer(folder, limits, labels, options.synthesizer_accuracy),
    ]


def grade_baseline(folder: Path, limits: Limits, labels: Sequence[str] | None) -> Part:
    """Grade 2(d): both prediction files, and the score of London."""
    model = predictions.NO_PRETRAINING
    findings = [predictions.grade_file(folder, model, split, labels) for split in ("dev", "test")]
    file = folder / "src" / "london_baseline.py"
    findings.append(baseline.grade(sandbox.ask(probe, file, baseline.request(), limits)))
    return Part("2(d)", "predictions without pretraining", findings, ASSIGNMENT.points["2(d)"])


def grade_pretrained(folder: Path, labels: Sequence[str] | None, at_least: float) -> Part:
    """Grade 2(f): the accuracy on the test set."""
    (accuracy, collapse), notes = predictions.grade_accuracy(
        folder, predictions.VANILLA, labels, at_least=at_least
    )
    notes += [collapse.seen] if collapse.passed is False else []
    return Part("2(f)", "pretrained", [accuracy], ASSIGNMENT.points["2(f)"], notes=notes)


def grade_synthesizer(
    folder: Path, limits: Limits, labels: Sequence[str] | None, at_least: float
) -> Part:
    """Grade 2(g)i: the code, the weights, and the accuracy of a model that learned something."""
    file = folder / "src" / "attention.py"
    findings = synthesizer.grade(sandbox.ask(probe, file, synthesizer.request(), limits))
    accuracy, notes = predictions.grade_accuracy(
        folder, predictions.SYNTHESIZER, labels, at_least=at_least
    )
    findings = [*findings, predictions.grade_params(folder), *accuracy]
    return Part("2(g)i", "synthesizer", findings, ASSIGNMENT.points["2(g)i"], notes=notes)


def work(options: argparse.Namespace) -> None:
    """Grade the class."""
    labels = predictions.read_labels(options.labels) if options.labels else None
    grade_class(options, ASSIGNMENT, lambda folder, limits: grade(folder, limits, labels, options))


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="grade.py",
        description="Grade the code and predictions of submissions, one folder or zip per student.",
        epilog="example: python grade.py class/*.zip --labels birth_test.tsv",
    )
    add_arguments(parser)
    add = parser.add_argument
    add("--labels", type=Path, metavar="FILE", help="the test set with its answers")
    add("--vanilla-accuracy", type=share, default=0.10, metavar="SHARE",
        help="wanted in 2(f) (default 0.10)")  # fmt: skip
    add("--synthesizer-accuracy", type=share, default=0.05, metavar="SHARE",
        help="wanted in 2(g)i (default 0.05)")  # fmt: skip
    add("--seed", type=int, default=0, metavar="N", help="seed of the draws (default 0)")
    run_command(parser, work, folder=HERE)


if __name__ == "__main__":
    main()
