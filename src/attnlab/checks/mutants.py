"""Attention with one bug each, to see that the checks notice: who checks the checker.

A mutant is the text of a right file with one place changed, as a student would have written it.
"""

from pathlib import Path
from typing import NamedTuple

from attnlab.attention import functional
from attnlab.checks import example_class


class Mutant(NamedTuple):
    """A bug: what to replace, in the functions and in the class."""

    name: str
    functions: tuple[str, str]
    in_class: tuple[str, str]


MUTANTS = (
    Mutant(
        "missing scale",
        ("return A / math.sqrt(n_embd / n_heads)", "return A"),
        ("scores = scores / math.sqrt(D // self.n_heads)", "scores = scores"),
    ),
    Mutant(
        "softmax over the wrong axis",
        ("A.softmax(dim=-1)", "A.softmax(dim=-2)"),
        ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
    ),
    Mutant(
        "view without transpose",
        (
            "x.view(*x.shape[:2], n_heads, x.shape[-1] // n_heads).transpose(1, 2)",
            "x.reshape(x.shape[0], n_heads, x.shape[1], -1)",
        ),
        ("x.view(B, T, self.n_heads, -1).transpose(1, 2)", "x.view(B, self.n_heads, T, -1)"),
    ),
    Mutant(
        "mask after softmax",
        (
            """        scores = apply_causal_mask(make_causal_mask(n_tok).to(scores.device), scores)
    y = compute_outputs(attn_softmax(scores), V)""",
            """        mask = make_causal_mask(n_tok)
        scores = apply_naive_causal_mask(mask, attn_softmax(scores))
    else:
        scores = attn_softmax(scores)
    y = compute_outputs(scores, V)""",
        ),
        ("scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)", "pass"),
    ),
    Mutant(
        "mask transposed",
        ("dtype=torch.bool).tril()", "dtype=torch.bool).triu()"),
        ("mask.dense(T, T, x.device)", "mask.dense(T, T, x.device).transpose(-2, -1)"),
    ),
    Mutant(
        "value bias left out",
        (
            "nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd)",
            "nn.Linear(n_embd, n_embd), nn.Linear(n_embd, n_embd),"
            " nn.Linear(n_embd, n_embd, bias=False)",
        ),
        (
            "self.value = nn.Linear(d_model, d_model)",
            "self.value = nn.Linear(d_model, d_model, bias=False)",
        ),
    ),
    Mutant(
        "heads merged in the wrong order",
        ("x.transpose(1, 2).flatten(2)", "x.permute(0, 2, 3, 1).flatten(2)"),
        (".transpose(1, 2).reshape(B, T, D)", ".permute(0, 2, 3, 1).reshape(B, T, D)"),
    ),
)


def functions_with(mutant: Mutant | None) -> str:
    """Return the functions of the exercise with the bug in them, or without one."""
    return _changed(functional.__file__, mutant.functions if mutant else None)


def class_with(mutant: Mutant | None) -> str:
    """Return the class with the bug in it, or without one."""
    return _changed(example_class.__file__, mutant.in_class if mutant else None)


def _changed(file: str, change: tuple[str, str] | None) -> str:
    text = Path(file).read_text(encoding="utf-8")
    if change is None:
        return text
    old, new = change
    assert text.count(old) == 1, f"{file} holds {old!r} {text.count(old)} times"
    return text.replace(old, new)
