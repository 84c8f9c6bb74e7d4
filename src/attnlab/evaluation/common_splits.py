"""Which split runs are compared on: the same rows, whatever each run calls them.

A training run has test and dev; a run that scores a file has a split of the file's name. Rows are
found again by their stored hashes.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from attnlab.errors import UserError
from attnlab.runs.directory import Run

SPLITS = ("test", "dev", "held_out", "held_out_text")


def common_splits(runs: Sequence[Run], split: str | None = None) -> dict[str, str]:
    """Choose one split of every run, by the run's name.

    That is the given one, or else the first that all runs have of test, dev, held_out and the
    others. A run that has no split of that name takes part with the one that holds the same rows.
    """
    scored = {run.name: scored_splits(run) for run in runs}
    wanted = [split] if split else dict.fromkeys([*SPLITS, *chain(*scored.values())])
    for name in wanted:
        if len(found := _matched(name, runs, scored)) == len(runs):
            return found
    raise _no_such_split(split, scored, found) if split else _nothing_to_compare(scored)


def scored_splits(run: Run) -> list[str]:
    """Return the splits that a run has a score and stored predictions on."""
    return [split for split in run.record["scores"] if run.has_predictions(split)]


def _matched(name: str, runs: Sequence[Run], scored: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Find the split of that name, or else the same rows, in as many runs as have them."""
    having = [run for run in runs if name in scored[run.name]]
    if not having:
        return {}
    wanted, found = sorted(having[0].rows(name)), {run.name: name for run in having}
    for run in runs:
        if run.name in found or not wanted:
            continue
        same = (split for split in scored[run.name] if sorted(run.rows(split)) == wanted)
        if split := next(same, None):
            found[run.name] = split
    return found


def _no_such_split(
    split: str, scored: Mapping[str, Sequence[str]], found: Mapping[str, str]
) -> UserError:
    name = next(name for name in scored if name not in found)
    return UserError(
        f"the run {name} has no score on {split!r}, nor on the same rows under another name."
        f" It has: {', '.join(scored[name]) or 'none'}."
    )


def _nothing_to_compare(scored: Mapping[str, Sequence[str]]) -> UserError:
    listed = "; ".join(f"{name}: {', '.join(splits) or 'none'}" for name, splits in scored.items())
    return UserError(
        "there is nothing to compare: these runs share no scored split, neither by name nor by rows"
        f" ({listed})."
    )
