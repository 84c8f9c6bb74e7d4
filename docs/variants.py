"""Writes docs/variants.md, the ledger of attention variants, from results/.

python docs/variants.py          # write it
python docs/variants.py check    # fail if it is out of date
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "variants.md"
LEDGER = "attention_variants"
MORE = tuple(f"attention_{name}" for name in "speed late_mask_words encoder rates nanogpt".split())
"""Results that are shown if they are there."""
CONTROL = "dot_product"
NBSP = "\u00a0"
"""A space at which no line is broken, so that an interval stays in one piece."""
BEYOND = "351_400"
"""Positions far beyond the 100 of training."""
PURPOSES = {
    "additive": "the first attention; a comparison that is not a product",
    "aft": "no scores of pairs; `simple` for long texts",
    "cosine": "scores that cannot grow without bound",
    "custom": "trying a score of your own; the cost is the example's",
    "dot_product": "the default",
    "gaussian": "looking at what is near, as a kernel does",
    "hard": "seeing what a single choice costs, without a mixture",
    "late_mask": "a mistake to look at, never to use",
    "linear": "long texts at a constant cost per token",
    "mlp_projection": "seeing what the projections need",
    "performer": "long texts, close to the softmax",
    "random_synthesizer": "seeing how far positions alone go",
    "shared_projection": "fewer parameters; seeing what each role is for",
    "sliding_window": "long texts whose dependencies are short",
    "synthesizer": "seeing how far one goes without comparing tokens",
}
"""What each variant is for."""
OF_POSITIONS = {
    "alibi": "reading on beyond the training length",
    "none": "seeing what positions are worth",
    "rotary": "a better default: scores depend on distances",
    "sinusoidal": "positions without parameters",
}
"""What each position scheme is for, other than the control's."""
Conditions = Mapping[str, Mapping[str, Any]]
Column = Callable[[str, Mapping[str, Any]], str]

HEAD = """---
hide:
  - toc
---

# The ledger of variants

Which attention is worth it, and at what cost? Each condition is a small GPT that differs from the
control, `{control}` with learned positions, in its attention or positions alone. The page is made
by `python docs/variants.py` from what `{command}` measured on {date}.
[Attention](attention.md#experiments) says how.

{budget} {computed_on} All use the same learning rate. So this is one text, one small size and about
one pass over the text: a ledger, not a law.
"""
READING = """
- *bits*: per character, on held-out text. Counting which character follows which, without any
  attention, needs {pair_bits:.2f} (perplexity {pairs:.1f}).
- *vs. the control*: the difference, with its 95 % interval over seeds and windows; below 0 is
  better. The intervals are not corrected for their number, and the best of so many is flattered.
- *verdict*: *better* or *worse* if p is below 0.05 after Holm's correction for all conditions,
  *alike* if the whole interval lies within 0.02, *undecided* otherwise. The report of a topic
  corrects for fewer conditions, so it may decide what is undecided here.
{speed}- *memory*: of a training step, relative to the control, at the *width* that makes
  parameters equal.
- *far*: perplexity at positions 351 to 400, of models that were trained on 100; – where the layer
  cannot read on.
"""
SPEED = """- *speed*: training steps per second, relative to the control, with one thread and
  nothing else running (`{command}`).
"""
LEAKING = """
## Not to be believed

`late_mask` masks after the softmax, so that it sees the future. Its score is not that of a language
model. The table has perplexities: averaged over the training; at the end of it, on all held-out
text and on its first {windows} windows; and on these without a future, each token predicted before
the next one is written.

"""
AFTER_LEAKING = """
On fair coin flips, whatever is below 1 bit was read from the future: `late_mask` needs {late:.2f}
bits per flip, and {late_alone:.2f} without a future; the control needs {control:.2f}.
The curves: [on characters](topics/late-mask.md){on_byte_pairs}.
"""
ON_BYTE_PAIRS = ", [on byte pairs](topics/late-mask-on-byte-pairs.md)"
ENCODERS = """
## Encoders

The same variants in an encoder, which looks both ways, measured by `{command}` on {date}. {budget}
One seed each, so the intervals are over windows only, and there is no verdict: another seed may
change the order. `late_mask` has no future to hide here and computes what `{control}` does; their
difference, {noise:+.3f} bits, comes from rounding alone, and smaller ones mean nothing.

All of them first learn how often each character occurs ({guessing:.2f} bits) and only later to use
the characters around the mask. Those at the bottom had hardly begun when the budget ended, so the
table shows who begins soon, not where each would end.
"""
RATES = """
## Other learning rates

Half and twice the rate for some of them, one seed each (`{command}`); in bits per character. A rate
that suits one condition better than another shows as a difference from the control that changes
along a row.

"""
NANOGPT = """
## Against a known number

nanoGPT's README gives a validation loss of {published:.2f} nats per character for this text on a
CPU (4 layers, 4 heads, width 128, block 64, 2,000 steps of 12 rows). On the machine of this page,
one seed (`{command}`):

| | loss | 95 % over windows | tokens | seconds |
|---|---|---|---|---|
"""


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the whole page."""
    ledger, speed = results[LEDGER], results.get("attention_speed")
    conditions: Conditions = ledger["details"]["conditions"]
    honest = {name: one for name, one in conditions.items() if one["leak_bits"] is None}
    details = ledger["details"]
    parts = [
        HEAD.format(control=CONTROL, command=ledger["command"], date=ledger["date"], **details),
        table(honest, columns_of_the_ledger(conditions, speed)),
        reading(conditions[CONTROL], speed),
        "\n" + TOPICS,
        *of_leaking(ledger, results.get("attention_late_mask_words")),
    ]
    if "attention_encoder" in results:
        parts.append(of_encoders(results["attention_encoder"]))
    if "attention_rates" in results:
        parts.append(of_rates(results["attention_rates"], conditions))
    if "attention_nanogpt" in results:
        parts.append(of_nanogpt(results["attention_nanogpt"]))
    return "".join(parts)


TOPICS = (
    "The mini-reports, with curves, samples and interpretation: [aft](topics/aft.md),"
    " [fast](topics/fast.md), [positions](topics/positions.md),"
    " [projections](topics/projections.md), [sharing](topics/sharing.md),"
    " [similarity](topics/similarity.md).\n"
)


def reading(control: Mapping[str, Any], speed: Mapping[str, Any] | None) -> str:
    """Say what the columns mean."""
    pairs = control["counting_pairs"]
    timed = SPEED.format(command=speed["command"]) if speed else ""
    return READING.format(speed=timed, pairs=pairs, pair_bits=log2(pairs))


def columns_of_the_ledger(
    conditions: Conditions, speed: Mapping[str, Any] | None
) -> dict[str, Column]:
    """Return what the first table shows of a condition."""
    memory = conditions[CONTROL]["step_bytes"]
    rates = speed["details"]["relative"] if speed else {}
    columns: dict[str, Column] = {
        "condition": lambda name, _: f"`{name}`",
        "bits": lambda _, one: f"{one['bits_per_character']:.3f}",
        "vs. the control (95 %)": difference,
        "verdict": lambda name, one: "the control" if name == CONTROL else verdict(one),
        "speed": lambda name, _: f"{rates[name]:.2f}×",
        "memory": lambda _, one: f"{one['step_bytes'] / memory:.2f}×",
        "width": lambda _, one: str(one["d_model"]),
        "far": lambda _, one: number(one["by_position"].get(BEYOND), ".1f"),
        "for": lambda _, one: purpose(one),
    }
    if not rates:
        del columns["speed"]
    return columns


def table(conditions: Conditions, columns: Mapping[str, Column]) -> str:
    """Return the conditions, the best first."""
    order = sorted(conditions, key=lambda name: conditions[name]["bits_per_character"])
    rows = [[column(name, conditions[name]) for column in columns.values()] for name in order]
    return "\n" + "".join(lines([list(columns), ["---"] * len(columns), *rows]))


def lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write rows as Markdown."""
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


def difference(name: str, one: Mapping[str, Any]) -> str:
    """Return the difference from the control, with its interval."""
    low, high = one["difference_interval"]
    return (
        "–"
        if name == CONTROL
        else f"{one['difference']:+.3f} ({low:+.3f}{NBSP}to{NBSP}{high:+.3f})"
    )


def verdict(one: Mapping[str, Any]) -> str:
    """Say how a condition compares with the control."""
    return "did not learn" if one["did_not_learn"] else str(one["outcome"])


def purpose(one: Mapping[str, Any]) -> str:
    """Say what a variant, or another position scheme than the control's, is for."""
    if one["positions"] in OF_POSITIONS and one["attention"] == CONTROL:
        return OF_POSITIONS[one["positions"]]
    return PURPOSES.get(one["attention"], "–")


def number(value: float | None, form: str) -> str:
    """Write a number, or a dash where there is none."""
    return "–" if value is None else format(value, form)


def of_leaking(ledger: Mapping[str, Any], words: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what a score is worth that was read from the future."""
    first, *_ = ledger["details"]["conditions"]["late_mask"]["seeds_without_future"]
    yield LEAKING.format(windows=first["windows"])
    titles = ["", "mean, training", "mean, validation", "at the end"]
    titles += ["first windows", "without a future", "leak (bits per token)"]
    rows = [titles, ["---"] * len(titles)]
    for kind, result in (("characters", ledger), ("byte pairs", words)):
        found: Conditions = result["details"]["conditions"] if result else {CONTROL: {}}
        if "same_windows" not in found[CONTROL]:
            continue
        for name in (CONTROL, *(name for name in found if found[name]["leak_bits"] is not None)):
            one = found[name]
            numbers = ("mean_training_perplexity", "mean_validation_perplexity", "perplexity")
            numbers += ("same_windows", "without_future", "leak_bits")
            rows.append([f"`{name}`, {kind}", *(number(one[key], ".2f") for key in numbers)])
    yield "".join(lines(rows))
    coins = ledger["details"]["coins"]
    late = coins["late_mask"]
    yield AFTER_LEAKING.format(
        late=late["bits"],
        late_alone=late["without_future"],
        control=coins[CONTROL]["bits"],
        on_byte_pairs=ON_BYTE_PAIRS if "byte pairs" in rows[-1][0] else "",
    )


def of_encoders(encoder: Mapping[str, Any]) -> str:
    """Return the second table: encoders, one seed each."""
    conditions: Conditions = encoder["details"]["conditions"]
    told = {"command": encoder["command"], "date": encoder["date"], "control": CONTROL}
    noise = conditions["late_mask"]["difference"]
    guessing = log2(conditions[CONTROL]["guessing"])
    budget = encoder["details"]["budget"]
    head = ENCODERS.format(budget=budget, noise=noise, guessing=guessing, **told)
    columns: dict[str, Column] = {
        "condition": lambda name, _: f"`{name}`",
        "bits per masked character": lambda _, one: f"{one['bits_per_character']:.3f}",
        "vs. the control (95 % over windows)": difference,
        "width": lambda _, one: str(one["d_model"]),
    }
    return head + table(conditions, columns)


def of_rates(rates: Mapping[str, Any], conditions: Conditions) -> str:
    """Return what some conditions score at other rates."""
    half, twice = (rates["details"]["rates"][f"times_{factor}"] for factor in ("0_5", "2_0"))
    rows = [["condition", "half", "as above, mean of the seeds", "twice"], ["---"] * 4]
    for name in half:
        bits = (half[name], conditions[name]["bits_per_character"], twice[name])
        rows.append([f"`{name}`", *(f"{one:.3f}" for one in bits)])
    return RATES.format(command=rates["command"]) + "".join(lines(rows))


def of_nanogpt(result: Mapping[str, Any]) -> str:
    """Return what we reach with nanoGPT's setting, and with ours."""
    names = {
        "published": "its hyperparameters, our code",
        "tokens": "ours, as many tokens",
        "seconds": "ours, as many seconds",
    }
    details = result["details"]
    rows = []
    for name, label in names.items():
        one = details["runs"][name]
        low, high = one["interval"]
        between = f"{low:.3f} – {high:.3f}"
        told = [label, f"{one['loss']:.3f}", between, f"{one['tokens']:,}"]
        rows.append([*told, f"{one['training_seconds']:.0f}"])
    head = NANOGPT.format(published=details["published_loss"], command=result["command"])
    return head + "".join(lines(rows))


def main() -> None:
    """Write the page, or check it."""
    paths = {name: ROOT / "results" / f"{name}.json" for name in (LEDGER, *MORE)}
    there = {name: path for name, path in paths.items() if path.exists()}
    if LEDGER not in there:
        sys.exit(f"{LEDGER}.json is not there yet: run benchmarks/attention_variants.py ledger")
    text = page(
        {name: json.loads(path.read_text(encoding="utf-8")) for name, path in there.items()}
    )
    if sys.argv[1:] != ["check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/variants.md is out of date: python docs/variants.py")


if __name__ == "__main__":
    main()
