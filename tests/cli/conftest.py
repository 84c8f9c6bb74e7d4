"""The fixtures of the command line's tests."""

from command_line import attnlab, short_answers

from commands_here import checks_here

__all__ = ["attnlab", "checks_here", "short_answers"]
