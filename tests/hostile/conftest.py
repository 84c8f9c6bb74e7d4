"""The fixtures of the hostile tests."""

from harness import hostile
from run_files_helpers import all_runs, quick_runs

from commands_here import checks_here

__all__ = ["all_runs", "checks_here", "hostile", "quick_runs"]
