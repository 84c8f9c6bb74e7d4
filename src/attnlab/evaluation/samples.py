"""What is wrong with a text that a model wrote: words that no text it read has, and repetition."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
MOST_NAMED = 5


@dataclass(frozen=True)
class SampleFaults:
    """What was counted in a text."""

    words: int
    unknown: tuple[str, ...]
    """Words that the training text does not have, each as often as it was written."""
    repeated: float
    """Share of the words that follow the same two words as somewhere before."""

    def sentence(self) -> str:
        """Say what is wrong."""
        if not self.words:
            return "no words"
        first = dict.fromkeys(self.unknown[:MOST_NAMED])
        named = ", ".join([*first, *(["…"] if set(self.unknown) - set(first) else [])])
        unknown = f"{len(self.unknown)} of {self.words} words are not in the training text"
        again = f"; {self.repeated:.0%} repeat a sequence of three words" if self.repeated else ""
        return f"{unknown}{f' ({named})' if named else ''}{again}"


def words_of(texts: Iterable[str]) -> set[str]:
    """Collect the words of texts, whatever their case."""
    return {word for text in texts for word in WORD.findall(text.lower())}


def faults_of(sample: str, known: Collection[str]) -> SampleFaults:
    """Look for unknown words and repetition; the last word may be cut off and does not count."""
    words = WORD.findall(sample.lower())[:-1]
    threes = list(zip(words, words[1:], words[2:], strict=False))
    repeated = 1 - len(set(threes)) / len(threes) if threes else 0.0
    return SampleFaults(len(words), tuple(word for word in words if word not in known), repeated)
