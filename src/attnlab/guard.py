"""However a program ends, it says why in one or two lines: the border where errors become words.

``with guarded("attnlab"):`` stands around the command line and every course's script. Exit codes: 2
for a user's mistake, 1 for what the machine or attnlab itself could not do, 128 + n for signal n.

Loads only what Python has loaded anyway, so that a Ctrl-C finds the guard in place.
"""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attnlab.environment import (
    DEBUG,
    FAILURE,
    check_environment,
    is_on,
    process_rank,
    take_over_srun,
    unusable_widths,
)
from attnlab.errors import AttnlabError, UserError
from attnlab.users_code import is_ctrl_c, users_line

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a disk says that cannot take more."""
MOST_LINES, LONGEST_LINE = 3, 2000
MOST_NAME_BYTES = 255
NO_MEMORY = ("can't allocate memory", "out of memory", "Unable to allocate")
"""Words of torch and numpy."""


@contextmanager
def guarded(program: str) -> Iterator[None]:
    """Guard a program to its end; leave with its exit code unless that is 0."""
    code: Any = 0
    try:
        _prepare_streams()
        for wrong in unusable_widths():
            say(program, f"{wrong} is ignored: give a whole number of characters.")
        take_over_srun()
        check_environment()
        watch_threads(program)
        try:
            yield
        except SystemExit as end:
            if users_line(end):
                raise
            code = end.code
        sys.stdout.flush()  # only what is delivered is done
    except BaseException as error:
        if is_on(DEBUG) and not isinstance(error, BrokenPipeError):
            raise
        code = report(program, error)
    if code:
        sys.exit(code)


def watch_imports(program: str) -> None:
    """Guard a script while it loads its modules, before it can call ``guarded``."""

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if is_on(DEBUG):
            sys.__excepthook__(kind, error, trace)
            return
        sys.exit(report(program, error))

    sys.excepthook = hook


def watch_threads(program: str) -> None:
    """Let a thread that fails, such as one of a user's file, say so in words; the others go on.

    To the end of the process: threads may outlive the guard. Only the first that fails says so.
    """
    import threading

    failed: list[BaseException] = []

    def hook(given: threading.ExceptHookArgs) -> None:
        error = given.exc_value
        if is_on(DEBUG):
            threading.__excepthook__(given)
        elif error and not failed and not isinstance(error, SystemExit):
            failed.append(error)
            say(program, f"{explain(program, error)[0]} Only a thread ended; the command goes on.")

    threading.excepthook = hook


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGSEGV."""
    return signal.Signals(number).name if number in set(signal.Signals) else str(number)


def report(program: str, error: BaseException) -> int:
    """Say what happened, if this is for this process to say; return the exit code."""
    # a second Ctrl-C must not interrupt the sentence about the first
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if _is_main_thread() else None
    try:
        text, code = explain(program, error)
        rank = _rank()
        told = getattr(error, "told_by_lead", is_ctrl_c(error))
        if text and not (rank and told):
            say(program, f"[process {rank}] {text}" if rank else text)
        _give_up_broken(sys.stdout)
        _note_for_starter(error, text)
        return code
    finally:
        if previous is not None:
            signal.signal(signal.SIGINT, previous)


def explain(program: str, error: BaseException) -> tuple[str, int]:
    """Return the words and the exit code for whatever ended a program."""
    message = str(error).strip().partition("\n")[0].removesuffix(".")
    if isinstance(error, AttnlabError):
        return str(error), error.exit_code
    if is_ctrl_c(error):
        return "stopped by Ctrl-C.", 128 + signal.SIGINT
    if isinstance(error, BrokenPipeError):
        return "", 128 + signal.SIGPIPE  # as head wants it, and as other tools end
    if line := users_line(error):
        return f"{line} fails: {type(error).__name__}{message and f': {message}'}.", 2
    if isinstance(error, OSError):
        return _about_files(error)
    if isinstance(error, RuntimeError) and message.startswith("Symlink loop from "):  # pathlib
        return f"cannot use {message.removeprefix('Symlink loop from ')}: it links to itself.", 2
    if is_out_of_memory(error):
        more = f" ({message})" if message else ""
        return f"there is not enough memory for this{more}. Choose smaller sizes.", 1
    if isinstance(error, ValueError) and sys.stdout.closed:
        return "standard output was closed by code that is not attnlab's.", 1
    if isinstance(error, UnicodeEncodeError):
        text = error.object[max(0, error.start - 40) : error.end + 40]
        return f"{text!r} cannot be written as {error.encoding}: rename it, or use UTF-8.", 2
    return _about_a_bug(program, error, message), 1


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error is Python's, numpy's or torch's word for too little memory."""
    first_line = str(error).strip().partition("\n")[0]
    return isinstance(error, MemoryError) or any(words in first_line for words in NO_MEMORY)


def in_a_word(error: BaseException) -> str:
    """Say what a study writes where a cell's score would be; nothing if it has to end as well."""
    if isinstance(error, AttnlabError):
        return error.in_a_word
    return "memory" if is_out_of_memory(error) else ""


def say(program: str, text: str) -> None:
    """Write a message to standard error, whatever it holds; without one, to nobody."""
    for given in sys.argv:
        if "\n" in given:  # a name that a user typed does not make a message longer
            text = text.replace(given, escaped(given))
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… and {len(lines) - MOST_LINES + 1} more lines."]
    shown = "\n".join(_shortened(escaped(line)) for line in lines)
    try:
        print(f"{program}: {shown}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # ValueError: somebody closed it
        _give_up(sys.stderr)


def _note_for_starter(error: BaseException, text: str) -> None:
    """Tell whoever started this process how it failed: an exit code says too little."""
    if path := os.environ.get(FAILURE):
        import json

        with suppress(OSError), open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - loads less
            json.dump({"in_a_word": in_a_word(error), "message": text}, file)


def _about_files(error: OSError) -> tuple[str, int]:
    reason = error.strerror or str(error)
    path = error.filename if isinstance(error.filename, (str, bytes)) else None
    if error.errno == errno.ENAMETOOLONG:
        return (
            f"the name {_shortened(os.fsdecode(path or ''), 80)} is too long: a name has at most"
            f" {MOST_NAME_BYTES} bytes.",
            2,
        )
    if error.errno in FULL:
        where = os.fsdecode(path) if path else "standard output"
        return f"cannot write {where}: {reason}. Make room, then repeat the command.", 1
    if path is None:
        return f"the system refuses: {reason}.", 1
    return f"cannot use {os.fsdecode(path)}: {reason}.", 2


def _about_a_bug(program: str, error: BaseException, message: str) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" in {frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else ""
    how = "--debug" if program == "attnlab" else f"{DEBUG}=1"
    return (
        f"unexpected {type(error).__name__}{where}: {message}.\n"
        f"This is a bug in attnlab; {how} shows the traceback."
    )


def _prepare_streams() -> None:
    """Let any text be printed and read: a closed stream is empty, what is no text is escaped."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # closed; a file opened later must not get its number
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _give_up_broken(stream: Any) -> None:
    """Flush, and if that fails, keep Python from trying again and complaining at its end."""
    try:
        stream.flush()
    except (OSError, ValueError):
        _give_up(stream)


def _give_up(stream: Any) -> None:
    if stream.closed:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def escaped(line: str) -> str:
    """Show control characters and bytes that are no text, instead of sending them to a terminal."""
    return "".join(
        c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in line
    )


def _shortened(text: str, longest: int = LONGEST_LINE) -> str:
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def _rank() -> int:
    try:
        return process_rank()
    except UserError:
        return 0


def _is_main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()
