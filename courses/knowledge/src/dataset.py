"""The two datasets of the knowledge course: questions with answers, and corrupted text.

    python src/dataset.py namedata          # a few rows of birth_places_train.tsv
    python src/dataset.py charcorruption    # a few rows of wiki.txt

A row is a text of ``block_size`` characters; ``x`` is all of it but the last one and ``y`` all but
the first, so that ``y`` holds the next character of each place. Token 0 is PAD, which the loss
leaves out.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("dataset.py")  # what follows takes a while to load

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from attnlab.cli.course import run_command
from attnlab.data.batches import TokenRow, answer_row
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.objectives.span_corruption import PAD_TOKEN, SMALLEST_BLOCK
from attnlab.data.tokenizer import SENTINEL, refuse_reserved
from attnlab.errors import UserError

WIKI, NAMES = "wiki.txt", "birth_places_train.tsv"
BLOCK_SIZE = 128
SHOWN = 4
Example = tuple[Tensor, Tensor]


class CharCorruptionDataset(Dataset[Example]):
    """Lines of a text with a span taken out and written at the end: ``prefix⁇suffix⁇span□□□``.

    Every draw of a line is another one; ``torch.manual_seed`` repeats them, and the workers of a
    ``DataLoader`` draw differently. ``third_mark`` closes the span with a ⁇, as the course's
    printed examples do and its rule does not.
    """

    def __init__(self, data: str, block_size: int, *, third_mark: bool = False) -> None:
        if block_size < SMALLEST_BLOCK:
            raise UserError(
                f"block_size = {block_size} is too small: give {SMALLEST_BLOCK} or more."
            )
        self._documents = [line for _, line in _lines(data, "the text")]
        # every question ends in a question mark, which a text may lack
        self._tokenizer = CharacterTokenizer.of([data, "\n?"])
        self.itos = dict(enumerate(self._tokenizer.characters))
        self.stoi = {character: token for token, character in self.itos.items()}
        self.vocab_size, self.block_size = len(self.itos), block_size
        self.third_mark = third_mark

    def __len__(self) -> int:
        """Count the documents."""
        return len(self._documents)

    def __getitem__(self, index: int) -> Example:
        """Corrupt a document, differently each time."""
        # [part e] Make an example of the document self._documents[index]:
        # 1. Keep its beginning: a random number of characters, from 4 to int(block_size * 7 / 8) or
        #    to its end, if that comes before. All lengths must be possible.
        # 2. Choose a span of what is kept. Its length is random, a quarter of what is kept on
        #    average, and it may be anywhere.
        # 3. Write prefix ⁇ suffix ⁇ span: the span moves to the end, with SENTINEL in its place and
        #    before it. Fill the row up with □ (PAD_TOKEN) to block_size tokens (self.stoi).
        # 4. Return x, the row without its last token, and y, without its first, as LongTensors.
        # Another draw of the same document gives another example.
        # TODO: [part e], src/dataset.py: write CharCorruptionDataset.__getitem__; see its comment.
        # <solution>
        text = self._tokenizer.encode(self._documents[index][: self.block_size])
        generator = np.random.default_rng(int(torch.randint(2**62, ())))
        (row,) = self._corrupted([text], generator)
        row += [PAD_TOKEN] * (self.block_size - len(row))
        return torch.tensor(row[:-1]), torch.tensor(row[1:])
        # </solution>

    # <solution for later>
    def epoch_rows(self, epoch: int, seed: int, **forms: Any) -> list[TokenRow]:
        """Corrupt every document once, without padding: what the trainer reads instead."""
        from attnlab.data.objectives.span_corruption import SpanCorruption
        from attnlab.randomness import rng

        text = SpanCorruption(
            self._documents,
            self._tokenizer,
            block=self.block_size,
            closing=self.third_mark,
            **forms,
        )
        return text.rows(rng(seed, "objective", epoch))

    def _corrupted(self, texts: list[list[int]], generator: np.random.Generator) -> list[list[int]]:
        from attnlab.data.objectives.span_corruption import corrupt

        sentinel, block = self._tokenizer.sentinel, self.block_size
        return corrupt(texts, generator, block=block, sentinel=sentinel, closing=self.third_mark)

    # </solution>


class NameDataset(Dataset[Example]):
    """Questions with their answers: ``question⁇answer⁇□□□``, in the characters of another data set.

    In ``y`` the question is PAD: what is learned is the answer, with the ⁇ before and after it.
    """

    def __init__(self, pretraining_dataset: CharCorruptionDataset, data: str) -> None:
        self.stoi, self.itos = pretraining_dataset.stoi, pretraining_dataset.itos
        self.vocab_size = pretraining_dataset.vocab_size
        self.block_size = pretraining_dataset.block_size
        self._rows = [self._row(number, line) for number, line in _lines(data, "the questions")]

    def __len__(self) -> int:
        """Count the questions."""
        return len(self._rows)

    def __getitem__(self, index: int) -> Example:
        """Return question and answer, and the answer alone one place further left."""
        length, row = self._rows[index]
        row = row + [PAD_TOKEN] * (self.block_size - len(row))
        answer = [PAD_TOKEN] * (length - 1) + row[length:]
        return torch.tensor(row[:-1]), torch.tensor(answer)

    def epoch_rows(self, epoch: int, seed: int) -> list[TokenRow]:
        """Return every question without padding: what the trainer reads instead."""
        del epoch, seed  # always the same rows; the trainer orders them
        return [
            answer_row(f"question {number}", row[:length], row[length:])
            for number, (length, row) in enumerate(self._rows, 1)
        ]

    def _row(self, number: int, line: str) -> tuple[int, list[int]]:
        """Return how long the question is, and the tokens of the whole."""
        question, *answers = line.split("\t")
        if len(answers) != 1 or not question.strip() or not answers[0].strip():
            raise UserError(f"line {number}: {line!r} must be a question, a tab and an answer.")
        text = f"{question}{SENTINEL}{answers[0]}{SENTINEL}"
        if len(text) > self.block_size:
            raise UserError(
                f"line {number}: question and answer have {len(text)} characters with their marks,"
                f" more than a block's {self.block_size}."
            )
        for character in text:
            if character not in self.stoi:
                raise UserError(
                    f"line {number}: the character {character!r} is not in the tokenizer: it does"
                    " not stand in the text of the pretraining."
                )
        return len(question), [self.stoi[character] for character in text]


def _lines(data: str, what: str) -> Iterator[tuple[int, str]]:
    """Give the lines that hold something, numbered; refuse the reserved characters."""
    lines = [(n, line) for n, line in enumerate(data.split("\n"), 1) if line.strip()]
    if not lines:
        raise UserError(f"{what}: there is no line with anything in it.")
    for number, line in lines:
        refuse_reserved(line, f"line {number}: the text")
    yield from lines


def read_text(name: str) -> str:
    """Read a UTF-8 file of the current folder."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        folder = Path.cwd()
        raise UserError(f"cannot read {name} in {folder}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is no UTF-8 text: {error.reason} at byte {error.start}.") from None


def show(options: argparse.Namespace) -> None:
    """Print a few rows, x above y."""
    torch.manual_seed(options.seed)
    text = CharCorruptionDataset(read_text(WIKI), BLOCK_SIZE)
    dataset = NameDataset(text, read_text(NAMES)) if options.kind == "namedata" else text
    for x, y in islice(dataset, SHOWN):
        for name, tokens in (("x", x), ("y", y)):
            print(f"{name}: {''.join(text.itos[token] for token in tokens.tolist())}")


def main() -> None:
    """Show what the datasets return."""
    parser = argparse.ArgumentParser(
        prog="dataset.py",
        description=f"Print {SHOWN} rows, x above y, made of {WIKI} and {NAMES} in this folder.",
        epilog="example: python src/dataset.py charcorruption",
    )
    parser.add_argument("kind", choices=["namedata", "charcorruption"], help="what to print")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other spans (default 0)")
    run_command(parser, show, folder=Path(__file__).resolve().parent)


if __name__ == "__main__":
    main()
