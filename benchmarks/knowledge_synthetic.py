"""Accuracy against seconds with synthetic questions, and without: `synthetic` and `recall`.

    ATTNLAB_DATA=… python benchmarks/knowledge_synthetic.py                  # three seeds a length
    ATTNLAB_DATA=… python benchmarks/knowledge_synthetic.py --lengths 400k   # one length alone

The people of dev are asked about in training by `synthetic`, with the answers of a reader that has
learned from the training questions; no label of dev is used. By `recall` they are never asked
about. Every choice was made on held-out training questions. Seconds are those of training steps;
what the reader takes before them is measured by itself. Runs are kept where
benchmarks/knowledge_recall.py keeps them, so that a stopped benchmark goes on.
"""

import argparse
import time
from pathlib import Path

from attnlab.data.knowledge_files import read_corpus, read_questions
from attnlab.recipes.knowledge.corpus_reader import learn_to_read
from knowledge_recall import SEEDS, apply_context, files, point
from measure import hashes, write_result

LENGTHS = ("200k", "400k", "750k", "1.5M", "3M")
RECIPES = ("synthetic", "recall")


def seconds_of_reader() -> float:
    """Measure how long the reader takes: learning, reading the corpus, being examined."""
    given, begin = files(), time.perf_counter()
    learn_to_read(read_corpus(Path(given["corpus"])), read_questions(Path(given["questions"])))
    return round(time.perf_counter() - begin, 1)


def main() -> None:
    """Measure both curves, print them and write them down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default=",".join(LENGTHS), help="tokens, longest last")
    lengths = parser.parse_args().lengths.split(",")
    curves, everything = {}, []
    for recipe in RECIPES:
        points = {}
        for length in lengths:
            runs = [apply_context(length, seed, recipe=recipe) for seed in SEEDS]
            everything += runs
            points[length.replace(".", "_")] = point(length, runs)
            print(recipe, points[length.replace(".", "_")], flush=True)
        curves[recipe] = points
    record = everything[0].record
    best = curves["synthetic"][lengths[-1].replace(".", "_")]
    write_result(
        "knowledge_synthetic",
        claim="accuracy on dev with synthetic questions, mean of three seeds, against seconds",
        value=best["accuracy"],
        interval=best["interval"],
        details={
            "curves": curves,
            "synthetic_questions": record["synthetic_questions"],
            "reader": record["reader"],
            "reader_seconds": seconds_of_reader(),
            "n": record["scores"]["dev"]["n"],
        },
        runs=hashes(everything),
        trained=sum(run.record["training_seconds"] for run in everything),
    )


if __name__ == "__main__":
    main()
