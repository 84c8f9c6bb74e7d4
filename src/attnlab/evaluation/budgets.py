"""Whether language models had the same budget: text, held-out end, tokens and training."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from attnlab.config import flatten
from attnlab.errors import UserError
from attnlab.evaluation.differing import MISSING, written_value
from attnlab.runs.directory import Run

BUDGET = (
    *("text_held_out", "tokenizer", "objective", "block", "share", "batch_tokens", "training"),
)
"""Settings that say what a model learns from, and for how long."""
NOT_COMPARED = ("training.seed", "training.device", "training.save_every", "training.keep_last")
LENGTH = "training.length"


def refuse_mixed_budgets(runs: Sequence[Run], *, free: Collection[str] = ()) -> None:
    """Refuse runs that learned from different texts, or for different lengths.

    ``free`` are the settings that may differ, such as the length of runs with equal operations.
    """
    first, *others = runs
    wanted = dict(_budget(first, free))
    for run in others:
        found = dict(_budget(run, free))
        for key in wanted | found:
            one, other = wanted.get(key, MISSING), found.get(key, MISSING)
            if one != other:
                raise UserError(
                    f"{first.name} and {run.name} had different budgets: {key} is"
                    f" {written_value(one)} and {written_value(other)}. Different texts, splits or"
                    " lengths are not compared: train both in one study."
                )


def _budget(run: Run, free: Collection[str]) -> Iterator[tuple[str, Any]]:
    yield "SHA-256 of the text", run.config["resolved"].get("data", {}).get("corpus")
    settings = run.config["settings"]
    given = {name: settings[name] for name in BUDGET if name in settings}
    yield "job", run.config["job"]
    yield from (pair for pair in flatten(given) if pair[0] not in (*NOT_COMPARED, *free))
