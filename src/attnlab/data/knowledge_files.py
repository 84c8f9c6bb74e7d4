"""The knowledge lab's files: a corpus, one document per line, and questions with answers."""

from dataclasses import dataclass
from pathlib import Path

from attnlab.data.header import short
from attnlab.data.text_files import all_lines, numbered_lines
from attnlab.data.tokenizer import refuse_reserved
from attnlab.errors import UserError
from attnlab.phases import phase

TEXT = "text to learn from"


@dataclass(frozen=True)
class Question:
    """A question, and its answer if the file gives one."""

    text: str
    answer: str | None
    place: str
    """File and line, for messages."""


def read_corpus(path: Path) -> list[str]:
    """Read one document per line; blank lines are skipped."""
    return [line for _, line in _lines(path, TEXT)]


def read_running_text(path: Path) -> str:
    """Read a text whole, blank lines included."""
    _lines(path, TEXT)  # refuses what no corpus may hold
    return "\n".join(all_lines(path))


def read_questions(path: Path, *, labelled: bool | None = None) -> list[Question]:
    """Read ``question<TAB>answer`` or questions alone; ``labelled`` insists on one of the two.

    A file is labelled if its first line is, and then every line must be.
    """
    lines = _lines(path, "question in it")
    has_answers = "\t" in lines[0][1] if labelled is None else labelled
    return [_question(f"{path}, line {number}", line, has_answers) for number, line in lines]


def _question(place: str, line: str, has_answers: bool) -> Question:
    text, *answers = line.split("\t")
    if not text.strip():
        raise UserError(f"{place}: the question is empty.")
    if not has_answers and not answers:
        return Question(text, None, place)
    if has_answers and len(answers) == 1 and answers[0].strip():
        return Question(text, answers[0], place)
    wanted = "a question, a tab and an answer" if has_answers else "a question alone, without a tab"
    raise UserError(f"{place}: {short(line)} must be {wanted}.")


def _lines(path: Path, wanted: str) -> list[tuple[int, str]]:
    """Read the numbered lines of a file, which must have some and no reserved character."""
    with phase(f"reading {path.name}"):
        lines = numbered_lines(path)
        if not lines:
            raise UserError(f"{path} is empty: there is no {wanted}.")
        for number, line in lines:
            refuse_reserved(line, f"{path}, line {number}: the text")
    return lines
