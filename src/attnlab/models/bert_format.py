"""BERT in the hub's layout: config.json, vocab.txt and tensors under transformers' names.

Read with or without ``bert.`` in front, a pooler, heads, or TensorFlow's gamma and beta; written as
transformers writes it. Nothing of transformers is loaded.
"""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from attnlab.assets.tensors import decode_tensors
from attnlab.attention.contract import check_heads
from attnlab.config import from_dict
from attnlab.data.text_files import read_text
from attnlab.data.wordpiece import WordPiece
from attnlab.errors import UserError
from attnlab.models.bert import BertForCLSMLM, BertForSequenceClassification
from attnlab.models.bert_names import hub_name, listed, rename_tensors
from attnlab.models.parameter_counts import bert_parameters, need_memory_for
from attnlab.models.sizes import BertSize
from attnlab.runs.files import naming_the_path, parse_object, replace_file, to_json
from attnlab.runs.manifest import read_sealed

CONFIG, VOCABULARY, TOKENIZER = "config.json", "vocab.txt", "tokenizer_config.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
KEYS = {
    "vocab_size": "vocab_size",
    "d_model": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_layers": "num_hidden_layers",
    "d_mlp": "intermediate_size",
    "max_len": "max_position_embeddings",
    "n_types": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "activation": "hidden_act",
    "layer_norm_eps": "layer_norm_eps",
    "initial_std": "initializer_range",
}
"""Our sizes, and what config.json calls them."""
REQUIRED = ("vocab_size", "d_model", "n_heads", "n_layers", "d_mlp")
ALSO_CALLED = {"gelu_pytorch_tanh": "gelu_new"}
"""Other names of activations that we have."""
CAPITAL = re.compile(r"^[^\[\n]*[A-Z]", re.MULTILINE)
"""In a token that is text; [CLS] and its like are not."""
PADDED_TO = 8
"""Embedding tables are sometimes rounded up to a multiple of it, for speed."""
MOST_PADDING = 128
CLASSIFIER = "classifier."
HEADS = ("body.pooler.", CLASSIFIER, "masked.")
"""What a checkpoint need not have: it is then newly initialized."""


@dataclass(frozen=True)
class Pretrained:
    """A checkpoint: its size, its tensors under our names, and where it came from.

    Implements ``models.encoder.EncoderCheckpoint``.
    """

    size: BertSize
    tensors: Mapping[str, Tensor]
    folder: Path
    sha256: str
    """Of config.json, vocab.txt, the file of tensors, and how texts are put into lower case."""
    classes: tuple[str, ...] = ()
    """The classes of its classifier, if it has one and names them."""
    lowercase: bool = True
    """Whether texts are put into lower case before they are cut into tokens."""

    fills_in = True

    @property
    def vocabulary(self) -> Path:
        """The file with one token per line."""
        return self.folder / VOCABULARY

    @property
    def max_len(self) -> int:
        """Positions that it has vectors for."""
        return self.size.max_len

    @property
    def tells_pairs_apart(self) -> bool:
        """Whether it has a token type for a second text."""
        return self.size.n_types > 1

    def read_tokenizer(self) -> WordPiece:
        """Read the tokens; they must be as many as the table has rows."""
        words = WordPiece.read(self.vocabulary, lowercase=self.lowercase)
        rows = self.size.vocab_size
        is_padded = rows % PADDED_TO == 0 and 0 < rows - len(words) < MOST_PADDING
        if len(words) != rows and not is_padded:
            raise UserError(
                f"{self.vocabulary} has {len(words):,} tokens, but the embedding table has"
                f" {rows:,} rows: they do not belong together. Put the model's own vocab.txt there."
            )
        return words

    def need_memory(self) -> None:
        """Refuse to train what cannot fit into memory."""
        need_memory_for(bert_parameters(self.size), trains=True, origin=str(self.folder))

    def new_model(
        self, classes: Sequence[str], *, pooler: bool, fills_in: bool
    ) -> tuple[BertForSequenceClassification, list[str]]:
        """Return a classifier with these weights, and the names of those that are new."""
        kind = BertForCLSMLM if fills_in else BertForSequenceClassification
        model = kind(self.size, len(classes), pooler=pooler)
        if any(tensor.dtype == torch.float64 for tensor in self.tensors.values()):
            model.double()  # or reading the weights would round them
        return model, [hub_name(name) for name in load_pretrained(model, self, classes=classes)]

    def released(self) -> "Pretrained":
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
        """Write a trained model as transformers would."""
        write_bert(model, self, folder, classes=classes, without=without)


def read_bert(folder: Path) -> Pretrained:
    """Read a folder in the hub's layout; a tensor that does not belong there is named."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} with a model.")
    path = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if path is None:
        raise UserError(f"{folder} holds no weights: neither {' nor '.join(WEIGHTS)} is there.")
    size = read_size(folder / CONFIG)
    need_memory_for(bert_parameters(size), trains=False, origin=str(folder / CONFIG))
    if not (folder / VOCABULARY).is_file():
        raise UserError(f"{folder} has no {VOCABULARY}, which says what the tokens are.")
    content = read_sealed(path)
    tensors = rename_tensors(decode_tensors(content, path), path)
    _refuse_more_layers(size, tensors, folder)
    lowercase = is_lowercase(folder)
    config, vocabulary = (read_sealed(folder / name) for name in (CONFIG, VOCABULARY))
    sha256 = _sha256(config, vocabulary, content, str(lowercase).encode())
    classes = _classes(_object(folder / CONFIG))
    return Pretrained(size, tensors, folder, sha256, classes, lowercase)


def read_size(path: Path) -> BertSize:
    """Read config.json; a model of another kind, or with parts we do not have, is refused."""
    config = _object(path)
    kind = config.get("model_type", "bert")
    if kind != "bert":
        raise UserError(f"{path}: model_type is {kind!r}; only 'bert' is supported here.")
    unusual = {"position_embedding_type": "absolute", "is_decoder": False}
    for key, usual in unusual.items():
        if config.get(key, usual) != usual:
            raise UserError(f"{path}: {key} is {config[key]!r}; only {usual!r} is supported.")
    missing = [KEYS[name] for name in REQUIRED if KEYS[name] not in config]
    if missing:
        raise UserError(f"{path} does not say {', '.join(missing)}.")
    if config.get(KEYS["activation"]) in ALSO_CALLED:
        config[KEYS["activation"]] = ALSO_CALLED[config[KEYS["activation"]]]
    size = BertSize()
    for ours, there in KEYS.items():
        if there in config:
            checked = from_dict(BertSize, {ours: config[there]}, origin=f"{path}, {there}")
            size = replace(size, **{ours: getattr(checked, ours)})
    check_heads(size.d_model, size.n_heads)
    return size


def is_lowercase(folder: Path) -> bool:
    """Say whether texts are put into lower case; if no file says so, the vocabulary shows it."""
    path = folder / TOKENIZER
    said = _object(path).get("do_lower_case") if path.is_file() else None
    if said is None:
        return not CAPITAL.search(read_text(folder / VOCABULARY))
    if not isinstance(said, bool):
        raise UserError(f"{path}: do_lower_case is {said!r}; write true or false, without quotes.")
    return said


def load_pretrained(
    model: nn.Module, pretrained: Pretrained, *, classes: Sequence[str] = ()
) -> list[str]:
    """Give a model its weights; return the names of those that stay as initialized.

    Only heads may be missing. A classifier is not used if it has another number of classes, or
    other classes than ``classes``, if these are given. One with the same names must fit.
    """
    wanted, there = model.state_dict(), dict(pretrained.tensors)
    may_differ = () if classes else CLASSIFIER
    if classes and pretrained.classes != tuple(classes):
        there = {name: value for name, value in there.items() if not name.startswith(CLASSIFIER)}
    fresh = [
        name
        for name, value in wanted.items()
        if name.startswith(HEADS)
        and (
            name not in there or (name.startswith(may_differ) and there[name].shape != value.shape)
        )
    ]
    missing = [name for name in wanted if name not in there and name not in fresh]
    if missing:
        raise UserError(
            f"{pretrained.folder} lacks {len(missing)} of the model's tensors:"
            f" {listed([hub_name(name) for name in missing])}."
        )
    for name in wanted.keys() - set(fresh):
        if there[name].shape != wanted[name].shape:
            raise UserError(
                f"{pretrained.folder}: {hub_name(name)} has the shape {list(there[name].shape)},"
                f" but {CONFIG} asks for {list(wanted[name].shape)}."
            )
    model.load_state_dict({name: there[name] for name in wanted if name not in fresh}, strict=False)
    return fresh


def write_bert(
    model: nn.Module,
    pretrained: Pretrained,
    folder: Path,
    *,
    classes: Collection[str] = (),
    without: Collection[str] = (),
) -> None:
    """Write a model trained from a checkpoint as transformers would; both can open it."""
    size = pretrained.size
    with naming_the_path(folder):
        folder.mkdir(parents=True, exist_ok=True)
    plain = {name: value for name, value in model.state_dict().items() if name not in without}
    tensors = {hub_name(name): value for name, value in plain.items()}
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    # transformers' classifier reads a pooler: ours without one is no such model
    pooled, masked = "bert.pooler.dense.weight" in tensors, "cls.predictions.bias" in tensors
    classifies = pooled and "classifier.weight" in tensors
    kind = "ForSequenceClassification" if classifies else "ForMaskedLM" if masked else "Model"
    config: dict[str, Any] = {there: getattr(size, ours) for ours, there in KEYS.items()}
    config |= {"model_type": "bert", "architectures": [f"Bert{kind}"], "pad_token_id": 0}
    if classes:
        config["id2label"] = {str(i): name for i, name in enumerate(classes)}
        config["label2id"] = {name: i for i, name in enumerate(classes)}
    replace_file(folder / CONFIG, to_json(config))
    replace_file(folder / WEIGHTS[0], safetensors.torch.save(tensors, {"format": "pt"}))
    lowercase = {"do_lower_case": pretrained.lowercase}
    replace_file(folder / TOKENIZER, to_json({"tokenizer_class": "BertTokenizer", **lowercase}))
    replace_file(folder / VOCABULARY, pretrained.vocabulary.read_bytes())


def _object(path: Path) -> dict[str, Any]:
    return parse_object(read_sealed(path), path)


def _sha256(*parts: bytes) -> str:
    """Hash parts one after the other."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _classes(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the classes in order, or none if the configuration has none."""
    names = config.get("id2label")
    if not isinstance(names, dict):
        return ()
    numbers = [str(i) for i in range(len(names))]
    return tuple(str(names[i]) for i in numbers) if names.keys() == set(numbers) else ()


def _refuse_more_layers(size: BertSize, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Refuse layers beyond those of the configuration: they would be left out silently."""
    numbers = {int(name.split(".")[2]) for name in tensors if name.startswith("body.layers.")}
    extra = sorted(n for n in numbers if n >= size.n_layers)
    if extra:
        names = [hub_name(n) for n in tensors if n.startswith(f"body.layers.{extra[0]}.")]
        raise UserError(
            f"{folder}: {CONFIG} says {KEYS['n_layers']} = {size.n_layers}, but the weights have"
            f" layer {extra[0]} as well ({listed(names)})."
        )
