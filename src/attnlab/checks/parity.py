"""Two layers that should be the same, compared with the same weights."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from attnlab.attention.contract import AttentionMask
from attnlab.checks.mistakes import MISTAKES
from attnlab.checks.promises import CLOSE, H, Subject, tokens


def compare_with(subject: Subject, build: Callable[[], nn.Module], name: str) -> str | None:
    """Return None if a layer equals the variant ``name``, or else how they differ."""
    layer, reference = subject.layer(), build().double().eval()
    mine, theirs = (dict(one.named_parameters()) for one in (layer, reference))
    lacking, extra = sorted(theirs.keys() - mine.keys()), sorted(mine.keys() - theirs.keys())
    if lacking == ["value.bias"] and not extra:
        return "it has no value.bias: weights sum to 1, so that every output lacks that bias"
    if lacking or extra:
        said = [f"lacks {', '.join(lacking)}"] * bool(lacking) + [
            f"also has {', '.join(extra)}"
        ] * bool(extra)
        return f"its parameters are not {name}'s: it {' and '.join(said)}"
    with torch.no_grad():
        for parameter, values in mine.items():
            theirs[parameter].copy_(values)
    for causal in subject.kinds:
        mask = AttentionMask(causal=causal)
        with torch.no_grad():
            apart = layer(tokens(), mask=mask).out - reference(tokens(), mask=mask).out
        largest = float(apart.abs().max())
        if not largest <= CLOSE:
            off = f"with the same weights its outputs are off by up to {largest:.2g}"
            cause = _usual_mistake(layer, reference, kinds=subject.kinds)
            return f"{off}: {cause}" if cause else off
    return None


def _usual_mistake(layer: nn.Module, reference: nn.Module, *, kinds: Sequence[bool]) -> str | None:
    """Name the mistake that gives the layer's numbers, if it is one of the usual."""
    x = tokens()
    projections = [getattr(reference, name, None) for name in ("query", "key", "value", "proj")]
    q, k, v, proj = projections
    if not (q and k and v and proj):
        return None
    with torch.no_grad():
        given = {causal: layer(x, mask=AttentionMask(causal=causal)).out for causal in kinds}
        for mistake in MISTAKES["self_attention"]:
            made = {c: proj(mistake.compute(q(x), k(x), v(x), H, c)) for c in given}
            if all(torch.allclose(made[c], given[c], atol=CLOSE, equal_nan=True) for c in given):
                return mistake.effect
    return None
