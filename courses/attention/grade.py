"""Grade submissions: 1.2 to 1.4 queries and keys by hand (A2S1), 2.1 attention from scratch (A2S2).

    python grade.py class/ada class/bob.zip

One folder or zip per student. Their code runs in separate processes with limits of time and memory;
none of it is imported here.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("grade.py")  # what follows takes a while to load

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the graders of all courses are in courses/grading

from grading import sandbox
from grading.attention import by_hand, from_scratch, probe
from grading.classroom import Assignment, add_arguments, grade_class
from grading.findings import Part
from grading.sandbox import Limits
from grading.submission import NOTEBOOKS, chosen_notebook

from attnlab.cli.course import run_command

ASSIGNMENT = Assignment(
    wanted=[f"{name}{suffix}" for name in ("A2S1", "A2S2") for suffix in reversed(NOTEBOOKS)],
    points={**by_hand.POINTS, **from_scratch.POINTS},
    by_hand=(
        "how the vectors of 1.2 to 1.4 were found, without which the document gives no points for"
        " them; 1.2.3, 1.3.3 and 1.4.3, 2 points each; the report of 2.2, 20 points."
    ),
)


def grade(folder: Path, limits: Limits) -> list[Part]:
    """Grade both notebooks."""
    return [*grade_by_hand(folder, limits), *grade_from_scratch(folder, limits)]


def grade_by_hand(folder: Path, limits: Limits) -> list[Part]:
    """Grade A2S1."""
    file, note = chosen_notebook(folder, "A2S1", ASSIGNMENT.wanted)
    if file is None:
        return by_hand.grade(({"fatal": note}, {}))
    answer = sandbox.ask(probe, file, by_hand.request(), limits)
    return by_hand.grade(answer, [note] if note else [])


def grade_from_scratch(folder: Path, limits: Limits) -> list[Part]:
    """Grade A2S2."""
    file, note = chosen_notebook(folder, "A2S2", ASSIGNMENT.wanted)
    if file is None:
        return from_scratch.grade(note)
    return from_scratch.grade(from_scratch.check(file, limits), [note] if note else [])


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
