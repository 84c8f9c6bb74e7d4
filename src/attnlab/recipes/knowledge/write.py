"""Continues a prompt with a saved language model, token by token."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from attnlab.data.stream_decoding import StreamDecoder
from attnlab.models.decoding import Choose, take_likeliest, truncated_sampler, write_on
from attnlab.randomness import rng
from attnlab.recipes.knowledge.opened import OpenedModel
from attnlab.recipes.knowledge.write_settings import WriteSettings, check_prompt
from attnlab.training.inference import inference


@dataclass(frozen=True)
class Passage:
    """What a model wrote after a prompt."""

    text: str
    tokens: int
    ended: bool
    """Whether the model ended it, with the sentinel."""


class WritingSession:
    """A saved language model that continues prompts."""

    def __init__(self, opened: OpenedModel) -> None:
        saved, self.lm, self.hardware = opened.saved, opened.lm, opened.hardware
        self.warnings = [w for w in (saved.changed_code, saved.unknown_characters) if w]

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
        decoder = StreamDecoder(self.lm.tokenizer, tokens)
        pieces: list[str] = []
        ended = False
        show(prompt)
        with inference(self.lm.model, self.hardware):
            for token in write_on(self.lm.model, tokens, max_new=settings.tokens, choose=choose):
                ended = token == self.lm.tokenizer.sentinel and bool(pieces)
                if ended:
                    break
                pieces.append(decoder.take(token))
                show(pieces[-1])
        rest = decoder.rest()
        show(rest)
        return Passage("".join([*pieces, rest]), len(pieces), ended)

    def samples(self, prompt: str, settings: WriteSettings) -> Iterator[Passage]:
        """Write as many texts as the settings say."""
        for sample in range(settings.samples):
            yield self.write(prompt, settings, sample=sample)


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
