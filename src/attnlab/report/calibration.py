"""Retrieved or made up, as part of a report: how far to trust a run's confidence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attnlab.evaluation.calibration import UNSEEN
from attnlab.evaluation.intervals import percent
from attnlab.report.document import Block, Figure, Heading, Sentences, Table
from attnlab.runs.directory import Run

SIGNALS = {
    "confidence": "probability of the answer",
    "agreement": "agreement of sampled answers",
    "lead": "lead over the next likely answer",
    "reader": "what a reader of the corpus gives the answer",
    "calibrated": "all signals combined",
}
UNSEEN_SHOWN = 10


def calibration_blocks(run: Run) -> Iterator[Block]:
    """Describe what a run's confidence is worth; nothing if its record says nothing."""
    judged = run.record.get("confidence")
    if not judged or not (judged["splits"] or judged.get("seen")):
        return
    from attnlab.report.knowledge_figures import risk_coverage_figure  # the words need no figures

    yield Heading(f"Retrieved or made up? ({run.name})")
    yield areas_table(judged)
    yield Sentences(sentences(judged))
    splits = {split: run.predictions(split) for split in judged["splits"]}
    if splits:
        caption = "Share of wrong answers among those given, the most confident first."
        figure = risk_coverage_figure(splits, judged.get("kept") or {})
        yield Figure(f"risk-{run.name}", caption, figure)
    if run.has_predictions(UNSEEN):
        yield from _unseen(run, judged)


def areas_table(judged: Mapping[str, Any]) -> Table:
    """Show how well every signal separates right from wrong, and read from not read."""
    rows = [
        [SIGNALS[signal], f"right or wrong, {split}", *_area(area)]
        for split, worth in judged["splits"].items()
        for signal, area in worth["right"].items()
    ] + [
        [SIGNALS[signal], f"{split} or not in the corpus", *_area(area)]
        for split, areas in judged.get("seen", {}).items()
        for signal, area in areas.items()
    ]
    return Table(["signal", "separates", "area under the ROC curve", "95 % interval"], rows)


def sentences(judged: Mapping[str, Any]) -> list[str]:
    """Say in words what the confidence is worth, and whether the threshold's promise is kept."""
    found = []
    for split, worth in judged["splits"].items():
        found.append(
            f"Of the more confident half of the answers on {split}, {_share(worth['surest_half'])}"
            f" are right; the mean risk over all coverages is {worth['risk_coverage_area']:.3f};"
            f" confidence and accuracy differ by {percent(worth['calibration_error'], 1)}."
        )
    return found + list(_promises(judged))


def _promises(judged: Mapping[str, Any]) -> Iterator[str]:
    thresholds = judged.get("thresholds")
    if not thresholds:
        return
    invented, found = thresholds.get("invented", 0), thresholds["retrieved"]
    people, sure = f"{thresholds['chosen_on'] - invented} held-out training people", "confidence"
    if invented:
        people, sure = f"{people} and {invented} invented ones", "certainty"
    if not found:
        yield f"{people} are too few, or too often wrong, for a threshold."
        return
    for split, kept in judged.get("kept", {}).items():
        if not kept or kept["value"] is None or kept["interval"] is None:
            yield f"No answer on {split} reaches the threshold, {percent(found['value'])}."
            continue
        yield (
            f"Answers with at least {percent(found['value'])} {sure} count as retrieved, which"
            f" promises that {percent(found['promise'])} are right (chosen on {people})."
            f" On {split} these are {percent(kept['coverage'])} of the answers, {_share(kept)} of"
            " them right."
        )


def _unseen(run: Run, judged: Mapping[str, Any]) -> Iterator[Block]:
    """Show the answers about people who are not in the corpus."""
    rows = run.predictions(UNSEEN)
    verdicts = judged.get("verdicts", {}).get(UNSEEN, {})
    if verdicts:
        counted = ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.items())
        yield Sentences(
            [f"{len(rows)} people who are not in the corpus get an answer too ({counted})."]
        )
    yield Table(
        ["not in the corpus", "answer", "confidence"],
        [
            [row["input"], row["prediction"], percent(row["confidence"])]
            for row in _surest(rows)[:UNSEEN_SHOWN]
        ],
    )
    parts = judged.get("name_parts") or {}
    if parts:
        yield Table(
            ["part of the name replaced", "answers that change", "95 % interval", "people"],
            [
                [part, percent(one["changed"]), _span(one["interval"]), str(one["n"])]
                for part, one in parts.items()
            ],
        )


def _surest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -row["confidence"])


def _area(area: Mapping[str, Any] | None) -> list[str]:
    if area is None:
        return ["–", "–"]
    low, high = area["interval"]
    return [f"{area['value']:.3f}", f"{low:.3f} – {high:.3f}"]


def _share(found: Mapping[str, Any]) -> str:
    """Write a share with its interval and n."""
    low, high = found["interval"]
    return (
        f"{percent(found['value'], 1)} ({percent(low, 1)} – {percent(high, 1)}, n = {found['n']})"
    )


def _span(interval: Sequence[float]) -> str:
    low, high = interval
    return f"{percent(low)} – {percent(high)}"
