"""What differs between the conditions of a comparison: settings and their values, without seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.config import flatten
from attnlab.runs.directory import Run

MISSING, EMPTY, LONGEST = "–", "none", 40
IGNORED = ("seed", "resume_from")
"""How settings end that make no other condition: a run that resumed is what it would have been."""


@dataclass(frozen=True)
class Differing:
    """A setting that is not the same everywhere."""

    key: str
    values: Mapping[str, Any]
    """By condition; a condition whose job has no such setting is not in it."""

    def sentence(self, conditions: Sequence[str]) -> str:
        """Write `lr 3e-5 → 5e-4` for two conditions, and every value once for more."""
        written = [written_value(self.values.get(name, MISSING)) for name in conditions]
        if len(conditions) == 2:
            return f"{self.key} {written[0]} → {written[1]}"
        return f"{self.key} {', '.join(dict.fromkeys(written))}"


def differing_settings(groups: Mapping[str, Sequence[Run]]) -> list[Differing]:
    """List the settings that differ; the job first, those that not all have last."""
    settings = {name: _settings(runs[0]) for name, runs in groups.items()}
    keys = dict.fromkeys(key for values in settings.values() for key in values)
    found = []
    for key in keys:
        if any(other.startswith(f"{key}.") for other in keys):
            continue  # an empty group, whose entries elsewhere are listed one by one
        values = {name: of[key] for name, of in settings.items() if key in of}
        if len(values) < len(settings) or len({repr(value) for value in values.values()}) > 1:
            found.append(Differing(key, values))
    found.sort(key=lambda one: (one.key != "job", len(one.values) < len(settings)))
    # of an optimizer's name, that it is the optimizer is what matters
    last = [one.key.removesuffix(".name").rpartition(".")[2] for one in found]
    return [
        Differing(short if last.count(short) == 1 else one.key, one.values)
        for one, short in zip(found, last, strict=True)
    ]


def written_value(value: Any) -> str:
    """Write a setting's value as a user would: 3e-5, not 3e-05."""
    if isinstance(value, float) and 0 < abs(value) < 1e-3:
        return scientific(value)
    if value in ("", None, [], {}):
        return EMPTY
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"…{text[-LONGEST:]}"


def scientific(value: float) -> str:
    """Write a number as learning rates are written: 1e-3."""
    mantissa, _, exponent = f"{value:e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def _settings(run: Run) -> dict[str, Any]:
    settings = {"job": run.config["job"], **dict(flatten(run.config["settings"]))}
    return {key: value for key, value in settings.items() if not key.endswith(IGNORED)}
