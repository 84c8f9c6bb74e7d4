"""Writes the splits of the assignment into a folder: train, dev and test, and unlabelled text.

    python split_data.py train.csv data --dev_file dev.csv --unlabeled_file unlabeled.txt

The test texts are drawn from the training file, every class in proportion; so are the dev texts if
there is no file of them. The same seed draws the same texts. A text of dev or test is in no text
that is trained on, whatever its white space and capitals.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("split_data.py")  # what follows takes a while to load

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from attnlab.assets.datasets import dataset_file, get_dataset
from attnlab.cli.course import run_command
from attnlab.data.classes import check_labels, class_names, stratified
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.data.text_files import read_lines
from attnlab.errors import UserError
from attnlab.randomness import rng
from attnlab.runs.files import replace_file

UNLABELED = "unlabeled_train_50000.txt"
"""What the assignment calls the unlabelled text."""


def split(options: argparse.Namespace) -> dict[str, list[Example]]:
    """Return the texts of train, dev and test."""
    get_dataset(options.source)
    texts = _read(dataset_file(options.source, "train"))
    if options.dev_file:
        dev = _read(options.dev_file)
        check_labels(dev, class_names(texts))
        dev = _drawn(dev, options.dev_rows, options.seed, "dev")
    else:
        dev = _drawn(texts, options.dev_rows or options.test_rows, options.seed, "dev")
    rest = without(texts, dev)
    test = _drawn(rest, options.test_rows, options.seed, "test")
    train = without(rest, test)
    return {
        "train": _drawn(train, options.train_rows, options.seed, "train"),
        "dev": dev,
        "test": test,
    }


def unlabeled_lines(options: argparse.Namespace, splits: dict[str, list[Example]]) -> list[str]:
    """Return unlabelled texts, one a line: those of a file, or those that are left of the source."""
    kept = {_key(example.text) for example in [*splits["dev"], *splits["test"]]}
    if options.unlabeled_file:
        lines = read_lines(options.unlabeled_file)
    else:
        kept |= {_key(example.text) for example in splits["train"]}
        source = _read(dataset_file(options.source, "train"))
        lines = [" ".join(example.text.split()) for example in source]
    lines = [line for line in lines if _key(line) not in kept]
    count = min(options.unlabeled_rows or len(lines), len(lines))
    chosen = rng(options.seed, "unlabeled").permutation(len(lines))[:count]
    return [lines[i] for i in sorted(chosen.tolist())]


def without(texts: Sequence[Example], others: Sequence[Example]) -> list[Example]:
    """Leave out the texts that are among others too."""
    taken = {_key(example.text) for example in others}
    return [example for example in texts if _key(example.text) not in taken]


def write(folder: Path, splits: dict[str, list[Example]], lines: Sequence[str]) -> None:
    """Write all files; one that is there and holds something else is left as it is."""
    files = {folder / f"{name}.csv": _csv(texts) for name, texts in splits.items()}
    files[folder / UNLABELED] = "".join(f"{line}\n" for line in lines).encode()
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise UserError(f"{path} is there and holds something else. Give another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        replace_file(path, content)


def _read(path: Path) -> list[Example]:
    texts = read_labelled(path, labelled=True)
    if texts[0].pair is not None:
        raise UserError(f"{texts[0].place}: there are two texts, but the assignment has one each.")
    return texts


def _drawn(texts: list[Example], count: int, seed: int, purpose: str) -> list[Example]:
    """Draw texts, of every class its share; 0 takes them all."""
    if not count:
        return texts
    return stratified(texts, count, generator=rng(seed, f"split: {purpose}"))


def _csv(texts: Sequence[Example]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows((example.label, example.text) for example in texts)
    return file.getvalue().encode()


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{count} texts are not possible; give 0 or more")
    return count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="split_data.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("source", help="labelled texts: a file, or a dataset that `attnlab assets list` shows")
    add("folder", type=Path, help="where the splits go")
    add("--dev_file", type=Path, metavar="FILE", help="texts for dev; by default drawn as for test")
    add("--unlabeled_file", type=Path, metavar="FILE", help="by default what is left of the source")
    add("--test_rows", type=_count, default=1000, metavar="N", help="texts for test (default 1000)")
    for split in ("train", "dev", "unlabeled"):
        add(
            f"--{split}_rows",
            type=_count,
            default=0,
            metavar="N",
            help=f"texts for {split}; 0: all",
        )
    add("--seed", type=int, default=0, metavar="N", help="random seed")
    return parser


def main() -> None:
    """Write the folder, and say what is in it."""

    def work(options: argparse.Namespace) -> None:
        splits = split(options)
        lines = unlabeled_lines(options, splits)
        write(options.folder, splits, lines)
        counts = {**{name: len(texts) for name, texts in splits.items()}, "unlabelled": len(lines)}
        print(f"{options.folder}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items()))

    run_command(_parser(), work, folder=Path(__file__).resolve().parent)


if __name__ == "__main__":
    main()
