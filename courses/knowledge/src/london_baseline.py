"""The score of always answering "London".

python src/london_baseline.py birth_dev.tsv
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("london_baseline.py")  # what follows takes a while to load

import argparse
from pathlib import Path

from utils import evaluate_places

from attnlab.cli.course import run_command
from attnlab.data.knowledge_files import read_questions


def score(options: argparse.Namespace) -> None:
    """Answer every question of a file with London."""
    questions = read_questions(Path(options.questions))
    # [part d] evaluate_places takes the file and one prediction for each question, and returns how
    # many there are and how many are right. Print the share that is right, in percent.
    # TODO: [part d], src/london_baseline.py: print how many percent the answer London gets right.
    # <solution>
    total, correct = evaluate_places(options.questions, ["London"] * len(questions))
    if total:
        print(f"Correct: {correct} out of {total}: {correct / total * 100}%")
    # </solution>


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="london_baseline.py", description="Print the score of always answering London."
    )
    parser.add_argument(
        "questions",
        nargs="?",
        default="birth_dev.tsv",
        help="questions with answers (default: birth_dev.tsv)",
    )
    run_command(parser, score, folder=Path(__file__).resolve().parent)


if __name__ == "__main__":
    main()
