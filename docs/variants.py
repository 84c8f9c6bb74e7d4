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
ENCODER = ROOT / "results" / "attention_encoder.json"
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
Speed and memory are those of the whole model, relative to `{control}`.
"""
ENCODERS = """
## Encoders

The same variants in an encoder, which looks both ways: measured by `{command}` on {date}. {budget}
"""
COLUMNS = """
| condition | bits per character | to `{control}` | | speed | memory | for |
|---|---|---|---|---|---|---|
"""


def page(result: dict[str, Any], encoder: dict[str, Any] | None = None) -> str:
    """Return the whole page."""
    text = table(result, HEAD) + "\n" + "\n".join(notes(result["details"]["conditions"])) + "\n"
    return text if encoder is None else text + table(encoder, ENCODERS)


def table(result: dict[str, Any], head: str) -> str:
    """Return the conditions of a result, the best first."""
    details = result["details"]
    conditions: dict[str, dict[str, Any]] = details["conditions"]
    told = {"command": result["command"], "date": result["date"], "budget": details["budget"]}
    order = sorted(conditions, key=lambda name: conditions[name]["bits_per_character"])
    lines = [row(name, conditions[name], conditions[CONTROL]) for name in order]
    return (head + COLUMNS).format(control=CONTROL, **told) + "\n".join(lines) + "\n"


def row(name: str, one: dict[str, Any], control: dict[str, Any]) -> str:
    """Return the line of one condition."""
    low, high = one["interval"]
    verdict = "sees the future" if one["leak_bits"] is not None else one["outcome"]
    if one["did_not_learn"]:
        verdict = "did not learn"
    cells = [
        f"`{name}`",
        f"{one['bits_per_character']:.3f} ({low:.3f} – {high:.3f})",
        "–" if name == CONTROL else f"{one['difference']:+.3f}",
        "the control" if name == CONTROL else verdict,
        f"{one['tokens_per_second'] / control['tokens_per_second']:.2f}×",
        f"{one['step_bytes'] / control['step_bytes']:.2f}×",
        PURPOSES.get(one["attention"], "–"),
    ]
    return f"| {' | '.join(cells)} |"


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
    if not RESULT.exists():
        sys.exit(f"{RESULT.name} is not there yet: run benchmarks/attention_variants.py ledger")
    encoder = json.loads(ENCODER.read_text(encoding="utf-8")) if ENCODER.exists() else None
    text = page(json.loads(RESULT.read_text(encoding="utf-8")), encoder)
    if sys.argv[1:] != ["check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/variants.md is out of date: python docs/variants.py")


if __name__ == "__main__":
    main()
