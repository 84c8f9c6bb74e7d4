"""Two runs next to each other: what was set, decided and installed differently, and the scores."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from attnlab.evaluation.differing import written_value
from attnlab.evaluation.metrics import metric_called
from attnlab.report.document import Block, Heading, Sentences, Table
from attnlab.runs.directory import Run
from attnlab.runs.folders import differences


def diff_json(first: Run, second: Run) -> dict[str, Any]:
    """Return what differs as plain values: by part, each key with both values; and the scores."""
    return {
        **{
            part: {key: [one, two] for key, one, two in differences(of_first, of_second)}
            for part, (of_first, of_second) in _parts(first, second).items()
        },
        "scores": [_scores(first), _scores(second)],
    }


def diff_blocks(first: Run, second: Run) -> Iterator[Block]:
    """Show settings, then resolved values, then versions that differ; the scores side by side."""
    yield Heading(f"{first.name} vs {second.name}")
    columns = ["", first.name, second.name]
    for part, (of_first, of_second) in _parts(first, second).items():
        rows = [[key, *_told_apart(one, two)] for key, one, two in differences(of_first, of_second)]
        yield Heading(part)
        yield _table(columns, rows) if rows else Sentences(["nothing differs"])
    yield Heading("scores")
    scores = _scores(first), _scores(second)
    splits = dict.fromkeys([*scores[0], *scores[1]])
    rows = [[split, *(_written(of_run.get(split)) for of_run in scores)] for split in splits]
    yield _table(columns, rows) if rows else Sentences(["neither has a score yet"])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return Table(columns, rows, one_line=True, texts=(1, 2))


def _told_apart(one: Any, two: Any) -> tuple[str, str]:
    """Write two values; two paths without the folders that they share, to show what differs."""
    if not (isinstance(one, str) and isinstance(two, str)):
        return written_value(one), written_value(two)
    both = one.split("/"), two.split("/")
    shared = len(
        list(takewhile(lambda folders: folders[0] == folders[1], zip(*both, strict=False)))
    )
    if shared < 2:  # a single folder tells more than the mark of what was left out
        return one, two
    first, second = ("/".join(["…", *folders[shared:]]) for folders in both)
    return first, second


def _parts(first: Run, second: Run) -> dict[str, tuple[Any, Any]]:
    one, two = first.config, second.config
    versions = [run.record.get("versions", {}) if run.finished else {} for run in (first, second)]
    return {
        "settings": (
            {"job": one["job"], **one["settings"]},
            {"job": two["job"], **two["settings"]},
        ),
        "resolved": (one["resolved"], two["resolved"]),
        "versions": (versions[0], versions[1]),
    }


def _scores(run: Run) -> dict[str, Any]:
    return dict(run.record["scores"]) if run.finished else {}


def _written(score: Any) -> str:
    if not score:
        return "–"
    metric = metric_called(score["metric"])
    low, high = (metric.write(bound).removesuffix(" %") for bound in score["interval"])
    return f"{metric.write(score['value'])} [{low}, {high}], n = {score['n']:,}"
