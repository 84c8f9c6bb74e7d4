"""A run's model, GPT or encoder, that reads a typed text and keeps what its layers were given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from attnlab.data.stream_decoding import HALF_A_CHARACTER, StreamDecoder
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError
from attnlab.models.attention_maps import LayerLook, encoder_layers, gpt_layers
from attnlab.recipes.classify.predict_texts import TextSession
from attnlab.recipes.knowledge.opened import OpenedModel
from attnlab.recipes.knowledge.write_settings import check_prompt
from attnlab.training.hardware import Hardware

MOST_TOKENS = 1024
"""Of a text; a head has as many numbers as the square of it."""


@dataclass(frozen=True)
class ReadText:
    """A text as a model has read it, and the model's layers."""

    ids: Sequence[int]
    tokens: Sequence[str]
    layers: Sequence[LayerLook]
    is_cut: bool
    """Whether the model has read only the beginning of the text."""


@dataclass(frozen=True)
class Reader:
    """A model, and how it reads a text or a pair of them."""

    model: nn.Module
    hardware: Hardware
    read: Callable[[str, str | None], ReadText]
    is_causal: bool


def reader_of(opened: OpenedModel | TextSession) -> Reader:
    """Let a model that is loaded read texts."""
    if isinstance(opened, OpenedModel):
        read = partial(_read_by_gpt, opened)
        return Reader(opened.lm.model, opened.hardware, read, is_causal=True)
    read = partial(_read_by_encoder, opened)
    return Reader(opened.classifier.model, opened.hardware, read, is_causal=False)


def _read_by_gpt(opened: OpenedModel, text: str, pair: str | None) -> ReadText:
    if pair is not None:
        raise UserError("a language model reads one text: leave out the second.")
    check_prompt(text)
    model, tokenizer = opened.lm.model, opened.lm.tokenizer
    ids = tokenizer.encode(text)
    most = min(model.max_len, MOST_TOKENS)
    layers = gpt_layers(model, _row(ids[:most], opened.hardware))
    return ReadText(ids[:most], _texts(tokenizer, ids[:most]), layers, len(ids) > most)


def _texts(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """Return what each token adds to the text; a token that ends inside a character says so."""
    decoder = StreamDecoder(tokenizer, ids[:1])
    rest = [decoder.take(token) or HALF_A_CHARACTER for token in ids[1:]]
    return [tokenizer.decode(ids[:1]), *rest]


def _read_by_encoder(session: TextSession, text: str, pair: str | None) -> ReadText:
    classifier, hardware = session.classifier, session.hardware
    row = classifier.row(session.example(text, pair))
    ids, types = row.tokens[:MOST_TOKENS], row.types[:MOST_TOKENS]
    layers = encoder_layers(classifier.model, _row(ids, hardware), _row(types, hardware))
    is_cut = len(row.tokens) > len(ids) or session.is_cut(text, pair)
    return ReadText(ids, classifier.tokenizer.pieces(ids), layers, is_cut)


def _row(numbers: Sequence[int], hardware: Hardware) -> Tensor:
    return torch.tensor([list(numbers)], device=hardware.device)
