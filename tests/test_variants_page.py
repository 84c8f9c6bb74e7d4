"""The ledger of variants: sorted, relative to the control, and honest about leaks."""

import runpy
from pathlib import Path
from typing import Any

from attnlab.attention import ATTENTION

PAGE = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "variants.py"))


def condition(attention: str, bits: float, **more: Any) -> dict[str, Any]:
    return {
        "attention": attention,
        "bits_per_character": bits,
        "interval": [bits - 0.01, bits + 0.01],
        "difference": bits - 2.0,
        "outcome": "worse" if bits > 2 else "better",
        "step_bytes": 4e6,
        "leak_bits": None,
        "without_future": [],
        "did_not_learn": False,
        **more,
    }


def test_every_registered_variant_has_a_purpose() -> None:
    assert PAGE["PURPOSES"].keys() == set(ATTENTION.names())


def test_the_ledger_is_sorted_and_names_costs_and_leaks() -> None:
    without = {"as_trained": {"perplexity": 2.0}, "without_future": {"perplexity": 9.0}}
    leak = condition("late_mask", 1.0, leak_bits=3.0, without_future=[without])
    conditions = {
        "dot_product": condition("dot_product", 2.0),
        "hard": condition("hard", 4.0, did_not_learn=True),
        "aft-form-simple": condition("aft", 2.1, step_bytes=2e6),
        "late_mask": leak,
    }
    details = {"conditions": conditions, "budget": "Each run trains."}
    result = {"details": details, "command": "python x.py", "date": "2026-01-01"}
    speeds = dict.fromkeys(conditions, 1.0) | {"aft-form-simple": 1.5}
    speed = {"details": {"relative": speeds}, "command": "python x.py speed"}
    text = PAGE["page"](result, speed)
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    names = [row[0].strip("| `") for row in rows]
    assert names == ["late_mask", "dot_product", "aft-form-simple", "hard"]
    assert [row[3] for row in rows] == ["sees the future", "the control", "worse", "did not learn"]
    assert rows[2][1:6] == ["2.100 (2.090 – 2.110)", "+0.100", "worse", "1.50×", "0.50×"]
    assert "its perplexity on the same windows is 9.00 instead of 2.00" in text
    assert "## Encoders" not in text
    both = PAGE["page"](result, speed, result)
    assert both.startswith(text)
    encoders = both.partition("## Encoders")[2]
    assert encoders.count("| `") == 4
    assert "speed" not in encoders, "encoders were not timed"
