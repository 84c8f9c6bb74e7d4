"""The fixture of the hostile tests."""

from harness import hostile

__all__ = ["hostile"]
