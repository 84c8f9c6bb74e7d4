"""Continues a prompt with a saved language model, token by token."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from attnlab.models.decoding import Choose, take_likeliest, truncated_sampler, write_on
from attnlab.randomness import rng
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.saved import open_saved
from attnlab.recipes.knowledge.write_settings import WriteSettings, check_prompt
from attnlab.recipes.opening import computing_like
from attnlab.training.inference import inference

HALF_A_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""What bytes decode to that are not a whole character yet."""


@dataclass(frozen=True)
class Passage:
    """What a model wrote after a prompt."""

    text: str
    tokens: int
    ended: bool
    """Whether the model ended it, with the sentinel."""


class WritingSession:
    """A saved language model that continues prompts."""

    def __init__(self, path: Path, *, corpus: str = "", accept_changed_code: bool = False) -> None:
        saved = open_saved(path, corpus=corpus, accept_changed_code=accept_changed_code)
        self.warnings = [saved.changed_code] if saved.changed_code else []
        self.hardware = computing_like(saved.run)
        self.lm: LanguageModel = saved.load()
        self.hardware.place(self.lm.model)

    def write(
        self,
        prompt: str,
        settings: WriteSettings,
        *,
        sample: int = 0,
        show: Callable[[str], None] = lambda _: None,
    ) -> Passage:
        """Write one text, and hand on the prompt and then each piece as soon as it is known.

        A sample does not depend on how many there are. The sentinel ends the text unless it comes
        first: there a model that learned from questions begins its answer.
        """
        check_prompt(prompt)
        tokens = self.lm.tokenizer.encode(prompt)
        choose = chooser(settings, sample)
        new: list[int] = []
        ended, shown = False, ""
        show(prompt)
        with inference(self.lm.model, self.hardware):
            for token in write_on(self.lm.model, tokens, max_new=settings.tokens, choose=choose):
                ended = token == self.lm.tokenizer.sentinel and bool(new)
                if ended:
                    break
                new.append(token)
                text = self._text(tokens, new)
                if not text.endswith(HALF_A_CHARACTER):
                    show(text[len(shown) :])
                    shown = text
        text = self._text(tokens, new)
        show(text[len(shown) :])
        return Passage(text, len(new), ended)

    def samples(self, prompt: str, settings: WriteSettings) -> Iterator[Passage]:
        """Write as many texts as the settings say."""
        for sample in range(settings.samples):
            yield self.write(prompt, settings, sample=sample)

    def _text(self, prompt: list[int], new: list[int]) -> str:
        """Decode after the prompt, since a first word would lose its space."""
        decode = self.lm.tokenizer.decode
        return decode([*prompt, *new])[len(decode(prompt)) :]


def chooser(settings: WriteSettings, sample: int) -> Choose:
    """Return what chooses the tokens of a sample."""
    if settings.temperature == 0:
        return take_likeliest
    seed = int(rng(settings.seed, "write", sample).integers(2**63))
    return truncated_sampler(
        torch.Generator().manual_seed(seed),
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
    )
