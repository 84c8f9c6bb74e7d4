"""The knowledge lab's files: a corpus, one document per line, and questions with answers."""

from dataclasses import dataclass
from pathlib import Path

from attnlab.data.text_files import read_text
from attnlab.data.tokenizer import PAD, SENTINEL
from attnlab.errors import UserError


@dataclass(frozen=True)
class Question:
    """A question, and its answer where the file gives one."""

    text: str
    answer: str | None
    place: str
    """File and line, for messages."""


def read_corpus(path: Path) -> list[str]:
    """Read one document a line; blank lines are left out."""
    lines = _lines(path)
    documents = [line for line in lines if line.strip()]
    if not documents:
        raise UserError(f"{path} is empty: there is no text to learn from.")
    return documents


def read_running_text(path: Path) -> str:
    """Read a text whole, blank lines included."""
    text = "\n".join(_lines(path))
    if not text.strip():
        raise UserError(f"{path} is empty: there is no text to learn from.")
    return text


def read_questions(path: Path, *, labelled: bool | None = None) -> list[Question]:
    """Read ``question<TAB>answer`` or questions alone; ``labelled`` insists on one of the two.

    A file is labelled if its first line is, and then every line must be.
    """
    lines = [(number, line) for number, line in enumerate(_lines(path), 1) if line.strip()]
    if not lines:
        raise UserError(f"{path} is empty: there is no question in it.")
    has_answers = "\t" in lines[0][1] if labelled is None else labelled
    return [_question(path, number, line, has_answers) for number, line in lines]


def _question(path: Path, number: int, line: str, has_answers: bool) -> Question:
    place = f"{path}, line {number}"
    text, *answers = line.split("\t")
    if not text.strip():
        raise UserError(f"{place}: the question is empty.")
    if not has_answers and not answers:
        return Question(text, None, place)
    if has_answers and len(answers) == 1 and answers[0].strip():
        return Question(text, answers[0], place)
    wanted = "a question, a tab and an answer" if has_answers else "a question alone, without a tab"
    raise UserError(f"{place}: {line!r} must be {wanted}.")


def _lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 file; only line feeds end one, whatever Unicode calls a break."""
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    for number, line in enumerate(lines, 1):
        for reserved in (PAD, SENTINEL):
            if reserved in line:
                raise UserError(
                    f"{path}, line {number}: the text holds the reserved character {reserved!r}."
                    " Take it out."
                )
    return lines
