"""Writes docs/answers/index.md: every written question, its answer, and what checks the answer.

python docs/answers.py          # write it
python docs/answers.py check    # fail if it is out of date

Both fail if a question has no answer, or if an answer has no test that `make test` runs.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify  # what mkdocs makes anchors with

ROOT = Path(__file__).parent.parent
ANSWER = re.compile(
    r"^### (?P<number>[^:\n]+): (?P<title>.+)\n(?P<text>(?:(?!^##).*\n?)*)", re.MULTILINE
)
CHECK = re.compile(r"`(tests/[\w/]+\.py(?:::\w+)+)`")
LEFT_OUT = re.compile(r"\bmark\.(slow|slurm|data|skip)\b")
"""Marks of tests that `make test` does not run, or not everywhere."""


class Document(NamedTuple):
    """An assignment, the page with its answers, and its questions."""

    title: str
    page: str
    questions: dict[str, str]
    """From the number in the document to the number on the page."""


class Answer(NamedTuple):
    """One answer of a page."""

    title: str
    anchor: str
    checks: tuple[str, ...]


def _numbers(text: str) -> dict[str, str]:
    return {number: number for number in text.split()}


ON_ATTENTION = _numbers("2.1.1 2.1.2 2.2.1 2.2.2 2.2.3")
DOCUMENTS = (
    Document(
        "knowledge",
        "knowledge.md",
        _numbers(
            "1(a)i 1(a)ii 1(a)iii 1(a)iv 1(b)i 1(b)ii 1(c)i 1(c)ii 1(d)i 1(d)ii"
            " 2(d) 2(f) 2(g)i 2(g)ii 3(a) 3(b) 3(c)"
        ),
    ),
    Document(
        "attention",
        "attention.md",
        _numbers("1.2.1 1.2.2 1.2.3 1.3.1 1.3.2 1.3.3 1.4.1 1.4.2 1.4.3 2.2"),
    ),
    Document(
        "sst2",
        "sst2.md",
        _numbers("Q1.1 Q1.2 Q2.1 Q2.2 Q2.3 Q3.1 Q3.2 Q3.3 Q4.1 Q4.2 Q4.3 Q4.4 Q4.5 Q4.6 Q4.7 Q5.1"),
    ),
    Document(
        "yelp",
        "yelp.md",
        _numbers("1.1(a) 1.1(b) 1.2(a) 1.2(b) 1.3(a) 1.3(b) 1.4(a) 1.4(b) 2.1 2.2 3.1 3.2"),
    ),
    Document(
        "boolq, the version with five quiz questions",
        "boolq.md",
        _numbers("1.1 1.2 1.3 1.4 1.5")
        | ON_ATTENTION
        | _numbers("3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9"),
    ),
    Document(
        "boolq, the version with six quiz questions",
        "boolq.md",
        _numbers("1.1 1.2 1.3 1.4 1.5 1.6")
        | ON_ATTENTION
        | {"3.1, 1": "3.2", "3.1, 2": "3.6", "3.1, 3": "3.7", "3.1, 4": "3.8"}
        | {"3.2, 1": "PEFT 1", "3.2, 2": "PEFT 2", "3.2, 3": "PEFT 3"},
    ),
)
HEAD = """# Answers

Every written question of the assignments, in the order of each document, with its answer and the
tests that check it. Each answer has at least one test that `make test` runs on every machine; a few
more need real data or a Slurm cluster. *sst2* is the third section of the attention assignment.
Tasks that ask for code alone are on the pages of the [courses](../courses/index.md). For more on
each subject, see [Queries by hand](../geometry.md), [Knowledge](../knowledge.md),
[Classifying text](../classify.md) and [Tuning](../tuning.md). This page is generated from the
others by `python docs/answers.py`.
"""


def read_answers(page: Path) -> dict[str, Answer]:
    """Return the answers of a page by their numbers, in the page's order."""
    found: dict[str, Answer] = {}
    for match in ANSWER.finditer(page.read_text(encoding="utf-8")):
        number, title = match["number"], match["title"]
        if number in found:
            sys.exit(f"{page.name} answers {number} twice")
        anchor = slugify(f"{number}: {title}", "-")
        found[number] = Answer(title, anchor, tuple(CHECK.findall(match["text"])))
    return found


def check_page(page: Path, documents: Sequence[Document]) -> None:
    """Leave with an error unless a page has its documents' answers, in order, each checked."""
    answers = read_answers(page)
    wanted = {number for document in documents for number in document.questions.values()}
    if extra := [number for number in answers if number not in wanted]:
        sys.exit(f"{page.name}: no question has the number {', '.join(extra)}")
    for document in documents:
        order = list(document.questions.values())
        if missing := [number for number in order if number not in answers]:
            sys.exit(f"{page.name}: {document.title} has no answer to {', '.join(missing)}")
        if order != [number for number in answers if number in order]:
            sys.exit(f"{page.name}: the answers are not in the order of {document.title}")
    for number, answer in answers.items():
        if not sum(map(is_run, answer.checks)):  # not any(): every check must be there
            sys.exit(f"{page.name}: no test that `make test` runs everywhere checks {number}")


def is_run(check: str) -> bool:
    """Say whether `make test` runs a test on every machine; leave if there is none of that name."""
    path, *names = check.split("::")
    if not (ROOT / path).is_file():
        sys.exit(f"there is no file {path}, which is to check an answer")
    tree = _parsed(ROOT / path)
    marks = [ast.unparse(node) for node in tree.body if "pytestmark" in _targets(node)]
    body: Sequence[ast.stmt] = tree.body
    for name in names:
        definition = next((node for node in _definitions(body) if node.name == name), None)
        if definition is None:
            sys.exit(f"{path} has no test {'::'.join(names)}, which is to check an answer")
        marks += [ast.unparse(decorator) for decorator in definition.decorator_list]
        body = definition.body
    return not any(LEFT_OUT.search(mark) for mark in marks)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _targets(node: ast.stmt) -> list[str]:
    return [ast.unparse(target) for target in getattr(node, "targets", ())]


def _definitions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    return (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def index(folder: Path) -> str:
    """Return the page with the table of every document."""
    parts = [HEAD]
    for document in DOCUMENTS:
        page = folder / document.page
        check_page(page, [one for one in DOCUMENTS if one.page == document.page])
        answers = read_answers(page)
        rows = [row(q, answers[n], document.page) for q, n in document.questions.items()]
        table = "\n".join(["| question | answer | checks |", "|---|---|---|", *rows])
        parts.append(f"## {document.title}\n\n{table}\n")
    return "\n".join(parts)


def row(question: str, answer: Answer, page: str) -> str:
    """Return the line of one question."""
    checks = "<br>".join(f"`{check.removeprefix('tests/')}`" for check in answer.checks)
    return f"| {question} | [{answer.title}]({page}#{answer.anchor}) | {checks} |"


def main() -> None:
    """Write the page, or check it."""
    folder = ROOT / "docs" / "answers"
    text, page = index(folder), folder / "index.md"
    if sys.argv[1:] != ["check"]:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        sys.exit("docs/answers/index.md is out of date: python docs/answers.py")


if __name__ == "__main__":
    main()
