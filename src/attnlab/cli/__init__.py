"""The command line: parse, check, call. Nothing heavy is loaded before a command needs it."""


def main() -> None:
    """Run the command line; however it ends, the guard finds the words and the exit code."""
    from attnlab.guard import guarded

    with guarded("attnlab"):
        from attnlab.cli.commands import parsed_command  # inside the guard: loading takes a while

        with parsed_command() as (command, context):
            command.invoke(context)
    raise SystemExit(0)
