"""The markers around what a student is to write, in notebooks and in Python files alike.

    # TODO: [part e], src/dataset.py: corrupt a document.
    # <solution>
    …
    # </solution>

A student gets a line in the place of the solution that fails and repeats the TODO.
``# <solution for later>`` is left out without such a line.
"""

import re
import textwrap
from collections.abc import Mapping

SOLUTION = re.compile(
    r"^( *)# <solution( for later)?>\n.*?^ *# </solution>\n", re.DOTALL | re.MULTILINE
)
MARKS = re.compile(r"^ *# (TODO: .*|</?solution( for later)?>)\n", re.MULTILINE)
TODO = re.compile(r"# TODO: (.*)")
BLANK = re.compile(r'^( *)raise NotImplementedError\("(.*)"\)$', re.MULTILINE)


def complete(source: str) -> str:
    """Return a source with the solutions and without the marks."""
    return MARKS.sub("", source)


def for_students(source: str) -> str:
    """Return it with a line that fails in the place of every solution, saying what is to do."""

    def blank(match: re.Match[str]) -> str:
        if match[2]:
            return ""
        said = TODO.findall(source[: match.start()])[-1]
        return f'{match[1]}raise NotImplementedError("{said}")\n'

    return SOLUTION.sub(blank, source)


def filled(source: str, answers: Mapping[str, str]) -> str:
    """Put answers in the place of the lines that fail; their names are how those lines begin."""

    def answer(match: re.Match[str]) -> str:
        (text,) = [text for start, text in answers.items() if match[2].startswith(start)]
        return textwrap.indent(textwrap.dedent(text).strip("\n"), match[1])

    return BLANK.sub(answer, source)
