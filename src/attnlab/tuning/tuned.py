"""Applies a tuning method to a model, between building it and making its parameter groups."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnlab.errors import RunError, UserError
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.bert_names import listed
from attnlab.models.encoder import SequenceClassifier
from attnlab.models.sizes import BertSize
from attnlab.randomness import seed_torch
from attnlab.tuning import TUNING
from attnlab.tuning.adapted import AdaptedLinear, merge
from attnlab.tuning.parts import Trainable, parts_of
from attnlab.tuning.settings import TuningSettings


@dataclass(frozen=True)
class Tuned:
    """A model of which some parameters are trained, and how many there should be."""

    model: nn.Module
    method: str
    trainable: Trainable
    """All that is trained, the head included."""
    null_directions: frozenset[str] = frozenset()
    """Parameters that need not move: their gradient is zero whatever the data."""
    added: frozenset[str] = frozenset()
    """Parameters that a model without the method does not have."""

    def state(self) -> dict[str, Tensor]:
        """Return the trainable parameters by name, tied ones once."""
        named = self.model.named_parameters()
        return {name: p.detach() for name, p in named if p.requires_grad}

    @property
    def n_trainable(self) -> int:
        """How many numbers the formula says are trained."""
        return self.trainable.count.value(self.trainable.sizes)

    @property
    def can_merge(self) -> bool:
        """Whether the model can become a plain one with the same outputs."""
        return any(isinstance(module, AdaptedLinear) for module in self.model.modules())

    def merge(self) -> None:
        """Make the model a plain one with the same outputs; what was frozen then has changed."""
        merge(self.model)

    def describe(self) -> str:
        """Say how many parameters are trained, and the formula that gives the number."""
        total = sum(p.numel() for p in self.model.parameters())
        count, sizes = self.trainable.count, self.trainable.sizes
        legend = ", ".join(f"{symbol} = {sizes[symbol]:,}" for symbol in count.symbols())
        return (
            f"tuning {self.method}: {count} = {self.n_trainable:,} of {total:,} parameters are"
            f" trained ({legend})"
        )

    def check_count(self) -> None:
        """Refuse a model that trains another number of parameters than the formula says."""
        actual = sum(value.numel() for value in self.state().values())
        if actual != self.n_trainable:
            raise RunError(
                f"tuning {self.method!r} should train {self.trainable.count} ="
                f" {self.n_trainable:,} parameters, but {actual:,} of the model are trainable."
                " The model has other sizes than it says, or the method missed some."
            )


def apply_tuning(model: nn.Module, settings: TuningSettings, *, seed: int) -> Tuned:
    """Let a method choose, and make, what is trained; freeze everything else.

    The head of a classifier is always trained.
    """
    parts, known = parts_of(model), set(model.state_dict())
    seed_torch(seed, "tuning")
    chosen: Trainable = TUNING.build(settings.name, parts, options=settings.options)
    freeze(model, but=chosen.names | parts.head_names())
    trainable = replace(
        chosen,
        names=frozenset(name for name, p in model.named_parameters() if p.requires_grad),
        count=chosen.count + parts.head,
        sizes={**parts.sizes, **chosen.sizes},
    )
    null_directions = parts.null_directions() & trainable.names
    added = frozenset(model.state_dict()) - known
    tuned = Tuned(model, settings.name, trainable, null_directions, added)
    tuned.check_count()
    if isinstance(model, SequenceClassifier):
        # the head for masked tokens is not what tells the classes
        _check_head(model, sorted(n for n in parts.head_names() if not n.startswith("masked.")))
    return tuned


def _check_head(model: SequenceClassifier, names: Sequence[str]) -> None:
    """Refuse a head that gets no gradient from the scores: it would stay as it was drawn."""
    if not names:
        return
    named = dict(model.named_parameters())
    last = named[model.output]
    with torch.random.fork_rng(devices=[]):  # dropout draws numbers
        scores = model.tell(last.new_ones(1, last.shape[1]))
    gradients: Sequence[Tensor | None] = [None] * len(names)
    if scores.requires_grad:
        head = [named[name] for name in names]
        gradients = torch.autograd.grad(scores.sum(), head, allow_unused=True)
    idle = [name for name, gradient in zip(names, gradients, strict=True) if gradient is None]
    if idle:
        raise RunError(
            f"no gradient reaches {listed(idle)} of the classifier's head: it would stay as it was"
            " drawn, and the scores would mean nothing."
        )


def check_tuning(settings: TuningSettings, name: str) -> None:
    """Refuse settings that no BERT can be tuned with, before there is a model: names, options."""
    tiny = BertForSequenceClassification(BertSize(2, 2, 1, 1, 2, 2), 2)
    try:
        apply_tuning(tiny, settings, seed=0)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None


def freeze(model: nn.Module, *, but: Collection[str]) -> None:
    """Train these parameters only; one that has two names is trained if either is given."""
    named = list(model.named_parameters(remove_duplicate=False))
    unknown = sorted(set(but) - {name for name, _ in named})
    assert not unknown, f"no parameter is called: {unknown}"
    trained = {id(parameter) for name, parameter in named if name in but}
    for _, parameter in named:
        parameter.requires_grad_(id(parameter) in trained)
