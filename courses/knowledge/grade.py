"""Grade a submission: 2(e) span corruption and 2(g) the synthesizer.

    python grade.py assignment_NAME.zip --labels birth_test.tsv

The submission's code runs in separate processes with a time limit; none of it is imported here.
"""

from attnlab.guard import guarded, watch_imports

if __name__ == "__main__":
    watch_imports("grade.py")  # what follows takes a while to load

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grading import corruption, predictions, sandbox, synthesizer
from grading.findings import Part
from grading.submission import opened

from attnlab.errors import UserError

CODE_POINTS, ACCURACY_POINTS, WRITTEN_POINTS = 4, 4, 2
"""2(g) has 10: 8 for i, here half for the code and half for the accuracy, and 2 for ii, written."""


def grade(path: Path, *, labels: Path | None, seed: int, seconds: float) -> list[Part]:
    """Grade the parts, one after the other."""
    answers = predictions.check_labels(labels)
    with opened(path) as folder:
        source = folder / "src"
        asked = corruption.request(seed=seed)
        parts = [corruption.grade(sandbox.ask(source / "dataset.py", asked, seconds=seconds))]
        asked = synthesizer.request()
        found = synthesizer.grade(sandbox.ask(source / "attention.py", asked, seconds=seconds))
        found.append(predictions.grade_params(folder))
        parts.append(Part("2(g)i synthesizer, code", found, CODE_POINTS))
        return parts + accuracy_parts(folder, answers)


def accuracy_parts(folder: Path, labels: Sequence[str] | None) -> list[Part]:
    """Grade the predictions, if there are labels to compare them with."""
    if labels is None:
        note = "not graded: give the answers with --labels birth_test.tsv."
        return [Part("2(g)i synthesizer, accuracy", [], ACCURACY_POINTS, [note])]
    parts = []
    for name, title, points in (
        (predictions.SYNTHESIZER, "2(g)i synthesizer, accuracy", ACCURACY_POINTS),
        (predictions.VANILLA, "2(f) pretrained, accuracy (for information)", 0),
    ):
        finding, notes = predictions.grade_accuracy(folder, name, labels)
        parts.append(Part(title, [finding], points, notes))
    return parts


def as_data(path: Path, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the whole report ready for JSON."""
    return {
        "submission": str(path),
        "parts": [part.data() for part in parts],
        "points": {"2e": parts[0].points, "2g": round(sum(p.points for p in parts[1:]), 2)},
        "of": {"2e": corruption.POINTS, "2g": CODE_POINTS + ACCURACY_POINTS + WRITTEN_POINTS},
        "not_graded": {"2g": sum(part.of for part in parts if not part.findings)},
        "by_hand": {"2g": WRITTEN_POINTS},
    }


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="grade.py",
        description="Grade 2(e) and 2(g) of a submission, and show what every check observed.",
        epilog="example: python grade.py assignment_ada.zip --labels birth_test.tsv",
    )
    parser.add_argument("submission", type=Path, help="a folder with src/, or the zip of one")
    parser.add_argument("--labels", type=Path, help="the test set with its answers")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (default 0)")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=120.0,
        help="processor seconds for each file (default 120)",
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Print the report; exit code 2 if there is nothing to grade."""
    guarded("grade.py", lambda: report(arguments(given)))


def report(asked: argparse.Namespace) -> None:
    """Grade and print."""
    if asked.time_limit <= 0:
        raise UserError(f"--time-limit {asked.time_limit:g} is not possible: give seconds > 0.")
    parts = grade(asked.submission, labels=asked.labels, seed=asked.seed, seconds=asked.time_limit)
    data = as_data(asked.submission, parts)
    if asked.json:
        print(json.dumps(data, indent=2, ensure_ascii=False))
        return
    for part in parts:
        print("\n".join(part.lines()))
    points, of, missing = data["points"], data["of"], data["not_graded"]["2g"]
    rest = f"{WRITTEN_POINTS} by hand, for the written answer ii"
    rest += f", {missing} not graded without --labels" if missing else ""
    print(f"2(e) {points['2e']:g} of {of['2e']}; 2(g) {points['2g']:g} of {of['2g']} ({rest}).")


if __name__ == "__main__":
    main()
