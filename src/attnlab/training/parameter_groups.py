"""The kinds of parameters, which optimizers treat differently."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from torch import nn


@dataclass(frozen=True)
class ParameterGroups:
    """The trainable parameters by name, each in exactly one kind."""

    matrices: tuple[str, ...] = ()
    """Weights of linear layers: weight decay applies to them, Muon may move them."""
    embeddings: tuple[str, ...] = ()
    """Tables, those of positions too, and output heads: no weight decay, never Muon."""
    vectors: tuple[str, ...] = ()
    """Biases, gains and other small ones: no weight decay."""
    sparse: tuple[str, ...] = ()
    """Tables with sparse gradients: an optimizer of their own, no clipping."""

    @classmethod
    def of(cls, model: nn.Module, *, embeddings: Sequence[str] = ()) -> "ParameterGroups":
        """Sort a model's trainable parameters by module and shape.

        ``embeddings`` names those that the shape does not give away: output heads, positions.
        """
        matrices = {
            f"{name}.weight"
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear)
        }
        tables = {
            f"{name}.weight": module.sparse
            for name, module in model.named_modules()
            if isinstance(module, nn.Embedding)
        }
        kinds: dict[str, list[str]] = {field.name: [] for field in fields(cls)}
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue
            if tables.get(name, False):
                kind = "sparse"
            elif name in embeddings or (parameter.ndim > 1 and name not in matrices):
                kind = "embeddings"
            else:
                kind = "matrices" if parameter.ndim > 1 else "vectors"
            kinds[kind].append(name)
        return cls(**{kind: tuple(names) for kind, names in kinds.items()})

    def check(self, model: nn.Module) -> None:
        """Refuse groups that miss a trainable parameter, name one twice, or one that is not."""
        named = [*self.matrices, *self.embeddings, *self.vectors, *self.sparse]
        trainable = {n for n, p in model.named_parameters() if p.requires_grad}
        twice = {name for name in named if named.count(name) > 1}
        assert not twice, f"in two parameter groups: {sorted(twice)}"
        missing, extra = trainable - set(named), set(named) - trainable
        assert not missing, f"in no parameter group: {sorted(missing)}"
        assert not extra, f"no trainable parameter is called: {sorted(extra)}"
