"""The fixtures of the command line's tests."""

from command_line import attnlab, short_answers

__all__ = ["attnlab", "short_answers"]
