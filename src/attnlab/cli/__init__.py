"""The command line: parse, check, call. Nothing heavy is loaded before a command needs it."""

import sys
from types import TracebackType


def main() -> None:
    """Run the command line; however it ends, the guard finds the words and the exit code."""
    before, sys.excepthook = sys.excepthook, _until_the_guard_is_there
    from attnlab.guard import guarded

    sys.excepthook = before
    with guarded("attnlab"):
        from attnlab.cli.commands import parsed_command  # inside the guard: loading takes a while

        with parsed_command() as (command, context):
            command.invoke(context)
    raise SystemExit(0)


def _until_the_guard_is_there(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say that a Ctrl-C stopped us, as the guard would; Python then ends by the signal."""
    if kind is KeyboardInterrupt:
        print("attnlab: stopped by Ctrl-C.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
