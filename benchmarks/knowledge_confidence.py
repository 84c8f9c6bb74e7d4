"""Retrieved or made up? How far to trust the confidence of ``recall``.

ATTNLAB_DATA=… python benchmarks/knowledge_confidence.py course   # real people: 5 minutes
python benchmarks/knowledge_confidence.py world                   # made-up people: 5 minutes

What combines the signals into one certainty, and its thresholds, come from training people who were
held out and from invented ones. Both are checked on others: the course's dev, or the world's test
and its people of whom nothing is written. The first needs ATTNLAB_DATA/birthplace. The runs stay in
runs/knowledge_confidence.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.data.settings import WorldSettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import RECALL_TRAINING, PretrainSettings
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN, UNSEEN, write_world
from attnlab.report.calibration import sentences
from attnlab.runs.directory import Run, RunPlace
from measure import hashes, write_result

RUNS = Path("runs/knowledge_confidence")
HELD_OUT = 0.2
SAMPLES = 16


def examine(name: str, folder: Path, *, test: str, unseen: str) -> Run:
    """Train `recall` without a fifth of the questions, and look at all doubts about the others."""
    settings = PretrainSettings(
        corpus=str(folder / CORPUS),
        questions=str(folder / TRAIN),
        held_out=HELD_OUT,
        test=str(folder / test),
        unseen=str(folder / unseen) if unseen else "",
        samples=SAMPLES,
        training=replace(RECALL_TRAINING, length="3M tokens"),
    )
    return find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS, name), console=Console(stderr=True)
    )


def main() -> None:
    """Run what was asked for, print it and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("people", choices=["course", "world"])
    people: str = parser.parse_args().people
    if people == "course":
        folder = Path(os.environ["ATTNLAB_DATA"]) / "birthplace"
        run = examine(people, folder, test=DEV, unseen="")
    else:
        folder = RUNS / "people"
        write_world(WorldSettings(people=2000, biographies=3, unwritten=0.1), folder)
        run = examine(people, folder, test=TEST, unseen=UNSEEN)
    told: dict[str, Any] = run.record["confidence"]
    for sentence in sentences(told):
        print(sentence)
    area = told["splits"]["test"]["right"]["calibrated"]
    write_result(
        f"knowledge_confidence_{people}",
        claim="chance that a right answer of `recall` is surer than a wrong one; one seed",
        value=area["value"],
        interval=area["interval"],
        details={"accuracy": run.record["scores"]["test"]["value"], **told},
        runs=hashes([run]),
    )


if __name__ == "__main__":
    main()
