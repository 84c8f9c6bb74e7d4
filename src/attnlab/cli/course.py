"""What the commands of the courses share: flags as printed texts have them, paths, mistakes."""

import argparse
import hashlib
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from attnlab.errors import AttnlabError, UserError
from attnlab.guard import guarded

DASHES = "—–−"


def run_command(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], None], *, folder: Path
) -> None:
    """Do what the command line says; a mistake is one or two lines.

    An error that comes through a file of ``folder``, which may be a student's, names its line.
    """
    with guarded(parser.prog):
        refuse_dashes(sys.argv[1:], flags_of(parser))
        options = parser.parse_args()
        try:
            work(options)
        except (AttnlabError, OSError, MemoryError):
            raise
        except Exception as error:
            if line := line_in(folder, error):
                raise UserError(f"{line} {_what_happened(error)}.") from error
            raise


def _what_happened(error: Exception) -> str:
    message = str(error).strip().partition("\n")[0].removesuffix(".")
    if isinstance(error, NotImplementedError) and message:
        return f"is not written yet: {message}"
    return f"fails: {type(error).__name__}: {message}"


def refuse_dashes(arguments: Sequence[str], flags: Iterable[str] = ()) -> None:
    """Refuse flags as a printed document has them: with another dash, or with a blank in them."""
    for argument, after in zip_longest(arguments, arguments[1:], fillvalue=""):
        name = argument.lstrip(DASHES + "-")
        if argument == "--":
            flag = next((flag for flag in flags if after and flag[2:].startswith(after)), "")
            raise UserError(f"'-- {after}' has a blank in it: write {flag or f'--{after}'}.")
        is_short = argument[:1] == "-" and argument[:2] != "--"
        is_short = is_short and ("_" in name or f"--{name}" in flags)
        if argument.startswith(tuple(DASHES)) or is_short:
            raise UserError(f"{argument} has the wrong dash, as printed texts do: write --{name}.")


def flags_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the long flags that a parser knows."""
    known = [flag for action in parser._actions for flag in action.option_strings]
    return [flag for flag in known if flag.startswith("--")]


def needed(options: argparse.Namespace, name: str) -> str:
    """Return the value of a flag that a command cannot do without."""
    value: str | None = getattr(options, name)
    if value is None:
        raise UserError(f"{options.function} needs --{name}.")
    return value


def hash_of_code(folder: Path) -> str:
    """Hash the Python files of a folder: other code trains another model."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def line_in(folder: Path, error: BaseException) -> str | None:
    """Return the last line of a folder's files that an error came through."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{folder.name}/{Path(error.filename).name}, line {error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == folder.resolve()
    ]
    if not frames:
        return None
    return f"{folder.name}/{Path(frames[-1].filename).name}, line {frames[-1].lineno}"
