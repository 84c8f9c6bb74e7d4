"""Whose code fails: a user's own file is named with its line, and cannot end attnlab unnoticed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import NoReturn

USERS = "attnlab_user_"
"""Prefix of the module names of users' files."""
OURS, PYTHONS = (str(Path(file).parent) for file in (__file__, os.__file__))


def users_line(error: BaseException) -> str | None:
    """Return ``file, line n`` if a user's file is to blame for an error, and None if we are.

    A file that a user named is, even if it only called us with what we do not take. Any other file,
    such as a course's script, is if it is the last one before the libraries.
    """
    named, last = None, None
    for trace in _traces(error.__traceback__):
        code = trace.tb_frame.f_code
        if _is_users(trace.tb_frame):
            named = f"{_as_seen_from_here(code)}, line {trace.tb_lineno}"
        if code.co_filename.startswith(OURS):
            last = None
        elif not _is_library(code):
            last = f"{_as_seen_from_here(code)}, line {trace.tb_lineno}"
    is_exit = isinstance(error, SystemExit)  # a script may end; a part of ours may not
    return named or (None if is_exit else last)


def is_ctrl_c(error: BaseException) -> bool:
    """Say whether the user stops the program, which no code of theirs may keep from happening."""
    return type(error) is KeyboardInterrupt


def refuse_silent_exit() -> None:
    """From now on, let ``os._exit`` of a user's file raise SystemExit, which a check can name."""
    if getattr(os._exit, "is_ours", False):
        return
    real, process = os._exit, os.getpid()

    def noticed(status: int) -> NoReturn:
        frame = sys._getframe(1)
        if os.getpid() == process and any(map(_is_users, _callers(frame))):
            raise SystemExit(f"os._exit({status}) would end attnlab without a word")
        real(status)

    noticed.is_ours = True  # type: ignore[attr-defined]
    os._exit = noticed


def _is_users(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(USERS)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _traces(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_library(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith((PYTHONS, "<")) or "site-packages" in Path(name).parts


def _as_seen_from_here(code: CodeType) -> str:
    path = Path(code.co_filename)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
