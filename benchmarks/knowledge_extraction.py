"""When can a model recall what it read? The study ``attnlab knowledge extraction``, as a result.

python benchmarks/knowledge_extraction.py            # about a quarter of an hour
"""

import argparse
from pathlib import Path

from rich.console import Console

from attnlab.evaluation.comparison import compare
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import ExtractionSettings
from attnlab.recipes.reporting import report_on
from attnlab.runs.directory import RunPlace
from measure import hashes, write_result

HEADLINE = "many-permuted"


def main() -> None:
    """Run the study, or take the finished one, and write down what each condition scored."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    console = Console(stderr=True)
    study = find_job("knowledge-extraction").run(
        ExtractionSettings(), place=RunPlace(Path("runs")), console=console
    )
    runs = study.opened()
    comparison = compare(runs)
    found = {
        condition.name.replace("-", "_"): {
            "accuracy": round(condition.score, 4),
            "interval": [round(bound, 4) for bound in condition.interval],
        }
        for condition in comparison.conditions
    }
    for name, score in found.items():
        print(name, score)
    for pair in comparison.pairs:
        print(pair.verdict)
    headline = found[HEADLINE.replace("-", "_")]
    write_result(
        "knowledge_extraction",
        claim="accuracy about people whose question was never trained on, read about many times",
        value=headline["accuracy"],
        interval=headline["interval"],
        details={"conditions": found, "n": comparison.n},
        runs=hashes(runs),
    )
    print(report_on([study.path], as_markdown=False))


if __name__ == "__main__":
    main()
