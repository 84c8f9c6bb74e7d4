"""Writes docs/variants.md, the ledger of attention variants, from results/.

python docs/variants.py          # write it
python docs/variants.py check    # fail if it is out of date
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULT, PAGE = ROOT / "results" / "attention_variants.json", ROOT / "docs" / "variants.md"
ENCODER, SPEED = (ROOT / "results" / f"attention_{name}.json" for name in ("encoder", "speed"))
CONTROL = "dot_product"
PURPOSES = {
    "additive": "the first attention; a comparison that is not a product",
    "aft": "no scores of pairs; `simple` for long texts",
    "cosine": "scores that cannot grow without bound",
    "custom": "trying a score of your own",
    "dot_product": "the default",
    "gaussian": "looking at what is near, as a kernel does",
    "hard": "seeing what a single choice loses; no mixture",
    "late_mask": "a mistake to look at, never to use",
    "linear": "long texts at a constant cost per token",
    "mlp_projection": "seeing what the projections need",
    "performer": "long texts, near to the softmax",
    "random_synthesizer": "seeing how far positions alone go",
    "shared_projection": "fewer parameters; seeing what each role is for",
    "sliding_window": "long texts whose dependencies are short",
    "synthesizer": "seeing how far one goes without comparing tokens",
}
"""What each variant is for."""
HEAD = """# The ledger of variants

Which attention is worth it, and at what cost? This page is made by `python docs/variants.py` from
`results/attention_variants.json`, which `{command}` measured on {date}.
[Attention](attention.md#experiments) says how.

{budget} Sorted by bits per character on held-out text, with 95 % intervals over seeds and windows.
Speed and memory are those of the whole model, relative to `{control}`; speed is that of training
with one thread and nothing else running (`{timed}`).
"""
ENCODERS = """
## Encoders

The same variants in an encoder, which looks both ways: measured by `{command}` on {date}. {budget}
"""


def page(
    result: dict[str, Any], speed: dict[str, Any], encoder: dict[str, Any] | None = None
) -> str:
    """Return the whole page."""
    conditions = result["details"]["conditions"]
    memory = {name: one["step_bytes"] for name, one in conditions.items()}
    costs = {"speed": speed["details"]["relative"], "memory": relative(memory)}
    text = head(result, HEAD, timed=speed["command"]) + table(conditions, costs)
    text += "\n" + "\n".join(notes(conditions)) + "\n"
    if encoder is None:
        return text
    return text + head(encoder, ENCODERS) + table(encoder["details"]["conditions"], {})


def relative(numbers: dict[str, float]) -> dict[str, float]:
    """Divide all numbers by the control's."""
    return {name: number / numbers[CONTROL] for name, number in numbers.items()}


def head(result: dict[str, Any], text: str, **more: str) -> str:
    """Say what a table shows and how it was measured."""
    told = {"command": result["command"], "date": result["date"], **more}
    return text.format(control=CONTROL, budget=result["details"]["budget"], **told)


def table(conditions: dict[str, dict[str, Any]], costs: dict[str, dict[str, float]]) -> str:
    """Return the conditions, the best first, with what each costs relative to the control."""
    order = sorted(conditions, key=lambda name: conditions[name]["bits_per_character"])
    titles = ["condition", "bits per character", f"to `{CONTROL}`", "", *costs, "for"]
    lines = [titles, ["---"] * len(titles), *(row(name, conditions[name], costs) for name in order)]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def row(name: str, one: dict[str, Any], costs: dict[str, dict[str, float]]) -> list[str]:
    """Return the line of one condition."""
    low, high = one["interval"]
    verdict = "sees the future" if one["leak_bits"] is not None else one["outcome"]
    if one["did_not_learn"]:
        verdict = "did not learn"
    return [
        f"`{name}`",
        f"{one['bits_per_character']:.3f} ({low:.3f} – {high:.3f})",
        "–" if name == CONTROL else f"{one['difference']:+.3f}",
        "the control" if name == CONTROL else verdict,
        *(f"{cost[name]:.2f}×" for cost in costs.values()),
        PURPOSES.get(one["attention"], "–"),
    ]


def notes(conditions: dict[str, dict[str, Any]]) -> list[str]:
    """Say what the words of the table mean, and what must not be believed."""
    lines = [
        "*better*, *worse*: p is below 0.05 over seeds and windows, after Holm's correction for all"
        " conditions; *alike*: it is not, which does not show that they are equal."
    ]
    for name, one in conditions.items():
        for again in one["without_future"][:1]:
            lines.append(
                f"`{name}` sees the future. Without one, its perplexity on the same windows is"
                f" {again['without_future']['perplexity']:.2f} instead of"
                f" {again['as_trained']['perplexity']:.2f}."
            )
    return lines


def main() -> None:
    """Write the page, or check it."""
    for path, what in ((RESULT, "ledger"), (SPEED, "speed")):
        if not path.exists():
            sys.exit(f"{path.name} is not there yet: run benchmarks/attention_variants.py {what}")
    result, speed, encoder = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        for path in (RESULT, SPEED, ENCODER)
    )
    text = page(result, speed, encoder)
    if sys.argv[1:] != ["check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/variants.md is out of date: python docs/variants.py")


if __name__ == "__main__":
    main()
