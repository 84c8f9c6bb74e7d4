"""Conditions of an experiment with attention, as a user writes them. Loads no torch.

cosine                          a variant
shared_projection:share=qk      with an option of its own; several are separated by semicolons
dot_product@rotary              with another position scheme
mine.py:MyAttention             a user's own
"""

import re
from pathlib import Path
from typing import Any

import yaml

from attnlab.attention.settings import AttentionSettings
from attnlab.errors import UserError
from attnlab.runs.references import FileReference, absolute_path

CONTROL = "dot_product"
_SEED, _EXAMINED, _COINS = "-seed-", "-examined", "-on-coins"
_OPTIONS = re.compile(r"(?P<name>.+?):(?P<options>\w+=.*)")
_POSITIONS = re.compile(r"(?P<rest>.+)@(?P<positions>\w+)")
_USERS_FILE = re.compile(r"[^:=;@]+\.py(?=:)")


class ConditionReference(FileReference):
    """Marks a list of conditions, some of which may name a user's own file."""

    def absolute(self, value: Any, runs: Path) -> Any:  # noqa: ARG002 - a run is looked up there
        """Write every user's file with its whole path."""
        return tuple(_USERS_FILE.sub(lambda match: absolute_path(match[0]), text) for text in value)


def with_options(text: str, *, between: str = ",", positions: str = "none") -> AttentionSettings:
    """Read ``NAME`` or ``NAME:option=value,option=value``."""
    match = _OPTIONS.fullmatch(text)
    if match is None:
        return AttentionSettings(text, positions=positions)
    options: dict[str, Any] = {}
    for pair in match["options"].split(between):
        key, equals, value = pair.partition("=")
        try:
            options[key] = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, RecursionError):
            equals = ""
        if not equals:
            raise UserError(f"{text!r} is not of the form NAME:option=value{between}option=value.")
    return AttentionSettings(match["name"], options, positions=positions)


def read_condition(text: str, *, positions: str) -> AttentionSettings:
    """Read a condition; ``positions`` is the scheme of one that names none.

    Conditions are listed with commas, so that the options of one are separated by semicolons.
    """
    match = _POSITIONS.fullmatch(text)
    if match is not None:
        text, positions = match["rest"], match["positions"]
    return with_options(text, between=";", positions=positions)


def condition_name(text: str) -> str:
    """Return a condition as part of a folder's name; of a user's file, only the last part."""
    return re.sub(r"[^\w.]+", "-", re.sub(r"[^:=;@]*/", "", text)).strip("-.")


def cell_name(condition: str, seed: int, *, on_coins: bool = False) -> str:
    """Name the run of a condition and seed."""
    return f"{condition_name(condition)}{_COINS if on_coins else ''}{_SEED}{seed}"


def examined_name(cell: str) -> str:
    """Name the run that examines the model of another."""
    return f"{cell}{_EXAMINED}"


def condition_of(cell: str) -> str:
    """Return the name of the condition that a cell is a run of."""
    return cell.removesuffix(_EXAMINED).rpartition(_SEED)[0]


def is_on_coins(cell: str) -> bool:
    """Say whether a cell was trained on coin flips, and not on the text of the study."""
    return condition_of(cell).endswith(_COINS)
