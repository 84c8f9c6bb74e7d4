"""The ledger of variants: sorted, relative to the control, and honest about leaks."""

import runpy
from pathlib import Path
from typing import Any

from attnlab.attention import ATTENTION
from attnlab.attention.positions import POSITIONS

PAGE = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "variants.py"))


def condition(attention: str, bits: float, **more: Any) -> dict[str, Any]:
    return {
        "attention": attention,
        "positions": "learned",
        "d_model": 128,
        "bits_per_character": bits,
        "difference": bits - 2.0,
        "difference_interval": [bits - 2.01, bits - 1.99],
        "outcome": "worse" if bits > 2 else "better",
        "perplexity": 5.0,
        "mean_training_perplexity": 6.0,
        "mean_validation_perplexity": 7.0,
        "same_windows": 5.5,
        "without_future": 5.5,
        "by_position": {"1_50": 5.0, "351_400": 25.0},
        "counting_pairs": 16.0,
        "step_bytes": 4e6,
        "leak_bits": None,
        "did_not_learn": False,
        "guessing": 32.0,
        **more,
    }


READ_AGAIN = {"seeds_without_future": [{"windows": 128}]}


def results() -> dict[str, dict[str, Any]]:
    conditions = {
        "dot_product": condition("dot_product", 2.0),
        "hard": condition("hard", 4.0, did_not_learn=True),
        "dot_product-alibi": condition("dot_product", 1.9, positions="alibi"),
        "aft-form-simple": condition("aft", 2.1, step_bytes=2e6, by_position={}),
        "late_mask": condition("late_mask", 1.0, leak_bits=3.0, without_future=9.0, **READ_AGAIN),
    }
    coins = {"bits": 1.01, "without_future": 1.01}
    details = {
        "conditions": conditions,
        "budget": "Each run trains.",
        "computed_on": "Computed on cpu.",
        "coins": {"dot_product": coins, "late_mask": {"bits": 0.26, "without_future": 5.0}},
    }
    result = {"details": details, "command": "python x.py", "date": "2026-01-01"}
    relative = dict.fromkeys(conditions, 1.0) | {"aft-form-simple": 1.5}
    rates = {f"times_{factor}": {"dot_product": 2.5, "hard": 4.5} for factor in ("0_5", "2_0")}
    one = {"loss": 1.7, "interval": [1.69, 1.71], "tokens": 1000, "training_seconds": 60.0}
    runs = dict.fromkeys(("published", "tokens", "seconds"), one)
    return {
        "attention_variants": result,
        "attention_encoder": result,
        "attention_late_mask_words": result,
        "attention_speed": {"details": {"relative": relative}, "command": "python x.py speed"},
        "attention_rates": {"details": {"rates": rates}, "command": "python x.py rates"},
        "attention_nanogpt": {
            "details": {"published_loss": 1.88, "runs": runs},
            "command": "python nanogpt.py",
        },
    }


def rows_of(text: str) -> list[list[str]]:
    text = text.replace("\u00a0", " ")  # intervals are not broken
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip("| ") for cell in line.split(" | ")] for line in lines]


def test_every_registered_variant_and_scheme_has_a_purpose() -> None:
    assert PAGE["PURPOSES"].keys() == set(ATTENTION.names())
    assert PAGE["OF_POSITIONS"].keys() == set(POSITIONS.names()) - {"learned"}


def test_the_ledger_is_sorted_and_names_costs() -> None:
    ledger = rows_of(PAGE["page"](results()).partition("## Not to be believed")[0])
    names = [row[0] for row in ledger]
    assert names == ["`dot_product-alibi`", "`dot_product`", "`aft-form-simple`", "`hard`"]
    assert [row[3] for row in ledger] == ["better", "the control", "worse", "did not learn"]
    assert ledger[2][1:8] == [
        *("2.100", "+0.100 (+0.090 to +0.110)", "worse", "1.50×", "0.50×", "128", "–")
    ]
    assert ledger[0][8] == "reading on beyond the training length"
    assert ledger[1][8] == "the default"


def test_what_sees_the_future_is_not_ranked_but_shown_with_what_is_left() -> None:
    text = PAGE["page"](results()).partition("## Not to be believed")[2].partition("## Encoders")[0]
    control, leaking, *_ = rows_of(text)
    assert control == ["`dot_product`, characters", "6.00", "7.00", "5.00", "5.50", "5.50", "–"]
    assert leaking == ["`late_mask`, characters", "6.00", "7.00", "5.00", "5.50", "9.00", "3.00"]
    assert "first 128 windows" in text
    assert "`late_mask` needs 0.26\nbits per flip, and 5.00 without a future" in text


def test_what_is_not_measured_has_no_section() -> None:
    found = results()
    for name, section in (
        ("encoder", "## Encoders"),
        ("rates", "## Other learning rates"),
        ("nanogpt", "## Against a known number"),
        ("speed", "| speed |"),
        ("late_mask_words", "byte pairs"),
    ):
        assert section in PAGE["page"](found)
        del found[f"attention_{name}"]
        assert section not in PAGE["page"](found)


def test_one_seed_gives_no_verdict() -> None:
    text = PAGE["page"](results()).partition("## Encoders")[2].partition("## Other learning")[0]
    assert len(rows_of(text)) == 5
    assert "worse" not in text
    assert "`late_mask` has no future to hide here" in text
    assert "-1.000 bits, comes from rounding alone" in text
