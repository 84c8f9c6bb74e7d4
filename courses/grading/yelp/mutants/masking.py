"""Usual mistakes in get_mlm_inputs."""

from grading.yelp.mutants import INPUTS, Mutant

CHOSEN = "(torch.rand(inputs.shape) < mlm_probability) & ~is_special"
KNOWN = (
    Mutant(
        "targets are the masked inputs",
        {"original.masked_fill(~is_chosen": "inputs.masked_fill(~is_chosen"},
        ("targets",),
        "the labels are the masked inputs",
        INPUTS,
    ),
    Mutant(
        "special tokens masked",
        {CHOSEN: "torch.rand(inputs.shape) < mlm_probability"},
        ("special tokens",),
        "[CLS] is to be predicted in 1",
        INPUTS,
    ),
    Mutant(
        "padding masked",
        {"sorted(tokenizer.special_ids)": "[tokenizer.cls, tokenizer.sep]"},
        ("special tokens",),
        "padding is to be predicted",
        INPUTS,
    ),
    Mutant(
        "always [MASK]",
        {"(fate < 0.8)": "(fate < 2)", "(fate > 0.9)": "(fate > 2)"},
        ("80/10/10",),
        "100.0% [MASK], 0.0% random, 0.0% unchanged",
        INPUTS,
    ),
    Mutant(
        "none unchanged", {"(fate > 0.9)": "(fate > 0.8)"}, ("80/10/10",), "% random, 0", INPUTS
    ),
    Mutant("a fixed share", {"< mlm_probability": "< 0.15"}, ("15 %",), "15.", INPUTS),
    Mutant(
        "labels everywhere",
        {"original.masked_fill(~is_chosen, -100)": "original"},
        ("special tokens", "fresh draws", "15 %", "80/10/10"),
        "[CLS] is to be predicted in 100% of cases",
        INPUTS,
    ),
    Mutant(
        "no labels",
        {"original.masked_fill(~is_chosen, -100)": "torch.full_like(original, -100)"},
        ("targets", "other tokens", "fresh draws", "15 %", "80/10/10"),
        "there are no labels: all are -100",
        INPUTS,
    ),
    Mutant(
        "other tokens changed",
        {"is_chosen & (fate < 0.8)": "~is_special & (fate < 0.1)"},
        ("other tokens", "80/10/10"),
        "of them are changed",
        INPUTS,
    ),
    Mutant(
        "the same tokens in every call",
        {"is_chosen = (": "torch.manual_seed(0)\n    is_chosen = ("},
        ("fresh draws", "80/10/10"),
        "every call masks the same tokens",
        INPUTS,
    ),
    Mutant(
        "not padded",
        {"return inputs, labels": "return list(rows), labels"},
        ("runs",),
        "the inputs are a list: they must have shape (40, 30)",
        INPUTS,
    ),
)
