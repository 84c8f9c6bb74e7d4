"""2(g): does SynthesizerAttention do what equation 5 says, causally?

It gets our weights, and its output is compared with ours, and with itself after one thing was
changed. One B for all heads or one per head, rows of scores as long as the block or one shorter: all
of these are accepted.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from attnlab.attention.contract import AttentionMask
from attnlab.attention.variants.synthesizer import Synthesizer
from grading.findings import Finding, judge, not_judged
from grading.knowledge import probe
from grading.probing import Answer

WIDTH, HEADS, BLOCK = 12, 3, 8
HALF = WIDTH // 2
TOKEN = 2
"""The token that is changed, in the cases that change one."""
TOLERANCE = {"float64": 1e-8, "float32": 1e-5}
"""By the precision in which the submission runs."""
CONFIG = {
    "n_embd": WIDTH,
    "n_head": HEADS,
    "block_size": BLOCK,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "n_layer": 1,
    "vocab_size": 20,
}
RUNS = "src/attention.py builds SynthesizerAttention(config) with w1, w2, b2, value, proj, and runs"
Shapes = Mapping[str, tuple[int, ...]]

NO_HIDDEN = {"w1.weight": {"times": 0.0}, "w1.bias": {"times": 0.0, "plus": -1.0}}
"""Every unit of the hidden layer is −1, which ReLU turns into 0."""
APART = {
    "w1.weight": {"only_inputs": (0, HALF)},
    "value.weight": {"only_inputs": (HALF, WIDTH)},
}
"""The scores read the first half of a token, the values the second."""
ONES = {
    "value.weight": {"times": 0.0},
    "value.bias": {"times": 0.0, "plus": 1.0},
    "proj.weight": {"identity": True},
    "proj.bias": {"times": 0.0},
}
"""Every value is 1, and so is the output if the weights sum to 1."""
NOTICEABLE = 1e-3


class Run(NamedTuple):
    """The outputs of the cases, the shapes of the parameters, and what counts as equal."""

    outputs: Mapping[str, np.ndarray]
    shapes: Shapes
    tolerance: float


def request() -> dict[str, Any]:
    """Say what the probe is to run."""
    return {"kind": "attention", "config": CONFIG, "cases": cases()}


def cases() -> dict[str, dict[str, Any]]:
    """Return inputs and weights by name."""
    plain = {"seed": 1, "length": BLOCK - 1, "width": WIDTH}
    later = {"tokens": (TOKEN + 1, BLOCK), "coordinates": (0, WIDTH)}
    apart = {**plain, "weights": APART}
    other_bias = {**NO_HIDDEN, "b2": {"times": -1.0}}
    return {
        "plain": plain,
        "short": {**plain, "seed": 3, "length": 4},
        "later": {**plain, "change": later},
        "apart": apart,
        "asked": {**apart, "change": {"tokens": (TOKEN, TOKEN + 1), "coordinates": (0, HALF)}},
        "ones": {**plain, "weights": ONES},
        "hidden": {**plain, "weights": NO_HIDDEN},
        "no w2": {**plain, "weights": {**NO_HIDDEN, "w2": {"times": 0.0}}},
        "other b2": {**plain, "weights": other_bias},
    }


def grade(answer: Answer) -> list[Finding]:
    """Judge what the probe ran."""
    said, outputs = answer
    problem = said.get("fatal") or _unusable(said, outputs)
    findings = [judge("runs", RUNS, problem, f"{len(outputs)} cases in {said.get('dtype')}")]
    if problem is not None:
        return findings + [not_judged(name, w, "it does not run") for name, w, _ in CHECKS]
    shapes = {name: tuple(said["shapes"][name]) for name in probe.NAMES}
    run = Run(outputs, shapes, TOLERANCE[said["dtype"]])
    return findings + [judge(name, w, *check(run)) for name, w, check in CHECKS]


def _unusable(said: Mapping[str, Any], outputs: Mapping[str, np.ndarray]) -> str | None:
    """Say why what came out cannot be compared with ours."""
    if problem := next(iter(said["failures"].values()), None) or _wrong_shapes(said["shapes"]):
        return str(problem)
    for name, case in cases().items():
        wanted = (2, case["length"], case["width"])
        if outputs[name].shape != wanted:
            return f"the output has shape {outputs[name].shape}, the input {wanted}"
    return None


def _wrong_shapes(shapes: Mapping[str, list[int]]) -> str | None:
    """Say which parameter cannot be what equation 5 has."""
    *heads, rows, columns = shapes["w2"] if len(shapes["w2"]) > 1 else [0, 0]
    if heads not in ([], [HEADS]) or rows != WIDTH // HEADS or columns not in (BLOCK - 1, BLOCK):
        return f"w2 has shape {tuple(shapes['w2'])} at width {WIDTH}, {HEADS} heads, block {BLOCK}"
    n_biases = {columns, columns * HEADS} if heads else {columns}
    if int(np.prod(shapes["b2"])) not in n_biases or shapes["b2"][-1] != columns:
        return f"b2 has shape {tuple(shapes['b2'])}, w2 {tuple(shapes['w2'])}"
    return None


def expected(case: Mapping[str, Any], shapes: Shapes, *, divide_by: float = 1.0) -> np.ndarray:
    """Return what ours gives with the same weights."""
    weights = probe.weights_for(shapes, case)
    own = len(shapes["w2"]) == 3
    ours = Synthesizer(WIDTH, HEADS, shapes["w2"][-1], shared=not own).double().eval()
    n_columns = shapes["w2"][-1]
    b2 = weights["b2"].reshape(-1, n_columns)
    weights["b2"] = b2[:, None].expand(HEADS, 1, n_columns) if own else b2[0]
    weights["w2"], weights["b2"] = weights["w2"] / divide_by, weights["b2"] / divide_by
    ours.load_state_dict(weights)
    with torch.no_grad():
        out = ours(probe.inputs_for(case), mask=AttentionMask(causal=True)).out
    return np.asarray(out.numpy())


def _equal(run: Run) -> tuple[str | None, str]:
    for name in ("plain", "short"):
        case = cases()[name]
        off = _distance(run.outputs[name], expected(case, run.shapes))
        if off > run.tolerance:
            return f"{case['length']} tokens: off by {off:.2g}{_scaled(run, name)}", ""
    return None, f"equal for 7 and for 4 tokens, to {run.tolerance:g}"


def _scaled(run: Run, name: str) -> str:
    """Say if the scores are divided by a root, as those of dot products are."""
    for root, n in (("√(d/h)", WIDTH / HEADS), ("√d", WIDTH)):
        ours = expected(cases()[name], run.shapes, divide_by=n**0.5)
        if _distance(run.outputs[name], ours) < run.tolerance:
            return f": the scores are divided by {root}"
    return ""


def _causal(run: Run) -> tuple[str | None, str]:
    seen = slice(None, TOKEN + 1)
    off = _distance(run.outputs["plain"][:, seen], run.outputs["later"][:, seen])
    problem = f"later tokens change it by {off:.2g}" if off > run.tolerance else None
    return problem, "nothing changes"


def _pairs(run: Run) -> tuple[str | None, str]:
    after = slice(TOKEN + 1, None)
    off = _distance(run.outputs["apart"][:, after], run.outputs["asked"][:, after])
    changed = f"the features that another token is scored by change it by {off:.2g}"
    return (changed if off > run.tolerance else None), "nothing changes"


def _sums(run: Run) -> tuple[str | None, str]:
    sums = run.outputs["ones"]
    off = _distance(sums, np.ones_like(sums))
    problem = f"they sum to {sums.min():.2g} … {sums.max():.2g}" if off > run.tolerance else None
    return problem, "in every row"


def _relu(run: Run) -> tuple[str | None, str]:
    off = _distance(run.outputs["hidden"], run.outputs["no w2"])
    problem = f"B changes the output by {off:.2g} there" if off > run.tolerance else None
    return problem, "no B changes anything there"


def _bias(run: Run) -> tuple[str | None, str]:
    off = _distance(run.outputs["hidden"], run.outputs["other b2"])
    return (
        None if off > NOTICEABLE else "another b2 gives the same output"
    ), "another b2, another output"


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.nan_to_num(np.abs(a - b), nan=np.inf).max())


CHECKS: tuple[tuple[str, str, Callable[[Run], tuple[str | None, str]]], ...] = (
    ("equation 5", "equal to ours with the same weights", _equal),
    ("causal", "later tokens change nothing", _causal),
    ("no pairs", "a token's scores depend on that token alone", _pairs),
    ("weights sum to 1", "the mask comes before the softmax", _sums),
    ("ReLU", "where x A + b₁ is negative, B has no effect", _relu),
    ("b2", "the bias b2 moves the scores", _bias),
)
