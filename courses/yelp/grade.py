"""Grade submissions: Problem 2, the classifier, and Problem 3, joint training with masked text.

    python grade.py assignment_ada.zip assignment_bob.zip --labels test.csv

One folder or zip per student. Their code runs in separate processes with limits of time and memory;
none of it is imported here. Points: 20 for Problem 2 (code 12, test score 8) and 30 for Problem 3
(masked language model 8, MLM inputs 6, joint model and loss 6, runs on all labels 4, on 50 labels 6).
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("grade.py")  # what follows takes a while to load

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the graders of all courses are in courses/grading

from grading import sandbox
from grading.classroom import Assignment, add_arguments, grade_class, share
from grading.findings import Part
from grading.sandbox import Limits
from grading.yelp import checkpoint, classifier, joint, masked_lm, masking, probe, results

from attnlab.cli.course import run_command
from attnlab.data.labelled_text import Example

ASSIGNMENT = Assignment(
    wanted=["mymodel.py", "classifier.py"],
    points={"2 code": 12, "2 score": 8, "3.1(a)": 8, "3.1(b)": 6, "3 joint": 6, "3.2": 4, "3.3": 6},
    by_hand="Problem 1, 21 points, and the report: hyperparameters and analysis.",
)
MODELS = {
    "2 code": ("BertForSequenceClassification", classifier),
    "3.1(a)": ("BertForMaskedLanguageModel", masked_lm),
    "3 joint": ("BertForCLSMLM and the joint loss", joint),
}
ALL = (results.ALONE, results.JOINT)
FEW = (results.FEW_ALONE, results.FEW_JOINT)
RUNS = {
    "2 score": ("accuracy on the test set", [results.ALONE], None),
    "3.2": ("joint training", [results.JOINT], ALL),
    "3.3": ("joint training with 50 labels", list(FEW), FEW),
}
"""The runs that each part needs, and the two that are compared."""


def grade(
    folder: Path, limits: Limits, labels: Sequence[Example] | None, options: argparse.Namespace
) -> list[Part]:
    """Grade the parts: the code first, then the runs."""
    parts = grade_code(folder, limits, options.seed)
    parts |= grade_runs(results.Results.of(folder), labels, options.accuracy)
    return [parts[name] for name in ASSIGNMENT.points]


def grade_code(folder: Path, limits: Limits, seed: int) -> dict[str, Part]:
    """Grade what is checked without training, each class in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "bert"
        checkpoint.write(model)
        found = {}
        for part, (title, checks) in MODELS.items():
            answer = sandbox.ask(probe, folder / "mymodel.py", checks.request(model), limits)
            found[part] = (title, checks.grade(answer))
        asked = masking.request(model, seed=seed)
        answer = sandbox.ask(probe, folder / "classifier_mlm.py", asked, limits)
        found["3.1(b)"] = ("MLM inputs", masking.grade(answer))
    return {
        part: Part(part, title, findings, ASSIGNMENT.points[part], shared=True)
        for part, (title, findings) in found.items()
    }


def grade_runs(
    runs: results.Results, labels: Sequence[Example] | None, at_least: float
) -> dict[str, Part]:
    """Grade what was trained; whether joint training helped is a note for the teacher."""
    parts = {}
    for name, (title, kinds, pair) in RUNS.items():
        wanted = at_least if kinds == [results.ALONE] else None
        findings = [
            finding
            for kind in kinds
            for finding in results.grade(runs, kind, labels, at_least=wanted)
        ]
        notes = results.compared(runs, pair, labels) if pair else []
        parts[name] = Part(name, title, findings, ASSIGNMENT.points[name], notes=notes)
    return parts


def work(options: argparse.Namespace) -> None:
    """Grade the class."""
    labels = results.read_labels(options.labels) if options.labels else None
    grade_class(options, ASSIGNMENT, lambda folder, limits: grade(folder, limits, labels, options))


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="grade.py",
        description="Grade the code and the runs of submissions, one folder or zip per student.",
        epilog="example: python grade.py class/*.zip --labels test.csv",
    )
    add_arguments(parser)
    add = parser.add_argument
    add("--labels", type=Path, metavar="FILE", help="the test set with its labels")
    add("--accuracy", type=share, default=0.55, metavar="SHARE",
        help="wanted in Problem 2 (default 0.55)")  # fmt: skip
    add("--seed", type=int, default=0, metavar="N", help="seed of the draws (default 0)")
    run_command(parser, work, folder=HERE)


if __name__ == "__main__":
    main()
