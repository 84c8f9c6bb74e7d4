"""The parts of a model that tuning methods act on, under the same names in BERT and GPT.

A projection has a role: query, key, value and proj in the attention, up and down in the MLP.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from torch import nn

from attnlab.attention.assemble import supporting, supports_of
from attnlab.attention.positions.learned import LearnedPositions
from attnlab.attention.variants.dot_product import DotProduct
from attnlab.errors import UserError
from attnlab.models.bert import BertForCLSMLM, BertForSequenceClassification
from attnlab.models.gpt import GPT
from attnlab.models.hub_classifier import HubClassifier
from attnlab.tuning.counting import Count, head_count

Role = Literal["query", "key", "value", "proj", "up", "down"]
WIDTHS: Mapping[Role, tuple[str, str]] = {
    "query": ("d", "h"),
    "key": ("d", "h"),
    "value": ("d", "h"),
    "proj": ("h", "d"),
    "up": ("d", "m"),
    "down": ("m", "d"),
}
"""The widths of what a projection takes and returns: of the model, of all heads, or of the MLP."""
ATTENTION: dict[Role, str] = {
    "query": "attn.query",
    "key": "attn.key",
    "value": "attn.value",
    "proj": "attn.proj",
}
"""Where the projections of our attention are, seen from a layer."""


@dataclass(frozen=True)
class Trainable:
    """What a method trains besides the head."""

    names: frozenset[str]
    count: Count
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The sizes in the count that are the method's own, such as the rank."""
    late: frozenset[str] = frozenset()
    """Parameters with a gradient of zero in the first step, because another one starts at zero."""


@dataclass(frozen=True)
class ModelParts:
    """A model with the places of its parts, and how many parameters they have."""

    model: nn.Module
    layers: tuple[str, ...]
    """Where the layers are; each of ours has ``attn``."""
    roles: Mapping[Role, str]
    """Where a layer's projections are, by their roles."""
    table: str
    """Where the table of tokens is."""
    embeddings: str
    """What has room for a prompt."""
    n_heads: int
    sizes: Mapping[str, int]
    """d width, L layers, m width inside the MLPs, V vocabulary, T positions, N n-grams; h is there
    if all heads together are not as wide as the model; a, b, p are counted where a user may choose
    the module: attention, its biases, positions."""
    body: Count
    """Of all parameters but the head's."""
    biases: Count
    """Of the body's biases."""
    head: Count = field(default_factory=Count)
    """Of a classifier's head; a language model has none that is new."""
    heads: tuple[str, ...] = ()
    """How the names of the head's parameters begin."""
    is_ours: bool = True
    """Whether its attention keeps our contract."""
    prefixed: tuple[str, ...] = ()
    """What has room for a prefix; in our models, the layers."""
    read_prefixes: Callable[[], None] = lambda: None
    """Makes the attention of another library read prefixes."""

    def widths(self, role: Role) -> tuple[str, str]:
        """Name the widths of what a projection takes and returns."""
        before, after = WIDTHS[role]
        return self.width(before), self.width(after)

    def width(self, symbol: str) -> str:
        """Name a width; that of all heads is mostly the model's own."""
        return "d" if symbol == "h" and "h" not in self.sizes else symbol

    def linears(self, role: Role, *, method: str) -> Iterator[tuple[str, nn.Linear]]:
        """Give the name and module of a projection in every layer; refuse a model without."""
        self.need_known_layers(method)
        for layer in self.layers:
            name = f"{layer}.{self.roles.get(role, role)}"
            parent, _, last = name.rpartition(".")
            holder = self.model.get_submodule(parent)
            module = getattr(holder, last, None)
            if not isinstance(module, nn.Linear):
                has = "has none" if module is None else f"has a {type(module).__name__} there"
                raise UserError(
                    f"tuning {method!r} acts on linear layers, but as its {role} projection"
                    f" {type(holder).__name__} {has}. Choose other targets, or another method."
                )
            yield name, module

    def head_names(self) -> frozenset[str]:
        """Name the head's parameters."""
        names = (name for name, _ in self.model.named_parameters())
        return frozenset(name for name in names if name.startswith(self.heads))

    def null_directions(self) -> frozenset[str]:
        """Name the parameters whose gradient is zero whatever the data."""
        if not self.is_ours:
            biases = {f"{layer}.{self.roles['key']}.bias" for layer in self.layers}
            return frozenset(biases & dict(self.model.named_parameters()).keys())
        return frozenset(
            f"{layer}.attn.{name}"
            for layer in self.layers
            for name in getattr(self.model.get_submodule(f"{layer}.attn"), "null_directions", ())
        )

    def need_prefix_support(self, method: str, reason: str) -> None:
        """Refuse a model whose attention takes no keys and values besides those of its tokens."""
        self.need_known_layers(method)
        for layer in self.layers if self.is_ours else ():
            attention = type(self.model.get_submodule(f"{layer}.attn"))
            if "prefix" not in supports_of(attention):
                raise UserError(
                    f"tuning {method!r} is not possible with the attention {attention.__name__},"
                    f" which does not support a prefix: {reason} Attention that does:"
                    f" {', '.join(supporting('prefix'))}."
                )

    def need_known_layers(self, method: str) -> None:
        """Refuse a model of transformers of which only the whole is known."""
        if not self.layers:
            raise UserError(
                f"tuning {method!r} must know where a model has its layers and its head, and a"
                f" {type(self.model.net).__name__} is of an untested kind. Try 'full'."
            )


def parts_of(model: nn.Module) -> ModelParts:
    """Find the parts of a classifier, ours or of transformers, or of a GPT."""
    if isinstance(model, BertForSequenceClassification):
        return _bert_parts(model)
    if isinstance(model, HubClassifier):
        from attnlab.tuning.hub_parts import hub_parts

        return hub_parts(model)
    if isinstance(model, GPT):
        return _gpt_parts(model)
    raise UserError(
        "tuning acts on the parts of a model that classifies or of a GPT, which a"
        f" {type(model).__name__} does not have."
    )


def _bert_parts(model: BertForSequenceClassification) -> ModelParts:
    size, table = model.body.size, model.body.embeddings.words
    layers = tuple(f"body.layers.{i}" for i in range(size.n_layers))
    head = head_count(model.classifier.out_features, dense=model.body.pooler is not None)
    if isinstance(model, BertForCLSMLM):
        head += Count("d² + 3·d + V")
    tables = Count(f"V·d + T·d + {size.n_types}·d + 2·d")
    return ModelParts(
        model,
        layers=layers,
        prefixed=layers,
        roles=ATTENTION | {"up": "up", "down": "down"},
        table="body.embeddings.words",
        embeddings="body.embeddings",
        n_heads=size.n_heads,
        sizes={
            "d": size.d_model,
            "L": size.n_layers,
            "m": size.d_mlp,
            "V": table.num_embeddings,
            "T": size.max_len,
        },
        body=tables + Count("4·L·d² + 2·L·d·m + 9·L·d + L·m"),
        biases=Count("7·L·d + L·m + d"),
        head=head,
        heads=("classifier.", "body.pooler.", "masked."),
    )


def _gpt_parts(model: GPT) -> ModelParts:
    vocab_size, d_model = model.tok_emb.weight.shape
    attn = cast("nn.Module", model.blocks[0].attn)
    sizes = {"d": d_model, "L": len(model.blocks), "m": 4 * d_model, "V": vocab_size}
    body, biases = Count("2·V·d + 2·d + 8·L·d² + 9·L·d"), Count("7·L·d + d")
    if isinstance(attn, DotProduct):
        body, biases = body + Count("4·L·d² + 4·L·d"), biases + Count("4·L·d")
    else:  # another variant: what it has is counted, not derived
        sizes |= {"a": _numbers(attn), "b": _numbers(attn, "bias")}
        body, biases = body + Count("L·a"), biases + Count("L·b")
    if isinstance(model.positions, LearnedPositions):
        sizes["T"], body = model.max_len, body + Count("T·d")
    elif others := _numbers(model.positions):
        sizes["p"], body = others, body + Count("p")
    if model.ngram_table is not None:
        sizes["N"], body = model.ngram_table.table.num_embeddings, body + Count("N·d")
    layers = tuple(f"blocks.{i}" for i in range(len(model.blocks)))
    return ModelParts(
        model,
        layers=layers,
        prefixed=layers,
        roles=ATTENTION | {"up": "mlp.0", "down": "mlp.2"},
        table="tok_emb",
        embeddings="",
        n_heads=cast("int", getattr(attn, "n_heads", 1)),
        sizes=sizes,
        body=body,
        biases=biases,
    )


def _numbers(module: nn.Module, ending: str = "") -> int:
    """Count a module's parameters, those of some name only."""
    return sum(p.numel() for name, p in module.named_parameters() if name.endswith(ending))
