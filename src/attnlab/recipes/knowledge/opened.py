"""A language model in memory: what is asked, what writes and what is looked at share it."""

from dataclasses import dataclass
from pathlib import Path

from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.saved import Saved, open_saved
from attnlab.recipes.opening import computing_like
from attnlab.training.hardware import Hardware


@dataclass(frozen=True)
class OpenedModel:
    """A saved language model, loaded, and what it computes with."""

    saved: Saved
    lm: LanguageModel
    hardware: Hardware


def open_model(path: Path, *, corpus: str = "", accept_changed_code: bool = False) -> OpenedModel:
    """Load the language model of a run or file, to compute as its run did."""
    saved = open_saved(path, corpus=corpus, accept_changed_code=accept_changed_code)
    hardware = computing_like(saved.run)
    lm = saved.load()
    hardware.place(lm.model)
    return OpenedModel(saved, lm, hardware)
