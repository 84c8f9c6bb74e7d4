"""Encoders of transformers: RoBERTa, DistilBERT, T5, and what else can classify a sequence.

The first three are tested number by number; others may work and are said to be untested.
transformers is loaded when a model asks for it.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from torch import Tensor, nn

from attnlab.assets.hub import TOKENIZER_FILES
from attnlab.assets.tensors import decode_tensors
from attnlab.errors import UserError
from attnlab.models.bert_format import WEIGHTS
from attnlab.models.bert_names import listed
from attnlab.models.encoder import CONFIG
from attnlab.models.hub_classifier import FAMILIES, Family, HubClassifier
from attnlab.models.hub_tokenizer import HubTokenizer, read_hub_tokenizer
from attnlab.models.parameter_counts import need_memory_for
from attnlab.phases import messages
from attnlab.runs.files import naming_the_path, replace_file
from attnlab.runs.manifest import read_sealed


@dataclass(frozen=True)
class HubCheckpoint:
    """A model of transformers on disk; implements ``models.encoder.EncoderCheckpoint``."""

    folder: Path
    config: Any
    tensors: Mapping[str, Tensor]
    sha256: str
    fills_in = False
    tells_pairs_apart = True

    @property
    def kind(self) -> str:
        """What config.json calls the kind of model."""
        return str(self.config.model_type)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of its classifier; transformers makes names up if there are none."""
        names: Mapping[int, str] = self.config.id2label or {}
        made_up = all(name == f"LABEL_{i}" for i, name in names.items())
        return () if made_up else tuple(names[i] for i in sorted(names))

    @property
    def max_len(self) -> int | None:
        """Positions that it has vectors for, if they are a table."""
        rows = getattr(self.config, "max_position_embeddings", None)
        family = FAMILIES.get(self.kind)
        return None if rows is None else int(rows) - (family.position_offset if family else 0)

    def read_tokenizer(self) -> HubTokenizer:
        """Read how texts become tokens, once; refuse a tokenizer of another model."""
        return self._tokenizer

    @cached_property
    def _tokenizer(self) -> HubTokenizer:
        return read_hub_tokenizer(self.folder, self.config)

    def need_memory(self) -> None:
        """Refuse to train what cannot fit into memory."""
        need_memory_for(_parameters(self.config), trains=True, origin=str(self.folder))

    def new_model(
        self, classes: Sequence[str], *, pooler: bool, fills_in: bool
    ) -> tuple[HubClassifier, list[str]]:
        """Return a model with these weights, and which weights are new."""
        assert not fills_in, "the recipe refuses masked text for other models than BERT"
        if pooler:
            raise UserError(
                f"pooler = true is for BERT; {self.folder} is of the kind {self.kind!r} and has a"
                " head of its own. Leave it out."
            )
        family = FAMILIES.get(self.kind)
        if family is None:
            messages().print(
                f"{self.folder}: models of the kind {self.kind!r} are untested here; tested are"
                f" bert, {', '.join(FAMILIES)}. How much memory a step needs is not estimated."
            )
        net, fresh = self._loaded(classes, family)
        tokenizer = self.read_tokenizer()
        return HubClassifier(net, pad=tokenizer.pad, reads_types=tokenizer.has_types), fresh

    def _loaded(self, classes: Sequence[str], family: Family | None) -> tuple[nn.Module, list[str]]:
        """Make the model; a classifier for other classes is not used."""
        transformers = load_transformers(self.kind)
        there = dict(self.tensors)
        if family and self.classes != tuple(classes):
            heads = tuple(f"{head}." for head in family.heads)
            there = {name: value for name, value in there.items() if not name.startswith(heads)}
        self.config.id2label = dict(enumerate(classes))
        self.config.label2id = {name: i for i, name in enumerate(classes)}
        kind = transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(self.config)]
        net, report = kind.from_pretrained(
            None,
            config=self.config,
            state_dict=there,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
        mismatched = {name: shapes for name, *shapes in report["mismatched_keys"]}
        fresh = sorted({*report["missing_keys"], *mismatched})
        if family:
            self._refuse_mismatched(mismatched)
            self._refuse_missing([name for name in fresh if name.split(".")[0] not in family.heads])
        return net.float(), fresh

    def _refuse_mismatched(self, shapes: Mapping[str, Sequence[Sequence[int]]]) -> None:
        for name, (there, asked) in shapes.items():
            raise UserError(
                f"{self.folder}: {name} has the shape {list(there)}, but {CONFIG} asks for"
                f" {list(asked)}."
            )

    def _refuse_missing(self, names: Sequence[str]) -> None:
        if names:
            raise UserError(
                f"{self.folder} lacks {len(names)} of the model's tensors: {listed(names)}."
            )

    def released(self) -> "HubCheckpoint":
        """Return it without its tensors: a model has copies of its own."""
        return replace(self, tensors={})

    def write(
        self,
        model: nn.Module,
        folder: Path,
        *,
        classes: Sequence[str],
        without: Collection[str] = (),
    ) -> None:
        """Write a trained model as transformers does, with the tokenizer's own files."""
        assert isinstance(model, HubClassifier)
        assert len(classes) == len(self.config.id2label)
        left_out = {name.removeprefix("net.") for name in without}
        tensors = {n: t for n, t in model.net.state_dict().items() if n not in left_out}
        with naming_the_path(folder):
            cast("Any", model.net).save_pretrained(folder, state_dict=tensors)
            for name in TOKENIZER_FILES:
                if (self.folder / name).is_file():
                    replace_file(folder / name, (self.folder / name).read_bytes())


def read_hub(folder: Path) -> HubCheckpoint:
    """Read a folder in the hub's layout whose model is of another kind than BERT."""
    config = _read_config(folder)
    need_memory_for(_parameters(config), trains=False, origin=str(folder / CONFIG))
    path = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if path is None:
        raise UserError(f"{folder} holds no weights: neither {' nor '.join(WEIGHTS)} is there.")
    content = read_sealed(path)
    parts = [read_sealed(folder / CONFIG), content]
    parts += [read_sealed(folder / name) for name in TOKENIZER_FILES if (folder / name).is_file()]
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
    return HubCheckpoint(folder, config, decode_tensors(content, path), digest.hexdigest())


def load_transformers(kind: str) -> ModuleType:
    """Import transformers without its progress bars; say what to do if it is not there."""
    try:
        import transformers
    except ImportError:
        raise UserError(
            f"a model of the kind {kind!r} needs transformers: pip install 'attnlab[hub]'. BERT"
            " needs nothing."
        ) from None
    quiet: Any = transformers.utils.logging
    quiet.set_verbosity_error()
    quiet.disable_progress_bar()
    return transformers


def _read_config(folder: Path) -> Any:
    """Read config.json; refuse a kind that transformers does not know, or that cannot classify."""
    transformers = load_transformers(folder.name)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # whatever a configuration may be wrong in
        reason = str(error).partition("\n")[0]
        raise UserError(f"{folder / CONFIG} is refused by transformers: {reason}") from None
    if type(config) not in transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise UserError(
            f"{folder / CONFIG}: transformers has no classifier of the kind"
            f" {config.model_type!r}. Tested are bert, {', '.join(FAMILIES)}."
        )
    return config


def _parameters(config: Any) -> Mapping[str, int]:
    """Count the parameters, roughly, by the sizes of config.json."""
    width, layers = int(config.hidden_size), int(config.num_hidden_layers)
    rows = int(config.vocab_size)
    return {
        f"num_hidden_layers = {layers} with hidden_size = {width}": 12 * layers * width**2,
        f"vocab_size = {rows} with hidden_size = {width}": rows * width,
    }
