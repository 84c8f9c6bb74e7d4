"""The score of always answering "London".

python src/london_baseline.py birth_dev.tsv
"""

from attnlab.guard import guarded, watch_imports

if __name__ == "__main__":
    watch_imports("london_baseline.py")  # what follows takes a while to load

import sys
from pathlib import Path

from utils import evaluate_places

from attnlab.data.knowledge_files import read_questions

USAGE = "usage: python src/london_baseline.py [birth_dev.tsv]"


def main(path: str = "birth_dev.tsv") -> None:
    """Answer every question of a file with London."""
    questions = read_questions(Path(path))
    total, correct = evaluate_places(path, ["London"] * len(questions))
    if total:
        print(f"Correct: {correct} out of {total}: {correct / total * 100}%")


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(USAGE)
        sys.exit(2 if len(sys.argv) > 2 else 0)
    guarded("london_baseline.py", lambda: main(*sys.argv[1:]))
