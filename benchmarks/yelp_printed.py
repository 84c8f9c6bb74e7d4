"""The yelp course's printed commands: validation and test scores, with all labels and with fifty.

ATTNLAB_DATA=… FULL=1 make course-yelp && python benchmarks/yelp_printed.py

Needs ATTNLAB_DATA/yelp and weights/tinybert-4l-312. The commands are those of STUDENT.md with the
document's values: 3e-5, three epochs, 128 tokens; with fifty labels, 50 epochs. A thousand test
rows are held out of train.csv by a fixed seed, before anything is trained.
"""

from pathlib import Path
from typing import Any

from attnlab.runs.directory import Run
from measure import hashes, write_result

OUT = Path("runs/course-yelp/full/out")
NAMES = ("cls", "cls_mlm", "cls_50", "cls_mlm_50")


def described(run: Run) -> dict[str, Any]:
    """Return the scores of a run, and what they were measured on."""
    record = run.record
    return {
        "validation": record["scores"]["dev"]["value"],
        "validation_interval": record["scores"]["dev"]["interval"],
        "test": record["scores"]["test"]["value"],
        "test_interval": record["scores"]["test"]["interval"],
        "labels": record["ledger"]["splits"]["train"]["n"],
        "n": record["scores"]["test"]["n"],
        "training_seconds": record["training_seconds"],
        "best_step": record["best_step"],
    }


def main() -> None:
    """Collect what the four commands left."""
    runs = [Run.open(OUT / name) for name in NAMES]
    found = {run.name: described(run) for run in runs}
    for name, one in found.items():
        print(f"{name}: validation {one['validation']:.3f}, test {one['test']:.3f} of {one['n']}")
    write_result(
        "yelp_printed",
        claim="Yelp test accuracy of the first command as printed, 3e-5 and three epochs, one seed",
        value=found["cls"]["test"],
        interval=found["cls"]["test_interval"],
        details=found,
        runs=hashes(runs),
        trained=sum(one["training_seconds"] for one in found.values()),
    )


if __name__ == "__main__":
    main()
