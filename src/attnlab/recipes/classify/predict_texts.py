"""Classifies texts that are in no file, and leaves no run behind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.data.bad_records import BadRecordError, BadRecords
from attnlab.data.labelled_text import Example
from attnlab.data.text_files import decode_text, split_lines
from attnlab.errors import UserError
from attnlab.recipes.classify.classifier import load_classifier
from attnlab.recipes.opening import computing_like
from attnlab.runs.directory import Run
from attnlab.training.inference import inference

PIPE = "standard input"


class TextSession:
    """A run's classifier, ready to classify texts with the precision that it was trained with."""

    def __init__(self, path: Path) -> None:
        self.run = Run.open(path)
        self.classifier = load_classifier(self.run)
        self.has_pairs = self.run.recorded("has_pairs")
        self.hardware = computing_like(self.run)
        self.hardware.place(self.classifier.model)

    def given(self, texts: Sequence[str], pairs: Sequence[str]) -> list[dict[str, Any]]:
        """Classify texts of the command line; ``pairs`` has the second text of each, if any."""
        if self.has_pairs and len(pairs) != len(texts):
            raise UserError(
                f"{self.run.name} classifies pairs of texts: give one --pair for each --text, not"
                f" {len(pairs)} for {len(texts)}."
            )
        if pairs and not self.has_pairs:
            raise UserError(f"{self.run.name} classifies single texts: leave out --pair.")
        seconds: Sequence[str | None] = pairs or [None] * len(texts)
        return self._predict(
            [
                _example(f"--text {number}", text, pair)
                for number, (text, pair) in enumerate(zip(texts, seconds, strict=True), 1)
            ]
        )

    def example(self, text: str, pair: str | None = None) -> Example:
        """Return what to classify; refuse one text for two, or two for one."""
        if self.has_pairs and pair is None:
            raise UserError(f"{self.run.name} classifies pairs of texts: give the second, too.")
        if pair is not None and not self.has_pairs:
            raise UserError(f"{self.run.name} classifies single texts: leave out the second.")
        return _example("your text", text, pair)

    def is_cut(self, text: str, pair: str | None = None) -> bool:
        """Whether a text has more tokens than the model reads."""
        reads = self.classifier.max_len
        longer = self.classifier.tokenizer.row(text, pair, max_len=reads + 1)
        return len(longer.tokens) > reads

    def piped(self, content: bytes) -> list[dict[str, Any]]:
        """Classify one text per line, or two with a tab between; blank lines are skipped."""
        lines = split_lines(decode_text(content, PIPE), PIPE)
        bad, examples = BadRecords(), list[Example]()
        numbered = [
            (number, line)
            for number, line in enumerate(lines, 1)
            if line.strip() or (self.has_pairs and "\t" in line)
        ]
        for number, line in numbered:
            with bad.collected():
                examples.append(self._example_of_line(f"{PIPE}, line {number}", line))
        bad.refuse(len(numbered))
        if not examples:
            raise UserError("there is no text on standard input: write one per line.")
        return self._predict(examples)

    def _example_of_line(self, place: str, line: str) -> Example:
        if not self.has_pairs:
            return _example(place, line, None)
        if (tabs := line.count("\t")) != 1:
            reason = f"{self.run.name} classifies pairs of texts, but the line has {tabs} tabs"
            raise BadRecordError(place, reason, ". Put one tab between the two.")
        return _example(place, *line.split("\t"))

    def _predict(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        rows = [self.classifier.row(example) for example in examples]
        with inference(self.classifier.model, self.hardware):
            answers = self.classifier.answers(examples, rows)
        return [
            {**answer, "input": example.text}
            | ({} if example.pair is None else {"pair": example.pair})
            for example, answer in zip(examples, answers, strict=True)
        ]


def _example(place: str, text: str, pair: str | None) -> Example:
    if not text.strip() or (pair is not None and not pair.strip()):
        raise BadRecordError(place, "the text is empty", ".")
    return Example(place, text, pair, None, place)
