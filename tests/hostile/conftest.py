"""The fixtures of the hostile tests."""

from harness import hostile
from run_files_helpers import all_runs, quick_runs

__all__ = ["all_runs", "hostile", "quick_runs"]
