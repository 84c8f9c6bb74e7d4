"""Grades a class: one folder or zip per student; writes grades.csv and a feedback file for each.

A course's ``grade.py`` says what it asks for (``Assignment``) and how an opened folder is graded.
"""

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.environment import DEBUG, is_on
from attnlab.errors import UserError
from attnlab.runs.files import check_output_folder, replace_file
from grading.findings import Part
from grading.sandbox import Limits
from grading.submission import opened, student_of

GRADES = "grades.csv"


@dataclass(frozen=True)
class Assignment:
    """What every submission is graded by."""

    wanted: Sequence[str]
    """Names of which a submission's folder holds one, such as src."""
    points: Mapping[str, float]
    """What each part is worth."""
    by_hand: str = ""
    """What is left to the teacher."""


@dataclass(frozen=True)
class Graded:
    """What a student gets: graded parts, or the problem that kept them from being graded."""

    student: str
    parts: Sequence[Part] = ()
    problem: str = ""

    @property
    def total(self) -> float:
        """Sum up what is graded."""
        return round(sum(part.points or 0 for part in self.parts), 2)

    @property
    def of(self) -> float:
        """Sum up what could be reached in what is graded."""
        return sum(part.of for part in self.parts if part.points is not None)

    def summary(self) -> str:
        """Say it in one line."""
        if self.problem:
            return f"{self.student}: not graded: {self.problem}"
        each = "; ".join(
            f"{p.name} {'–' if p.points is None else f'{p.points:g}'}" for p in self.parts
        )
        return f"{self.student}: {self.total:g} of {self.of:g} points ({each})"

    def reasons(self) -> list[str]:
        """Say why points are missing."""
        return [self.problem] if self.problem else [p.reason for p in self.parts if p.reason]

    def feedback(self, by_hand: str) -> str:
        """Return the whole report."""
        lines = [line for part in self.parts for line in part.lines()]
        left = [f"by hand: {by_hand}"] if by_hand else []
        return "\n".join([*lines, self.summary(), *left]) + "\n"

    def row(self, points: Mapping[str, float]) -> dict[str, Any]:
        """Return the line of the table; what is not graded is left empty."""
        got = {part.name: part.points for part in self.parts}
        cells = {name: "" if got.get(name) is None else f"{got[name]:g}" for name in points}
        total = {"total": f"{self.total:g}", "of": f"{self.of:g}"} if self.parts else {}
        return {"student": self.student, **cells, **total, "why": " | ".join(self.reasons())}

    def data(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        parts = [part.data() for part in self.parts]
        total = {"points": self.total, "of": self.of}
        return {"student": self.student, **total, "problem": self.problem, "parts": parts}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what every grader takes."""
    add = parser.add_argument
    add("submissions", type=Path, nargs="+", metavar="FOLDER", help="a student's folder or zip")
    add("--out", type=Path, default=Path("grades"), metavar="DIR",
        help=f"where {GRADES} and the feedback go (default grades)")  # fmt: skip
    add("--json", action="store_true", help="print the reports as JSON")
    add("--time-limit", type=positive, default=Limits.seconds, metavar="SECONDS",
        help=f"processor time of each process (default {Limits.seconds:g})")  # fmt: skip
    add("--memory-limit", type=positive, default=Limits.gigabytes, metavar="GIGABYTES",
        help=f"memory of each process (default {Limits.gigabytes:g})")  # fmt: skip


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not possible: give a number above 0.")
    return number


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not possible: give a share from 0 to 1.")
    return number


def grade_class(
    options: argparse.Namespace, assignment: Assignment, grade: Callable[[Path, Limits], list[Part]]
) -> None:
    """Grade one submission after the other; leave with 2 if one of them could not be graded."""
    students = _students(options.submissions)
    table = Table(options.out, assignment)
    limits = Limits(options.time_limit, options.memory_limit)
    graded = []
    for student, path in students.items():
        one = _graded(student, path, assignment, lambda folder: grade(folder, limits))
        if one.problem:
            print(f"grade.py: {one.problem}", file=sys.stderr)
        table.write(one)
        graded.append(one)
        if not options.json and one.parts:
            alone = len(students) == 1
            shown = one.feedback(assignment.by_hand) if alone else f"{one.summary()}\n"
            print(shown, end="", flush=True)
    if options.json:
        print(json.dumps([one.data() for one in graded], indent=2, ensure_ascii=False))
    else:
        print(f"{table.path} has the grades; one file per student alongside says why.")
    if any(one.problem for one in graded):
        sys.exit(2)


def _graded(
    student: str, path: Path, assignment: Assignment, grade: Callable[[Path], list[Part]]
) -> Graded:
    """Grade a submission; whatever is wrong with it, the rest of the class is graded too."""
    try:
        with opened(path, assignment.wanted) as folder:
            return Graded(student, grade(folder))
    except UserError as error:
        return Graded(student, problem=str(error))
    except Exception as error:
        if is_on(DEBUG):
            raise
        what = f"{type(error).__name__}: {error}"
        return Graded(student, problem=f"{path}: the grader failed: {what}; see {DEBUG}=1.")


def _students(paths: Sequence[Path]) -> dict[str, Path]:
    """Name whose submission each path is; two of one student are refused."""
    students: dict[str, Path] = {}
    for path in paths:
        student = student_of(path)
        if student in students:
            raise UserError(f"{students[student]} and {path} are both of {student}: give one.")
        students[student] = path
    return students


class Table:
    """The grades of a class, one row per student; a student who is graded again gets a new row."""

    def __init__(self, folder: Path, assignment: Assignment) -> None:
        """Read the table if there is one; refuse that of another assignment."""
        check_output_folder(folder)
        self.path, self._assignment = folder / GRADES, assignment
        self._columns = ["student", *assignment.points, "total", "of", "why"]
        self._rows: dict[str, dict[str, Any]] = {}
        if self.path.is_file():
            with self.path.open(encoding="utf-8", newline="") as file:
                found = csv.DictReader(file)
                if found.fieldnames != self._columns:
                    raise UserError(
                        f"{self.path} is the table of another assignment: it has the columns"
                        f" {', '.join(found.fieldnames or ())}. Give another folder with --out."
                    )
                self._rows = {row["student"]: row for row in found}
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, graded: Graded) -> None:
        """Write a student's row and feedback."""
        self._rows[graded.student] = graded.row(self._assignment.points)
        text = io.StringIO()
        writer = csv.DictWriter(text, self._columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for _, row in sorted(self._rows.items()))
        replace_file(self.path, text.getvalue().encode())
        feedback = graded.feedback(self._assignment.by_hand)
        replace_file(self.path.with_name(f"{graded.student}.txt"), feedback.encode())
