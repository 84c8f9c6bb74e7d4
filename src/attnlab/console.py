"""Where text is shown: a user's or a model's words are never markup, and no line is cut.

Every console of attnlab is made here; ``tests/test_console.py`` sees to it.
"""

from typing import Any

from rich.console import Console as RichConsole
from rich.progress import TextColumn


class Console(RichConsole):
    """A console that prints text as it is."""

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, markup=False, emoji=False)

    def print(self, *objects: Any, crop: bool = False, **how: Any) -> None:
        """Print; what is wider than the screen goes on in the next line instead of being cut."""
        super().print(*objects, crop=crop, **how)

    def on_broken_pipe(self) -> None:
        """Leave the end of a pipe to the guard; rich would end the program here."""
        raise


def text_column(text: str) -> TextColumn:
    """Return a column of a progress bar that shows its text as it is."""
    return TextColumn(text, markup=False)
