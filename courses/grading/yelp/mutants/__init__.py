"""A student's files with one bug each, to test that the grader catches it by name.

A mutant replaces pieces of the code in ``by_hand``, or of a file that is given. The rest stays
right. It names the checks that must fail, these and no other, and what the first of them says.
"""

from typing import NamedTuple

MODEL, INPUTS, TRAINER = "mymodel.py", "classifier_mlm.py", "trainer.py"
NO_LOSS = ("loss", "gradient", "learns")
"""The checks that need a loss which is a number."""


class Mutant(NamedTuple):
    """A bug: what is replaced by what, and what the grader says."""

    name: str
    replaced: dict[str, str]
    fails: tuple[str, ...]
    said: str
    file: str = MODEL
