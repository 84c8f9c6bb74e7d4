"""The tutorial and the how-to pages: what they show is run, page by page, in an empty folder.

A block marked `bash` is run. One marked `sh` needs a network, a cluster or minutes: its commands
must exist. A block with a title is a file. `text` is what a command printed, with … for what was
left out.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from attnlab import cli
from commands_here import attnlab_in, checks_here

__all__ = ["checks_here"]
DOCS = Path(__file__).parent.parent / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]
SHOWN = [*PAGES, *sorted((DOCS / "courses").glob("*.md"))]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
SMALLER = {
    r"'\d+k tokens'": "'2 steps'",
    r"--people \d+": "--people 20",
    "--tokens 40": "--tokens 4",
}
"""What is made smaller in the quick test: the commands are tried, and nothing is learned."""


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def commands(text: str) -> Iterator[str]:
    """Give the commands of a block, without comments."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield shlex.join(words)


def run(command: str, folder: Path) -> str:
    """Run a command of a page, which must not fail; return what it printed."""
    words = shlex.split(command)
    if words[0] != "attnlab":
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout
    target = folder / words.pop() if words[-2] == ">" and words.pop(-2) else None
    outcome = attnlab_in(folder, *words[1:])
    assert outcome.code == 0, f"{command}\n{outcome.err}"
    if target:
        target.write_text(outcome.out, encoding="utf-8")
    return outcome.out


def bare(line: str) -> str:
    """Return a line without its numbers and spaces: these differ from machine to machine."""
    return re.sub(r"[\d.,e+-]+|\s+", "", line)


def follow(page: Path, folder: Path, *, as_printed: bool) -> None:
    """Do what a page says, from top to bottom."""
    printed = ""
    for kind, title, text in blocks(page):
        if title:
            (folder / title).write_text(text, encoding="utf-8")
        elif kind == "bash":
            for command in commands(text):
                for pattern, smaller in () if as_printed else SMALLER.items():
                    command = re.sub(pattern, smaller, command)
                printed += run(command, folder)
        elif kind == "text" and as_printed:
            there = [bare(line) for line in printed.splitlines()]
            missing = [
                line for line in text.splitlines() if line != "…" and bare(line) not in there
            ]
            assert missing == [], printed


@pytest.mark.usefixtures("checks_here")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_work(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "ATTNLAB_RUNS", str(tmp_path / "runs"))
    follow(page, tmp_path, as_printed=False)


@pytest.mark.slow
@pytest.mark.usefixtures("checks_here")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_as_printed_shows_what_it_says(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path, as_printed=True)


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_every_command_of_a_page_exists_with_its_options(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [c for b in blocks(page) if b.kind in ("sh", "bash") for c in commands(b.text)]
    for command in shown:
        words = shlex.split(re.split(r" (?:&&|'&&'|'>'|>) ", command)[0])
        words = words[1:] if "=" in words[0] else words  # a variable before the command
        if words[0] == "make":
            makefile = (DOCS.parent / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), command
        elif words[0] == "python" and words[1].startswith(("courses/", "benchmarks/")):
            assert (DOCS.parent / words[1]).is_file(), command
        elif words[0] == "attnlab":
            monkeypatch.setattr(sys, "argv", [*words, "--help"])
            with pytest.raises(SystemExit) as left:
                cli.main()
            assert left.value.code in (0, None), command


def test_a_command_that_fails_and_output_that_is_not_there_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\nattnlab runs show nobody\n```\n")
    with pytest.raises(AssertionError, match="there is no run 'nobody'"):
        follow(page, tmp_path, as_printed=False)
    page.write_text("```bash\necho 12 people\n```\n\n```text\n13 people\n…\n```\n")
    follow(page, tmp_path, as_printed=True)
    page.write_text("```bash\necho 12 people\n```\n\n```text\n12 dogs\n```\n")
    with pytest.raises(AssertionError, match="12 people"):
        follow(page, tmp_path, as_printed=True)


@pytest.mark.parametrize(
    "page", sorted((DOCS / "courses").glob("*.md")), ids=lambda page: page.stem
)
def test_the_tests_that_back_a_correction_exist(page: Path) -> None:
    tests = DOCS.parent / "tests"
    everything = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py"))
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"))
    for name in re.findall(r"\b(test_\w+|Test\w+)\b(?!\.py)", text):
        assert re.search(rf"(?:def|class) {name}\b", everything), name
    for path in re.findall(r"\btests/[\w/]+\.py", text):
        assert (DOCS.parent / path).is_file(), path
