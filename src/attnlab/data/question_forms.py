"""The forms of questions: what is asked, whoever it is asked about.

Where was Khatchig Mouradian born?    the form "Where was … born?", about Khatchig Mouradian
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attnlab.data.entries import WORD
from attnlab.data.knowledge_files import Question
from attnlab.data.names import Names


@dataclass(frozen=True)
class QuestionForm:
    """A question without the name."""

    before: str
    after: str

    @property
    def cues(self) -> tuple[str, ...]:
        """Its words, in lower case."""
        return tuple(word.lower() for word in WORD.findall(f"{self.before} {self.after}"))

    def about(self, name: str) -> str:
        """Ask it about somebody."""
        return f"{self.before}{name}{self.after}"


def by_form(
    questions: Iterable[Question], names: Names
) -> Mapping[QuestionForm, list[tuple[str, Question]]]:
    """Sort questions by their form, each with its name; who is not in the corpus is left out."""
    found = defaultdict[QuestionForm, list[tuple[str, Question]]](list)
    for question in questions:
        if name := names.in_question(question.text):
            before, _, after = question.text.partition(name)
            found[QuestionForm(before, after)].append((name, question))
    return found
