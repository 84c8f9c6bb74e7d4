"""The command line: parse, check, call. Nothing heavy is loaded before a command needs it."""


def main() -> None:
    """Run the command line; however it ends, the guard finds the words and the exit code."""
    from attnlab.guard import guarded

    guarded("attnlab", _run)
    raise SystemExit(0)


def _run() -> int:
    from attnlab.cli.commands import run_command  # inside the guard: loading takes a while

    return run_command()
