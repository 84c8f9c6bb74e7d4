"""The map of the extraction study: accuracy over people and biographies."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attnlab.report.document import Block, Figure, Heading, Table
from attnlab.report.grid_figure import Axis, Field, grid_figure
from attnlab.report.sections import Section
from attnlab.runs.directory import Run

Score = dict[str, Any]


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Show the accuracy in every field; test sets differ, so nothing is compared."""
    found = _fields(runs)
    people, biographies = (sorted({place[axis] for place in found}) for axis in (0, 1))
    yield Heading("Accuracy on test by people and biographies")
    rows = [
        [f"{count:,} people", *(_written(found.get((count, each))) for each in biographies)]
        for count in people
    ]
    yield Table(["% [95 % interval], guessing", *(f"{n} each" for n in biographies)], rows)
    fields = {
        (people.index(count), biographies.index(each)): Field(
            100 * score["value"],
            low=100 * score["interval"][0],
            high=100 * score["interval"][1],
            has_collapsed=score["interval"][0] <= score["baseline"]["value"],
        )
        for (count, each), score in found.items()
    }
    yield Figure(
        "map",
        "Accuracy on test in percent with its 95 % interval. Hatched: not above always giving the"
        " most common answer.",
        grid_figure(
            fields,
            Axis("people", [f"{count:,}" for count in people]),
            Axis("biographies per person", [str(each) for each in biographies]),
            title="Accuracy on test (%)",
        ),
    )


def _fields(runs: Sequence[Run]) -> dict[tuple[int, int], Score]:
    """Return the score of each evaluation by the world that its questions come from."""
    found = {}
    for run in runs:
        if split := run.record.get("file_split"):
            world = Run.open(Path(run.setting("questions")).parent)
            place = world.setting("people"), world.setting("biographies")
            found[place] = run.record["scores"][split]
    return found


def _written(score: Score | None) -> str:
    if score is None:
        return "–"
    low, high = (f"{100 * bound:.0f}" for bound in score["interval"])
    guessing = score["baseline"]["value"]
    return f"{100 * score['value']:.1f} [{low}, {high}], {100 * guessing:.1f}"


def _no_details(runs: Sequence[Run]) -> Iterator[Block]:  # noqa: ARG001 - every section is alike
    return iter(())


EXTRACTION_MAP = Section(summary, _no_details, lists_settings=False)
