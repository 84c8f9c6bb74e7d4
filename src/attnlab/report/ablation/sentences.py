"""What an ablation says in words: what was found, and whether it is what a topic expected."""

from collections.abc import Iterator, Sequence
from math import log2

from attnlab.attention.conditions import CONTROL, condition_name
from attnlab.attention.topics import Beyond, Evidence, Expectation, Topic
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER as BITS
from attnlab.report.ablation.entries import MARGIN, Ablation, Entry, Stretch

READING = "Reading: "
"""What stands before a sentence that interprets a result and does not follow from it alone."""
FAILS = 0.1
"""Rise of the perplexity beyond the training length from which a scheme is said to fail."""
SYMMETRIC = 0.01
"""Asymmetry below which scores count as the same in both directions; rounding is not 0."""
SHOWN_BY: dict[Evidence, str] = {
    "symmetric_scores": "the symmetry of the scores",
    "weight_on_itself": "the weight that tokens give to themselves",
    "without_future": "the reading without a future and the coin flips",
}
COIN = 1.0
"""Bits per flip of a fair coin."""


def setup(topic: Topic) -> list[str]:
    """Say what is asked and expected, and what is compared with what."""
    compared = ", ".join(topic.conditions[1:])
    note = [f"Note: {topic.note}"] if topic.note else []
    return [
        f"Question: {topic.question}",
        f"Background: {topic.background}",
        f"Hypothesis: {topic.hypothesis}",
        *note,
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
    if any(len(entry.runs) > 1 for entry in ablation.entries):
        yield (
            "Windows are paired, seeds are not. Holm's correction is for the conditions of this"
            " report; the intervals are not corrected."
        )
    idle = [entry.name for entry in ablation.entries if entry.did_not_learn]
    if idle:
        yield f"Did not learn, no better than token frequencies: {', '.join(idle)}."
    yield from _pair_sentences(ablation)


def _pair_sentences(ablation: Ablation) -> Iterator[str]:
    """Say who is no better than counting which token follows which, for which nobody must look."""
    pairs = ablation.control.mean_examined("counting_pairs")
    if pairs is None:
        return
    counted = f"counting which token follows which (perplexity {pairs:.2f})"
    honest = [entry for entry in ablation.entries if entry.leak_bits is None]
    no_better = [entry.name for entry in honest if entry.counts_pairs]
    if no_better:
        yield f"No better than {counted}, which needs no attention: {', '.join(no_better)}."
    else:
        blind = "" if len(honest) == len(ablation.entries) else " that does not see the future"
        yield f"Every condition{blind} is better than {counted}, which needs no attention."


def _finding(entry: Entry, control: Entry) -> str:
    assert entry.pair is not None
    size = f"{abs(entry.pair.difference):.3f}"
    lost = f"perplexity {entry.perplexity:.2f} instead of {control.perplexity:.2f}"
    low, high = entry.pair.interval
    found = {
        "alike": f"like {control.name}, within {MARGIN} bits per character ({low:+.3f} to"
        f" {high:+.3f})",
        "undecided": f"not distinguishable from {control.name} (p = {entry.pair.corrected_p:.2g}),"
        f" but the difference may lie anywhere from {low:+.3f} to {high:+.3f}",
        "worse": f"{size} bits per character worse than {control.name}",
        "better": f"{size} bits per character better than {control.name}",
    }[entry.outcome]
    leak = "; it sees the future, so its score means nothing" if entry.leak_bits is not None else ""
    return f"{entry.name}: {found}; {lost}{leak}."


def interpretation(topic: Topic, ablation: Ablation) -> Iterator[str]:
    """Compare every expectation with what was found; reasons only where it came out so."""
    yield from _tradeoffs(ablation)
    found = {entry.name: entry for entry in ablation.entries}
    as_expected = True
    for one in topic.expectations:
        entry = found.get(condition_name(one.condition))
        if entry is None:
            as_expected = False
            yield f"{one.condition}: no run is finished yet."
            continue
        missing = [name for name in one.shown_by if not _is_shown(name, entry, ablation)]
        if entry.outcome == one.outcome and not missing:
            yield f"{entry.name}: {one.outcome}, as expected. {READING}{one.because}"
        else:
            as_expected = False
            yield _unexpected(entry, one, missing)
    for fewer, more in topic.order:
        pair = [found.get(condition_name(condition)) for condition in (fewer, more)]
        if pair[0] is not None and pair[1] is not None:
            as_expected &= pair[0].bits.score < pair[1].bits.score
            yield _ranked(pair[0], pair[1])
    yield from _future_sentences(ablation)
    yield from _coin_sentences(ablation)
    yield from _crossover_sentences(ablation)
    for condition, expected in topic.beyond.items():
        entry = found.get(condition_name(condition))
        as_expected &= entry is not None and beyond(entry) == expected
    if topic.read_to:
        yield from map(reading_on, filter(Entry.by_position, ablation.entries))
    if as_expected:
        yield f"{READING}{topic.meaning}"
    else:
        yield "Not everything came out as expected, so the hypothesis as a whole is not supported."


def _tradeoffs(ablation: Ablation) -> Iterator[str]:
    """Say which condition is best, and what each costs in memory for what it gains or loses."""
    honest = [entry for entry in ablation.entries if entry.leak_bits is None]
    best = min(honest, key=lambda entry: entry.bits.score)
    same = best.pair is None or best.outcome == "better"
    doubt = "" if same else f", though not shown to be better than {ablation.control.name}"
    yield f"Fewest bits per character without seeing the future: {best.name}{doubt}."
    memory = ablation.control.mean_examined("step_bytes")
    for entry in honest:
        own = entry.mean_examined("step_bytes")
        if entry.pair is not None and own and memory:
            yield (
                f"{entry.name}: {entry.pair.difference:+.3f} bits per character for"
                f" {own / memory:.2f} times the memory of a training step."
            )


def _unexpected(entry: Entry, expected: Expectation, missing: Sequence[Evidence]) -> str:
    if entry.outcome == expected.outcome:
        return (
            f"{entry.name}: {entry.outcome}, as expected, but the reason given for it is not borne"
            f" out by {_listed(missing)}. It was: {expected.because}"
        )
    if entry.outcome == "undecided":
        return (
            f"{entry.name}: undecided; {expected.outcome} was expected. The reason given was:"
            f" {expected.because}"
        )
    return (
        f"{entry.name}: {entry.outcome}; {expected.outcome} was expected. The reason given does not"
        f" hold here, or something else outweighs it: {expected.because}"
    )


def _ranked(fewer: Entry, more: Entry) -> str:
    """Say whether two conditions are in the order that was expected; there is no test of it."""
    bits = f"{fewer.bits.score:.3f} and {more.bits.score:.3f} bits per character; not tested"
    if fewer.bits.score < more.bits.score:
        return f"{fewer.name} needs fewer bits than {more.name}, as expected ({bits})."
    return f"{fewer.name} was expected to need fewer bits than {more.name}, but does not ({bits})."


def _listed(names: Sequence[Evidence]) -> str:
    return " and ".join(SHOWN_BY[name] for name in names)


def _is_shown(evidence: Evidence, entry: Entry, ablation: Ablation) -> bool:
    """Look for what a reason points to in what was measured."""
    if evidence == "symmetric_scores":
        own = entry.mean_examined("asymmetry_of_scores")
        return own is not None and own < SYMMETRIC
    if evidence == "weight_on_itself":
        own, control = (
            one.mean_examined("weight_on_itself") or 0.0 for one in (entry, ablation.control)
        )
        return own > control
    trained, left = entry.on_same_windows(AS_TRAINED), entry.on_same_windows(WITHOUT_FUTURE)
    return bool(trained and left and left > trained) and _saved_on_coins(ablation, entry.name) > 0


def _future_sentences(ablation: Ablation) -> Iterator[str]:
    """Say what is left of a perplexity that was read from the future, next to the control's."""
    for entry in ablation.others:
        trained, left = entry.on_same_windows(AS_TRAINED), entry.on_same_windows(WITHOUT_FUTURE)
        control = ablation.control.on_same_windows(AS_TRAINED)
        if trained and left and control:
            yield (
                f"{entry.name}, on the same windows: perplexity {trained:.2f} with the future,"
                f" {left:.2f} without it; {ablation.control.name} has {control:.2f}."
            )


def reading_on(entry: Entry) -> str:
    """Say what becomes of the perplexity beyond the training length."""
    block, before, after = _ends(entry)
    grown = after.perplexity / before.perplexity - 1
    return (
        f"{entry.name}, trained on {block} tokens, {beyond(entry)}: perplexity"
        f" {before.perplexity:.2f} at positions {before.first} to {before.last},"
        f" {after.perplexity:.2f} at {after.first} to {after.last} ({grown:+.0%})."
    )


def beyond(entry: Entry) -> Beyond | None:
    """Say whether a condition reads on beyond its training length; None if that is not known."""
    if not entry.by_position():
        return None
    _, before, after = _ends(entry)
    return "fails beyond" if after.perplexity / before.perplexity - 1 > FAILS else "reads on"


def _ends(entry: Entry) -> tuple[int, Stretch, Stretch]:
    """Return the training length, the last stretch within it or else the first, and the last."""
    block = int(entry.runs[0].setting("objective")["options"]["block"])
    stretches = entry.by_position()
    within = [one for one in stretches if one.last <= block] or stretches[:1]
    return block, within[-1], stretches[-1]


def _coin_sentences(ablation: Ablation) -> Iterator[str]:
    for name, (run, _) in ablation.coins.items():
        needed = run.record["scores"][SPLIT][BITS.name]
        saved = _saved_on_coins(ablation, name)
        if saved > 0:
            yield f"{name} saves {saved:.3f} bits per coin flip, all of it read from the future."
        else:
            yield f"{name} needs {needed:.3f} bits per coin flip; 1 is the least."


def _crossover_sentences(ablation: Ablation) -> Iterator[str]:
    """Say from which length on a layer is cheaper than the control's."""
    for name, at in ablation.costs.get("crossover", {}).items():
        longest = max(one["length"] for one in ablation.costs["costs"] if one["name"] == name)
        cheaper = [
            f"no less {what} up to {longest:,} tokens"
            if at[key] is None
            else f"less {what} from {at[key]:,} tokens on"
            for what, key in (("time", "seconds"), ("memory", "peak_bytes"))
        ]
        yield f"Compared with {CONTROL}, a layer of {name} takes {', and '.join(cheaper)}."


def _saved_on_coins(ablation: Ablation, name: str) -> float:
    """Return the bits per flip below 1 that a leaking model saves; 0 if its interval reaches 1."""
    if name not in ablation.coins:
        return 0.0
    run, _ = ablation.coins[name]
    score = run.record["scores"][SPLIT]
    is_leak = run.record["leak"]["largest_change"] != 0
    # the interval is of the perplexity per token, and a byte pair holds many flips
    at_most = log2(score["interval"][1]) * score["tokens"] / score["characters"]
    return COIN - score[BITS.name] if is_leak and at_most < COIN else 0.0
