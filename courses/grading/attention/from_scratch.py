"""2.1: are the functions of A2S2 right, each by itself, and all of them together?

The checker is that of ``attnlab attention check``, which names what a usual mistake does.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attnlab.checks import findings as checks
from attnlab.errors import UserError
from attnlab.recipes.attention.check_process import check_file_apart
from grading.findings import Finding, Part, judge, not_judged
from grading.probing import NOT_WRITTEN
from grading.sandbox import Limits

STEPS = {
    "2.1 step 1": {
        "pairwise_similarities": "Q Kᵀ",
        "attn_scaled": "A / √(n_embd / n_heads)",
        "attn_softmax": "weights that sum to 1 for every query",
        "compute_outputs": "A V",
    },
    "2.1 step 2": {
        "make_causal_mask": "1 where a token may look: at itself and before, else 0",
        "apply_causal_mask": "−∞ where the mask is 0, before the softmax",
    },
    "2.1 step 3": {
        "split_heads": "(B, n_heads, n_tok, n_embd / n_heads), a piece of each token per head",
        "merge_heads": "what split_heads did, undone",
    },
    "2.1 all steps": {
        "self_attention": "the same as multi_head_attention_forward without its last projection",
    },
}
"""What a student writes, and what is asked for."""
TITLES = ("the core", "causal mask", "several heads", "together")
POINTS = {"2.1 step 1": 8.0, "2.1 step 2": 4.0, "2.1 step 3": 4.0, "2.1 all steps": 4.0}
"""Of the document's 20 points, every one-line function gets 2 and self_attention gets 4."""
Found = Mapping[str, checks.Finding]


def check(file: Path, limits: Limits) -> Found | str:
    """Check every function; one that ends the process, or never ends, does not hide the others."""
    left = [name for functions in STEPS.values() for name in functions]
    found: dict[str, checks.Finding] = {}
    while left:
        try:
            report = check_file_apart(
                file,
                only=left,
                seconds=limits.seconds,
                gigabytes=limits.gigabytes,
                shows_prints=False,
            )
        except UserError as error:
            return str(error).replace(str(file), file.name).removesuffix(".")
        found |= {finding.what: finding for finding in report["functions"] if finding.what in left}
        left = [name for name in left if name not in found]
    return found


def grade(found: Found | str, notes: Sequence[str] = ()) -> list[Part]:
    """Make points of what was found; each function earns its share."""
    parts = []
    for title, (step, functions) in zip(TITLES, STEPS.items(), strict=True):
        findings = [_finding(name, wanted, found) for name, wanted in functions.items()]
        if isinstance(found, str):
            findings[0] = judge(findings[0].check, findings[0].wanted, found, "")
        parts.append(
            Part(step, title, findings, POINTS[step], shared=len(functions) > 1, notes=notes)
        )
        notes = ()
    return parts


def _finding(name: str, wanted: str, found: Found | str) -> Finding:
    if isinstance(found, str):
        return not_judged(name, wanted, found)
    one = found[name]
    if one.right or one.status == "wrong elsewhere":  # a mistake costs points once
        return judge(name, wanted, None, one.problem or "equal to ours")
    unwritten = NOT_WRITTEN if one.status == "not written yet" else ""
    return judge(name, wanted, f"{unwritten}{one.problem}", "")
