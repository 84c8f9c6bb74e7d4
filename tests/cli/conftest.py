"""The fixtures of the command line's tests."""

from command_line import attnlab, short_answers

from commands_here import checks_here
from fake_slurm import fake_slurm

__all__ = ["attnlab", "checks_here", "fake_slurm", "short_answers"]
