"""What the classification lab needs of a pretrained encoder, whatever its kind.

A folder in the hub's layout is opened as an ``EncoderCheckpoint``. It has a tokenizer, makes a
``SequenceClassifier`` with its weights, and writes one that was trained. config.json says the kind:
``bert`` is ours, in plain PyTorch; the others are those of transformers (``models/hub.py``).
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnlab.data.text_tokenizer import TextTokenizer
from attnlab.errors import UserError
from attnlab.models.activations import Part
from attnlab.phases import phase
from attnlab.runs.files import parse_object
from attnlab.runs.manifest import read_sealed

Summary = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""From tokens and types (B, T), and padding (B, T) or None, to the vectors (B, D) of texts."""
CONFIG = "config.json"
ADAPTER = "adapter_config.json"
"""What peft describes an adapter in."""
PLAIN = "bert"
"""The kind that needs nothing but PyTorch."""


class SequenceClassifier(nn.Module):
    """A body that sums up each text, and a head that scores the classes."""

    output: str
    """Name of the head's last matrix, which scores the classes."""
    is_cut: bool = True
    """Whether the head is what ``tell`` does, so that it can be trained by itself."""

    @property
    def summary(self) -> Summary:
        """What sums up texts: a function of tokens, types and padding, True where there is a token.

        It is the body's own, so that a reader is one call nearer to attention.
        """
        raise NotImplementedError

    def tell(self, summary: Float[Tensor, "B D"]) -> Float[Tensor, "B C"]:
        """Return the scores of the classes, given the body's summary of each text."""
        raise NotImplementedError

    def forward(
        self,
        tokens: Int[Tensor, "B T"],
        types: Int[Tensor, "B T"],
        padding: Bool[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B C"]:
        """Return the scores of the classes; ``padding`` is True where there is a token."""
        return self.tell(self.summary(tokens, types, padding))

    def table_owner(self) -> nn.Module | None:
        """Return the module whose table ``words`` may lose rows that no text needs, if one may."""
        return None

    def activations(self, labelled: Part, masked: Part | None = None) -> int:
        """Count the numbers that backpropagation keeps at least; 0 if it is not known."""
        del labelled, masked
        return 0


@runtime_checkable
class EncoderCheckpoint(Protocol):
    """A pretrained encoder on disk."""

    @property
    def folder(self) -> Path:
        """Where it is."""

    @property
    def sha256(self) -> str:
        """Hash of everything that its answers depend on."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of its classifier, if it has one and names them."""

    @property
    def max_len(self) -> int | None:
        """Tokens of the longest text, or None if there is no limit."""

    @property
    def tells_pairs_apart(self) -> bool:
        """Whether it can read two texts at once."""

    @property
    def fills_in(self) -> bool:
        """Whether it can be trained on masked text, too."""

    def read_tokenizer(self) -> TextTokenizer:
        """Read how texts become tokens; refuse a tokenizer of another model."""

    def need_memory(self) -> None:
        """Refuse to train what cannot fit into memory."""

    def new_model(
        self, classes: Sequence[str], *, pooler: bool, fills_in: bool
    ) -> tuple[SequenceClassifier, list[str]]:
        """Return a model with these weights, and which weights are new, as transformers names them.

        ``pooler`` puts transformers' dense layer before BERT's classifier, and ``fills_in`` adds a
        head that predicts masked tokens.
        """

    def released(self) -> "EncoderCheckpoint":
        """Return it without its tensors, once a model has its own."""

    def write(
        self,
        model: nn.Module,
        folder: Path,
        *,
        classes: Sequence[str],
        without: Collection[str] = (),
    ) -> None:
        """Write a trained model as transformers would, but for some parameters; both can open it.

        ``without`` names what tuning has added to the model.
        """


@phase("loading the model")
def open_checkpoint(folder: Path) -> EncoderCheckpoint:
    """Read a folder in the hub's layout."""
    _refuse_adapter(folder)
    if kind_of(folder) == PLAIN:
        from attnlab.models.bert_format import read_bert

        return read_bert(folder)
    from attnlab.models.hub import read_hub

    return read_hub(folder)


def kind_of(folder: Path) -> str:
    """Return what config.json calls the kind of model; without a word, BERT."""
    path = folder / CONFIG
    if not path.is_file():
        return PLAIN  # whose reader says what is missing
    return str(parse_object(read_sealed(path), path).get("model_type", PLAIN))


def _refuse_adapter(folder: Path) -> None:
    """Refuse what peft has trained beside a model: the model alone would be another one."""
    path = folder / ADAPTER
    if path.is_file():
        base = parse_object(path.read_bytes(), path).get("base_model_name_or_path")
        raise UserError(
            f"{folder} has an adapter of peft, made for the model {base!r}; only whole models are"
            " read. Merge it into that model with peft (merge_and_unload, then save_pretrained) and"
            " give the merged model's folder."
        )
