"""When can a model recall what it read? The study ``attnlab knowledge extraction``, as a result.

python benchmarks/knowledge_extraction.py conditions   # three seeds of two conditions: 75 minutes
python benchmarks/knowledge_extraction.py map          # people × biographies: about 45 minutes

``--conditions one,many-permuted`` runs only these, in about 45 minutes. Stopped, the same command
goes on.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.config import resolve
from attnlab.evaluation.comparison import compare
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.study_settings import ExtractionMapSettings, ExtractionSettings
from attnlab.recipes.reporting import report_on
from attnlab.report.sections.extraction import PROBES
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import Study
from measure import hashes, write_result

HEADLINE, AGAINST = "many-permuted", "one"
SEEDS = 3


def key(name: str) -> str:
    """Return a name as the documents refer to it."""
    return name.replace("-", "_").replace(".", "_")


def best_probes(run: Run) -> dict[str, Any]:
    """Return at every place what the layer that dev prefers scores on test."""
    found: dict[str, Any] = {}
    for one in sorted(run.record[PROBES], key=lambda one: one["dev"]):
        found[one["place"]] = {name: one[name] for name in ("layer", "value", "interval", "n")}
    return found


def conditions(study: Study) -> None:
    """Write down what each condition scored, with its probes."""
    runs = study.opened()
    scored = [run for run in runs if run.record["scores"]]
    comparison = compare(scored, against=scored[0].name)
    by_name = {run.name: run for run in scored}
    found: dict[str, dict[str, Any]] = {
        key(one.name): {
            "accuracy": round(one.score, 4),
            "interval": [round(bound, 4) for bound in one.interval],
            "seeds": [round(score, 4) for score in one.scores],
            "chosen": Path(by_name[one.runs[0]].setting("run")).name,
        }
        for one in comparison.conditions
    }
    for run in runs:
        if PROBES in run.record:
            found[key(run.name.removesuffix("-probe"))]["probes"] = best_probes(run)
    for name, score in found.items():
        print(name, score)
    for pair in comparison.pairs:
        print(pair.verdict)
    headline = found[key(HEADLINE)]
    verdicts = {key(pair.second): pair.verdict for pair in comparison.pairs}
    write_result(
        "knowledge_extraction",
        claim="accuracy about people whose question was never trained on, read about many times",
        value=headline["accuracy"],
        interval=headline["interval"],
        details={
            "conditions": found,
            "n": comparison.n,
            "points_apart": round(100 * (headline["accuracy"] - found[AGAINST]["accuracy"]), 1),
            "against_one": verdicts,
        },
        runs=hashes(runs),
    )


def fields(study: Study) -> None:
    """Write down the accuracy of every field of the map."""
    runs = study.opened()
    found: Mapping[str, Any] = {
        key(run.name): run.record["scores"][run.record["file_split"]] for run in runs
    }
    for name, score in found.items():
        print(f"{name}: {score['value']:.1%} of {score['n']}")
    best = max(found.values(), key=lambda score: score["value"])
    write_result(
        "knowledge_extraction_map",
        claim="accuracy about people whose question was never trained on, in the best field",
        value=best["value"],
        interval=best["interval"],
        details={
            "fields": {
                name: {part: score[part] for part in ("value", "interval", "n")}
                for name, score in found.items()
            }
        },
        runs=hashes(runs),
    )


def main() -> None:
    """Run a study, or take the finished one, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["conditions", "map"])
    parser.add_argument("--conditions", type=lambda text: tuple(text.split(",")), default=None)
    parser.add_argument("--set", action="append", default=[], dest="changed", metavar="KEY=VALUE")
    given = parser.parse_args()
    changed: Sequence[str] = given.changed
    is_map = given.what == "map"
    usual = ExtractionMapSettings() if is_map else ExtractionSettings(seeds=SEEDS)
    if given.conditions:
        changed = [*changed, f"conditions=[{','.join(given.conditions)}]"]
    job = "knowledge-extraction-map" if is_map else "knowledge-extraction"
    study = find_job(job).run(
        resolve(usual, sets=changed), place=RunPlace(Path("runs")), console=Console(stderr=True)
    )
    (fields if is_map else conditions)(study)
    print(report_on([study.path], as_markdown=False))


if __name__ == "__main__":
    main()
