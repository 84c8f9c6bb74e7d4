"""Tables of an ablation: the ledger, leaks, weights, positions, crossover lengths, samples."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from attnlab.attention.conditions import CONTROL
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER as BITS
from attnlab.report.ablation.entries import Ablation, Entry, logged
from attnlab.report.document import Block, Heading, Sentences, Table
from attnlab.report.tables import short

NOTHING = "–"
PERPLEXITY_KEY = f"{SPLIT}_perplexity"
SAMPLES = 6
SAMPLE_CHARACTERS = 160


def ledger(ablation: Ablation) -> Iterator[Block]:
    """Show what every condition scores, how it compares with the control, and what it costs."""
    yield Heading("Perplexity, and bits per character on held-out text")
    columns = ["condition", "seeds", "training", "held-out", "bits per character (95 %)"]
    yield Table(columns, [_score_row(entry) for entry in ablation.entries], one_line=True)
    columns = ["condition", f"bits vs. {ablation.control.name} (95 %)", "p"]
    columns += ["parameters", "tokens/s", "MB", "leak"]
    yield Table(columns, [_cost_row(entry) for entry in ablation.entries], one_line=True)
    yield Sentences(
        [
            "training: smoothed perplexity at the end. bits vs.: below 0 is better. p: paired over"
            " seeds and windows, after Holm's correction. tokens/s: of the training, which may have"
            " shared the machine. MB: memory of a training step. leak: by how many bits per token"
            " the loss rises if the future is replaced by a random one; a model with any is not to"
            " be believed."
        ]
    )


def _score_row(entry: Entry) -> list[str]:
    low, high = entry.bits.interval
    return [
        entry.name,
        str(len(entry.runs)),
        _number(entry.training_perplexity),
        _number(entry.perplexity),
        f"{entry.bits.score:.3f} ({low:.3f} – {high:.3f})",
    ]


def _cost_row(entry: Entry) -> list[str]:
    memory = entry.mean_examined("step_bytes")
    return [
        entry.name,
        _difference(entry),
        NOTHING if entry.pair is None else f"{entry.pair.corrected_p:.2g}",
        _count(entry.mean_examined("parameters")),
        _count(entry.tokens_per_second),
        _count(None if memory is None else memory / 1e6),
        "no" if entry.leak_bits is None else f"{entry.leak_bits:.2g}",
    ]


def _difference(entry: Entry) -> str:
    if entry.pair is None:
        return NOTHING
    low, high = entry.pair.interval
    return f"{entry.pair.difference:+.3f} ({low:+.3f} to {high:+.3f})"


def mean_perplexities(entry: Entry) -> tuple[float | None, float | None]:
    """Average the perplexity of training and validation over the whole run and all seeds."""
    train = [math.exp(loss) for run in entry.runs for loss in logged(run, "loss")]
    held_out = [value for run in entry.runs for value in logged(run, PERPLEXITY_KEY)]
    return fmean(train) if train else None, fmean(held_out) if held_out else None


def leaks(ablation: Ablation) -> Iterator[Block]:
    """Show what a leaking condition owes to the future, on the text and on coin flips."""
    yield Heading("What leaks, and what is left without a future")
    columns = ["condition", "training perplexity, mean", "validation perplexity, mean"]
    means = [[entry.name, *map(_number, mean_perplexities(entry))] for entry in ablation.entries]
    yield Table(columns, means)  # over the whole run, as the assignment's own table has them
    rows = []
    for entry in ablation.entries:
        trained, left = _number(entry.on_same_windows(AS_TRAINED)), _number(entry.without_future)
        leak = "0" if entry.leak_bits is None else f"{entry.leak_bits:.3g}"
        rows.append([entry.name, leak, trained, left, *_coin_cells(ablation, entry.name)])
    columns = ["condition", "leak (bits per token)", "perplexity, same windows"]
    columns += ["perplexity without a future", "coins: bits per flip", "coins without a future"]
    yield Table(columns, rows)
    yield Sentences(
        [
            "leak: the rise of the loss if the future is replaced by a random one, which also"
            " misleads. Without a future: each token is predicted before the next one is written,"
            " which changes nothing for a causal model. A fair coin has 1 bit per flip: whatever a"
            " model saves on new flips comes from the future."
        ]
    )


def _coin_cells(ablation: Ablation, name: str) -> list[str]:
    if name not in ablation.coins:
        return [NOTHING, NOTHING]
    run, examined = ablation.coins[name]
    bits = run.record["scores"][SPLIT][BITS.name]
    how = WITHOUT_FUTURE if WITHOUT_FUTURE in examined else AS_TRAINED
    left = f"{examined[how][BITS.name]:.3f}" if how in examined else NOTHING
    return [f"{bits:.3f}", left]


def directions(entries: Sequence[Entry]) -> Iterator[Block]:
    """Show whether scores have a direction, and how much attention tokens give to themselves."""
    rows = []
    for entry in entries:
        apart = entry.mean_examined("asymmetry_of_scores")
        own = entry.mean_examined("weight_on_itself")
        rows.append(
            [
                entry.name,
                NOTHING if apart is None else f"{apart:.2f}",
                NOTHING if own is None else f"{own:.1%}",
            ]
        )
    yield Table(["condition", "asymmetry of scores", "weight on itself"], rows)
    yield Sentences(
        [
            "Asymmetry: ‖S − Sᵀ‖ / ‖S + Sᵀ‖ of the scores before the mask, averaged over heads; 0"
            " if two tokens score each other alike, 1 if the two directions are unrelated."
        ]
    )


def by_position(entries: Sequence[Entry]) -> Table:
    """Show the perplexity of every stretch of positions."""
    stretches = next(filter(None, map(Entry.by_position, entries)), [])
    rows = []
    for entry in entries:
        means = [_number(one.perplexity) for one in entry.by_position()]
        rows.append([entry.name, *(means or [NOTHING] * len(stretches))])
    return Table(["condition", *(f"{one.first} – {one.last}" for one in stretches)], rows)


def crossovers(ablation: Ablation) -> Iterator[Block]:
    """Show from which length on a layer is cheaper than the control's."""
    found = ablation.costs.get("crossover")
    if not found:
        return
    measured = ablation.costs["costs"]
    rows = []
    for name, at in found.items():
        longest = max(cost["length"] for cost in measured if cost["name"] == name)
        rows.append([name, *(_length(at[what], longest) for what in ("seconds", "peak_bytes"))])
    yield Heading("From which length it is cheaper")
    yield Table(["layer", "less time from (tokens)", "less memory from (tokens)"], rows)
    yield Sentences(
        [
            f"On long texts {CONTROL} uses torch's fused kernel where that is faster. The kernel"
            " keeps no scores, so its memory grows with the length, not with its square."
        ]
    )


def samples(entries: Sequence[Entry]) -> Iterator[Block]:
    """Show what the models write, and what is wrong with it."""
    shown = [e for e in entries if any("sample" in one for one in e.examined)][:SAMPLES]
    if not shown:
        return
    yield Heading("Samples")
    yield Table(
        ["condition", "sample", "what is wrong"],
        [
            [
                entry.name,
                _sample(entry.examined[0]["sample"]),
                entry.examined[0]["faults"]["sentence"],
            ]
            for entry in shown
        ],
    )


def _sample(text: str) -> str:
    """Write the beginning of a sample on one line; the prompt alone is left out."""
    return short(" / ".join(text.strip("\n").split("\n"))[:SAMPLE_CHARACTERS])


def _length(length: int | None, longest: int) -> str:
    return f"not up to {longest:,}" if length is None else f"{length:,}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"
