"""What an ablation says in words: what was found, and whether it is what a topic expected."""

from collections.abc import Iterator

from attnlab.attention.conditions import condition_name
from attnlab.attention.topics import Topic
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER as BITS
from attnlab.report.ablation.entries import Ablation, Entry

READING = "Reading: "
"""What stands before a sentence that interprets a result and does not follow from it alone."""
FAILS = 0.1
"""Rise of the perplexity beyond the training length from which a scheme is said to fail."""
COIN = 1.0
"""Bits per flip of a fair coin."""


def setup(topic: Topic) -> list[str]:
    """Say what is asked and expected, and what is compared with what."""
    compared = ", ".join(topic.conditions[1:])
    return [
        f"Question: {topic.question}",
        f"Background: {topic.background}",
        f"Hypothesis: {topic.hypothesis}",
        f"Compared: {compared}; the control is {topic.control}.",
    ]


def computed_on(ablation: Ablation) -> str:
    """Name the device, the precision, the threads and the processor."""
    run = ablation.control.runs[0]
    resolved = run.config["resolved"]
    hardware, threads = resolved["hardware"], resolved.get("threads", 1)
    processor = (run.record.get("cpu") or {}).get("name", "")
    return (
        f"Computed on {hardware['device']} in {hardware['precision']} with"
        f" {'1 thread' if threads == 1 else f'{threads} threads'}"
        f"{f' ({processor})' if processor else ''}."
    )


def findings(ablation: Ablation) -> Iterator[str]:
    """Say how every condition compares with the control, and which did not learn."""
    control = ablation.control
    yield (
        f"{control.name}: {control.bits.score:.3f} bits per character, perplexity"
        f" {control.perplexity:.2f}."
    )
    for entry in ablation.others:
        yield _finding(entry, control)
    if all(len(entry.runs) == 1 for entry in ablation.entries):
        yield "With one seed per condition, p says nothing about what another seed would give."
    idle = [entry.name for entry in ablation.entries if entry.did_not_learn]
    if idle:
        yield f"Did not learn, no better than token frequencies: {', '.join(idle)}."
    else:
        yield "Every condition learned more than how often each token occurs."


def _finding(entry: Entry, control: Entry) -> str:
    assert entry.pair is not None
    size = f"{abs(entry.pair.difference):.3f}"
    lost = f"perplexity {entry.perplexity:.2f} instead of {control.perplexity:.2f}"
    found = {
        "alike": f"not distinguishable from {control.name} (difference {size}, p ="
        f" {entry.pair.corrected_p:.2g})",
        "worse": f"{size} bits per character worse than {control.name}",
        "better": f"{size} bits per character better than {control.name}",
    }[entry.outcome]
    leak = "; it sees the future, so its score means nothing" if entry.leak_bits is not None else ""
    return f"{entry.name}: {found}; {lost}{leak}."


def interpretation(topic: Topic, ablation: Ablation) -> Iterator[str]:
    """Compare every expectation with what was found; reasons only where it came out so."""
    found = {entry.name: entry for entry in ablation.entries}
    as_expected = True
    for one in topic.expectations:
        entry = found.get(condition_name(one.condition))
        if entry is None:
            as_expected = False
            yield f"{one.condition}: no run is finished yet."
        elif entry.outcome == one.outcome:
            unseen = _unseen(entry)
            yield f"{entry.name}: {one.outcome}, as expected{unseen}. {READING}{one.because}"
        else:
            as_expected = False
            yield (
                f"{entry.name}: {entry.outcome}, not {one.outcome} as expected. The reason given"
                f" for the expectation does not hold here, or is not the only one: {one.because}"
            )
    yield from _coin_sentences(ablation)
    if topic.read_to:
        yield from map(reading_on, filter(Entry.by_position, ablation.entries))
    if as_expected:
        yield f"{READING}{topic.meaning}"
    else:
        yield "Not everything came out as expected, so the hypothesis as a whole is not supported."


def _unseen(entry: Entry) -> str:
    """Say of a condition that is not distinguishable how far from equal it may still be."""
    if entry.outcome != "alike" or entry.pair is None:
        return ""
    low, high = entry.pair.interval
    return (
        f", though that does not show that they are equal: the difference may lie anywhere from"
        f" {low:+.3f} to {high:+.3f} bits per character"
    )


def reading_on(entry: Entry) -> str:
    """Say what becomes of the perplexity beyond the training length."""
    block = entry.runs[0].setting("objective")["options"]["block"]
    stretches = entry.by_position()
    before, after = [one for one in stretches if one.first <= block][-1], stretches[-1]
    grown = after.perplexity / before.perplexity - 1
    verdict = "fails beyond" if grown > FAILS else "reads on"
    return (
        f"{entry.name}, trained on {block} tokens, {verdict}: perplexity {before.perplexity:.2f} at"
        f" positions {before.first} to {before.last}, {after.perplexity:.2f} at {after.first} to"
        f" {after.last} ({grown:+.0%})."
    )


def _coin_sentences(ablation: Ablation) -> Iterator[str]:
    for name, (run, _) in ablation.coins.items():
        score = run.record["scores"][SPLIT]
        saved = COIN - score[BITS.name]
        if saved > 0 and run.record["leak"]["largest_change"] != 0:
            yield f"{name} saves {saved:.3f} bits per coin flip, all of it read from the future."
        else:
            yield f"{name} needs {score[BITS.name]:.3f} bits per coin flip; 1 is the least."
