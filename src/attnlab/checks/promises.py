"""What every attention keeps, checked on any layer: a registered variant's or a student's.

A promise returns None if it is kept, and else a sentence that says what the bug does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnlab.attention.cache import Cache
from attnlab.attention.contract import AttentionMask, Prefix
from attnlab.checks.leakage import layer_leak
from attnlab.errors import UserError

B, T, D, H = 2, 7, 12, 3
"""Small, and all different, so that a swapped axis shows."""
CLOSE = 1e-12
SILENT = 1e-9


@dataclass(frozen=True)
class Subject:
    """A layer under test, and what its class declares."""

    build: Callable[[], nn.Module]
    supports: frozenset[str]
    breaks: frozenset[str] = frozenset()
    null_directions: frozenset[str] = frozenset()
    """Parameters that need not learn although the class does not declare them."""

    def layer(self) -> nn.Module:
        """Build it in float64 with weights that make differences show, the same ones each time."""
        torch.manual_seed(0)
        layer = self.build().double().eval()
        for parameter in layer.parameters():
            nn.init.normal_(parameter, std=0.3)
        return layer

    @property
    def kinds(self) -> list[bool]:
        """Whether the mask is causal, for every kind that it supports."""
        return [kind == "causal" for kind in ("bidirectional", "causal") if kind in self.supports]

    @property
    def mask(self) -> AttentionMask:
        """The plainest mask that it supports."""
        return AttentionMask(causal="bidirectional" not in self.supports)


Promise = Callable[[Subject], str | None]


def tokens(seed: int = 1) -> Tensor:
    """Draw the vectors of a few tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, T, D, dtype=torch.float64, generator=generator)


def keeps_the_shape(subject: Subject) -> str | None:
    """The output is as large as the input, and of the same type."""
    out = subject.layer()(tokens(), mask=subject.mask).out
    if out.shape != (B, T, D):
        return f"it turns tokens of shape {(B, T, D)} into {tuple(out.shape)}"
    return None if out.dtype == torch.float64 else f"it turns float64 into {out.dtype}"


def hides_the_future(subject: Subject) -> str | None:
    """With a causal mask, a token feels nothing of those after it: a change of exactly 0."""
    leak = layer_leak(subject.layer(), tokens())
    declared = "causal" in subject.breaks
    if leak.is_nan:
        return leak.sentence()
    if leak.found and not declared:
        return _kind_of_leak(subject) + leak.sentence()
    if declared and not leak.found:
        return "it declares to break causality and keeps it: take 'causal' out of breaks"
    return None


def looks_around(subject: Subject) -> str | None:
    """The last token's output depends on the tokens before it."""
    mask = AttentionMask(causal="causal" in subject.supports)
    layer, x, other = subject.layer(), tokens(), tokens(2)
    other[:, -1] = x[:, -1]
    if torch.equal(layer(x, mask=mask).out[:, -1], layer(other, mask=mask).out[:, -1]):
        return "no token looks at another: the last output ignores all tokens before it"
    return None


def ignores_padding(subject: Subject) -> str | None:
    """The contents of padding change no real token."""
    layer, x = subject.layer(), tokens()
    at_the_end = torch.arange(T) < torch.tensor([[T], [4]])
    for padding in (at_the_end, at_the_end.flip(1)):  # causal tokens would not see it at the end
        changed = torch.where(padding[..., None], x, tokens(2))
        for causal in subject.kinds:
            mask = AttentionMask(causal=causal, padding=padding)
            change = _apart(*(layer(one, mask=mask).out[padding] for one in (x, changed)))
            if not change <= CLOSE:
                return f"padding is looked at: it changes real tokens by {change:.2g}"
    return None


def keeps_segments_apart(subject: Subject) -> str | None:
    """Two texts packed into one row do not see each other."""
    layer, x, other = subject.layer(), tokens(), tokens(2)
    segments = torch.tensor([[0, 0, 0, 1, 1, 1, 1]]).expand(B, T)
    other[:, 3:] = x[:, 3:]
    for causal in subject.kinds:
        mask = AttentionMask(causal=causal, segments=segments)
        change = _apart(layer(x, mask=mask).out[:, 3:], layer(other, mask=mask).out[:, 3:])
        if not change <= CLOSE:
            return f"texts packed into one row see each other: one changes the next by {change:.2g}"
    return None


def survives_seeing_nothing(subject: Subject) -> str | None:
    """A token that sees no key has a finite output and finite gradients."""
    layer, x = subject.layer(), tokens().requires_grad_()
    padding = torch.ones(B, T, dtype=torch.bool)
    padding[0, :3] = False  # with a causal mask the first tokens of row 0 see padding alone
    out = layer(x, mask=AttentionMask(causal="causal" in subject.supports, padding=padding)).out
    gradients = torch.autograd.grad(out.square().sum(), [x, *layer.parameters()], allow_unused=True)
    if not all(g.isfinite().all() for g in (out, *gradients) if g is not None):
        return "a token that sees nothing becomes NaN (softmax of only −∞), and spoils the batch"
    return None


def treats_rows_alone(subject: Subject) -> str | None:
    """A batch gives the same as its rows one by one."""
    layer, x = subject.layer(), tokens()
    rows = torch.cat([layer(row[None], mask=subject.mask).out for row in x])
    change = _apart(layer(x, mask=subject.mask).out, rows)
    return None if change <= CLOSE else f"rows of a batch change each other by {change:.2g}"


def teaches_every_parameter(subject: Subject) -> str | None:
    """Every parameter gets a gradient, but for those declared in ``null_directions``."""
    layer = subject.layer()
    loss = layer(tokens(), mask=subject.mask).out.square().sum()
    names = [name for name, _ in layer.named_parameters()]
    gradients = torch.autograd.grad(loss, list(layer.parameters()), allow_unused=True)
    silent = {
        name
        for name, gradient in zip(names, gradients, strict=True)
        if gradient is None or float(gradient.abs().max()) < SILENT
    }
    declared = set(getattr(layer, "null_directions", ()))
    silent -= subject.null_directions - declared
    if silent - declared:
        return f"no gradient reaches {', '.join(sorted(silent - declared))}: it cannot learn"
    if declared - silent:
        return f"{', '.join(sorted(declared - silent))} is declared null and gets a gradient"
    return None


def remembers_by_cache(subject: Subject) -> str | None:
    """Some tokens, then one at a time with a cache, give the same as all at once."""
    layer, x = subject.layer(), tokens()
    mask = AttentionMask(causal=True)
    with torch.no_grad():
        cache, pieces = Cache(), []
        for start, end in ((0, 3), *((t, t + 1) for t in range(3, T))):
            pieces.append(layer(x[:, start:end], mask=mask, cache=cache).out)
        change = _apart(torch.cat(pieces, dim=1), layer(x, mask=mask).out)
    if not change <= CLOSE:
        return f"with a cache, token by token, the outputs differ by {change:.2g}"
    return None


def takes_a_prefix(subject: Subject) -> str | None:
    """Keys and values put before the row are seen."""
    layer, x = subject.layer(), tokens()
    generator = torch.Generator().manual_seed(3)
    drawn = torch.randn(2, 1, H, 4, D // H, dtype=torch.float64, generator=generator)
    for causal in subject.kinds:
        mask = AttentionMask(causal=causal)
        without = layer(x, mask=mask).out
        empty = layer(x, mask=mask, prefix=Prefix(drawn[0][:, :, :0], drawn[1][:, :, :0])).out
        if not _apart(without, empty) <= CLOSE:
            return "a prefix of no keys changes the output"
        change = layer(x, mask=mask, prefix=Prefix(drawn[0], drawn[1])).out - without
        if not change.any():
            return "no token sees the prefix"
    return None


def shows_its_weights(subject: Subject) -> str | None:
    """Weights come on request, sum to 1 over what is seen, and are 0 on what is hidden."""
    layer, x = subject.layer(), tokens()
    mask = AttentionMask(causal="causal" in subject.supports)
    if layer(x, mask=mask).weights is not None:
        return "it returns weights although need_weights is False"
    weights = layer(x, mask=mask, need_weights=True).weights
    if weights is None or weights.shape != (B, H, T, T):
        return f"its weights are of shape {None if weights is None else tuple(weights.shape)}"
    weights = weights.detach()
    hidden = ~mask.dense(T, T, x.device).expand_as(weights)
    if float(weights[hidden].abs().sum()) > 0 or float(weights.min()) < 0:
        return "a hidden key has weight, or a weight is negative"
    sums_to_1 = _apart(weights.sum(-1), torch.ones(B, H, T)) <= CLOSE
    if "causal" not in subject.breaks and not sums_to_1:
        return "the weights of a query do not sum to 1"
    return None


def comes_back_from_disk(subject: Subject) -> str | None:
    """A new layer with the saved state gives the same outputs."""
    layer, x = subject.layer(), tokens()
    torch.manual_seed(1)
    again = subject.build().double().eval()
    again.load_state_dict(layer.state_dict())
    if not torch.equal(layer(x, mask=subject.mask).out, again(x, mask=subject.mask).out):
        return "something that matters is not in its state_dict: a loaded layer differs"
    return None


def says_what_is_too_long(subject: Subject) -> str | None:
    """A row beyond ``max_len`` works, or is refused in words."""
    layer, x = subject.layer(), torch.cat([tokens(), tokens(2)], dim=1)
    try:
        layer(x, mask=subject.mask)
    except (UserError, AssertionError, ValueError):
        return None
    except Exception as error:
        return f"a row of {2 * T} tokens, max_len {T}, ends in {type(error).__name__}: {error}"
    return None


ALWAYS: tuple[Promise, ...] = (
    keeps_the_shape,
    looks_around,
    ignores_padding,
    keeps_segments_apart,
    survives_seeing_nothing,
    treats_rows_alone,
    teaches_every_parameter,
    comes_back_from_disk,
    says_what_is_too_long,
)
IF_SUPPORTED: dict[str, Promise] = {
    "causal": hides_the_future,
    "cache": remembers_by_cache,
    "prefix": takes_a_prefix,
    "weights": shows_its_weights,
}


NEEDS_MASK = (ignores_padding, keeps_segments_apart, survives_seeing_nothing, says_what_is_too_long)


def promises_of(supports: frozenset[str], *, takes_mask: bool = True) -> list[Promise]:
    """Return the promises that a variant with these capabilities makes."""
    own = [promise for capability, promise in IF_SUPPORTED.items() if capability in supports]
    made = [ALWAYS[0], *own, *ALWAYS[1:]]
    return [promise for promise in made if takes_mask or promise not in NEEDS_MASK]


def _apart(a: Tensor, b: Tensor) -> float:
    return float((a - b).detach().abs().max())


def _kind_of_leak(subject: Subject) -> str:
    """Tell a mask that looks the wrong way from one that does not hide."""
    layer, x, other = subject.layer(), tokens(), tokens(2)
    mask = AttentionMask(causal=True)
    past = torch.cat([other[:, :1], x[:, 1:]], dim=1)
    if torch.equal(layer(x, mask=mask).out[:, 1:], layer(past, mask=mask).out[:, 1:]):
        return "the mask is transposed, a token sees only those after it: "
    return "the future is seen: "
