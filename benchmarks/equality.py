"""Does a code change move a number? Losses and answers of two checkouts, bit by bit.

    python benchmarks/equality.py against REVISION  # that revision and this checkout, side by side
    python benchmarks/equality.py record FILE       # this checkout alone
    python benchmarks/equality.py compare OLD NEW   # two such files

Everything runs with one thread in float32 and by the same way through attention, so that two runs
on one machine must agree to the last bit. This copy of the file gives both revisions the same
commands, and they are short: a moved number shows in the first steps, or it is a matter of rounding
that a longer run would only magnify. Both together take a few minutes.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import attnlab
from attnlab.data.wordpiece import WordPiece
from attnlab.models.bert import BertForMaskedLanguageModel
from attnlab.models.bert_format import Pretrained, write_bert
from attnlab.models.sizes import BertSize
from attnlab.randomness import seed_torch

STEPS = 30
HERE = Path(__file__).parent.parent
PACKAGE = Path(attnlab.__file__).parent.parent
"""The code that is recorded: this checkout's, or that of the other revision."""
SAME = ("training.threads=1", "training.precision=float32")
EVERY_STEP = (*SAME, "training.log_every=1")
DEMO = ("world.people=200", "samples=2", f"questions_length={STEPS} steps")
RENAMED = {"demo/constant": "demo/majority"}
"""Runs that earlier revisions call otherwise."""
COMPARED = ("gold", "prediction", "confidence", "loss")


def against(revision: str) -> int:
    """Record another revision and this checkout, and compare them; return the exit code."""
    with tempfile.TemporaryDirectory() as place:
        other, files = Path(place) / "other", [Path(place) / "old.json", Path(place) / "new.json"]
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", str(other), revision], check=True)
        try:
            for checkout, file in zip((other, HERE), files, strict=True):
                subprocess.run(
                    [sys.executable, __file__, "record", str(file)],
                    env=os.environ
                    | {"PYTHONPATH": str(checkout / "src"), "ATTNLAB_CACHE": f"{place}/cache"},
                    check=True,
                )
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)
        return compare(*files)


def record(path: Path) -> None:
    """Run what is compared, in a folder of its own, and write down what came of it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run(folder, "knowledge", "world", "world", "--people", "200")
        questions = ("--questions", "world/birth_places_train.tsv")
        read = ("knowledge", "pretrain", "world/wiki.txt", "--dev", "world/birth_dev.tsv")
        train(folder, "recall", *read, *questions, "--held-out", "0.2")
        small = sets(("batch_tokens=1024",))  # the course's own batches take seconds a step
        course = ("--recipe", "course", *small)
        train(folder, "course", *read, *course)
        asked = ("world/birth_places_train.tsv", "--dev", "world/birth_dev.tsv")
        train(
            folder,
            "course-questions",
            "knowledge",
            "finetune",
            *asked,
            "--start",
            "runs/course",
            *course,
        )
        write_classification(folder)
        files = ("train.csv", "--dev", "dev.csv", "--test", "dev.csv", "--model", "model")
        train(folder, "classify", "classify", "train", *files)
        train(folder, "classify-joint", "classify", "train", *files, "--mlm-text", "world/wiki.txt")
        train(folder, "demo", "knowledge", "demo", *sets(DEMO))
        found = {
            str(config.parent.relative_to(folder / "runs")): outcome(config.parent)
            for config in sorted((folder / "runs").rglob("config.json"))
            if config.parent.name != "model"  # which is a model's, not a run's
        }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def train(folder: Path, name: str, *arguments: str) -> None:
    """Run one command of a few steps."""
    length = ("--length", f"{STEPS} steps")
    run(folder, *arguments, *length, "--name", name, *sets(EVERY_STEP))


def sets(assignments: tuple[str, ...]) -> list[str]:
    """Write settings as flags."""
    return [word for assignment in assignments for word in ("--set", assignment)]


def run(folder: Path, *arguments: str) -> None:
    """Give a command as a user would, with the code that is recorded."""
    print("attnlab", *arguments, flush=True)
    subprocess.run(
        [sys.executable, "-m", "attnlab", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def write_classification(folder: Path) -> None:
    """Write a small BERT with random weights, and texts whose class is how many words they have."""
    texts = (folder / "world" / "wiki.txt").read_text(encoding="utf-8").splitlines()
    for name, some in (("train", texts[:100]), ("dev", texts[100:200])):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([str(len(text.split()) % 3), text] for text in some)
    words = sorted({word for text in texts for word in text.lower().split() if word.isalpha()})
    source = folder / "vocabulary"
    source.mkdir()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (source / "vocab.txt").write_text("\n".join([*special, *words]) + "\n", encoding="utf-8")
    vocab_size = len(WordPiece.read(source / "vocab.txt"))
    size = BertSize(vocab_size=vocab_size, d_model=48, n_heads=4, n_layers=2, d_mlp=96, max_len=128)
    seed_torch(0, "weights")
    pretrained = Pretrained(size, {}, source, "")
    write_bert(BertForMaskedLanguageModel(size), pretrained, folder / "model")


def outcome(run: Path) -> dict[str, Any]:
    """Return the losses of a run by step, and its answers."""
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    metrics = run / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.open()] if metrics.exists() else []
    answers = sorted((run / "predictions").glob("*.jsonl"))
    return {
        "fused_attention_from": config["resolved"].get("fused_attention_from"),
        "losses": [[line["step"], line["loss"]] for line in lines if "loss" in line],
        "answers": {
            file.stem: [
                [row.get(field) for field in COMPARED] for row in map(json.loads, file.open())
            ]
            for file in answers
        },
    }


def compare(old: Path, new: Path) -> int:
    """Print what is equal and what is not; return the exit code."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    differs = False
    for name, there in before.items():
        here = after.get(name) or after.get(RENAMED.get(name, ""))
        if not there["losses"] and not there["answers"]:
            continue  # a folder that trained and answered nothing
        n_answers = sum(map(len, there["answers"].values()))
        told = f"{name}: {len(there['losses'])} losses, {n_answers} answers"
        differs |= here != there
        print(f"{'equal    ' if here == there else 'DIFFERENT'} {told}")
    return int(differs)


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["against", "record", "compare"])
    parser.add_argument("given", nargs="+", metavar="REVISION or FILE")
    asked = parser.parse_args()
    if asked.what == "against":
        sys.exit(against(asked.given[0]))
    elif asked.what == "record":
        record(Path(asked.given[0]).resolve())
    else:
        sys.exit(compare(*map(Path, asked.given)))


if __name__ == "__main__":
    main()
