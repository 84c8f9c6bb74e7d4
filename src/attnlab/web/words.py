"""Sentences of the command line in the words of the page, whose settings are fields."""

import re

_QUOTED = re.compile(r"(`[^`]*`)")
_FLAG = re.compile(r"(?<![^\s(])--([a-z][a-z-]*)")  # in quotes, it is what somebody has typed
_UNDER_A_NAME = re.compile(r"with --name\b")
ONLY_THERE = ("accept-changed-code", "debug", "on", "parallel", "time-limit")
"""Flags that no form has a field for."""


def in_form_words(sentence: str) -> str:
    """Name fields instead of flags: ``--held-out 0.1`` is ``held_out 0.1``.

    A command in backquotes is left as it is typed.
    """
    parts = _QUOTED.split(sentence)
    return "".join(part if part.startswith("`") else _fields(part) for part in parts)


def _fields(text: str) -> str:
    return _FLAG.sub(_field, _UNDER_A_NAME.sub("under another name", text))


def _field(flag: re.Match[str]) -> str:
    name = flag[1]
    return f"{flag[0]} on the command line" if name in ONLY_THERE else name.replace("-", "_")
