"""Examines a language model: its size and memory, a sample, and how it reads held-out text.

A model that sees the future reads some windows again without one: what it is worth then is what it
is worth to anyone who writes with it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from rich.console import Console
from torch import Tensor

from attnlab.checks.cost import peak_bytes
from attnlab.checks.leakage import model_leak
from attnlab.data.batches import TokenRow
from attnlab.data.held_out_text import characters_of_rows, held_out_rows
from attnlab.errors import UserError
from attnlab.evaluation.bootstrap import Bootstrap
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE
from attnlab.evaluation.held_out_text import perplexity_of_pairs, text_metrics
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.evaluation.samples import faults_of, words_of
from attnlab.models.gpt import GPT
from attnlab.models.reading import (
    asymmetry_of_scores,
    give_room,
    losses_without_future,
    token_losses,
    weight_on_itself,
)
from attnlab.phases import phase
from attnlab.recipes.attention.settings import ExamineSettings
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.opened import open_model
from attnlab.recipes.knowledge.running_text import RUNNING_TEXT, running_text_parts
from attnlab.recipes.knowledge.saved import file_of
from attnlab.recipes.knowledge.write import WritingSession
from attnlab.recipes.knowledge.write_settings import WriteSettings
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.hardware import Hardware
from attnlab.training.inference import inference

PROMPT = "\n"
BINS = 8
"""Stretches of positions that the loss is averaged over."""
READ_AT_ONCE = 32
LOOKED_AT = 8
"""Windows that attention weights are averaged over."""
MEASURED = 4
"""Windows that the leak meter draws again, at every cut."""


def run_examine(
    job: str,
    settings: ExamineSettings,
    *,
    place: RunPlace,
    console: Console,  # noqa: ARG001 - every job is run alike
) -> Run:
    """Measure a trained model and leave a run with what was found."""
    need(settings.run, "a finished run of knowledge pretrain on plain text")
    files = {"run": file_of(Path(settings.run))}

    def work(run: Run) -> None:
        if not run.finished:
            found = Examination.of(settings).findings()
            close_run(run, {}, splits=Splits({}, inputs=[]), examined=found)

    return run_without_training(job, settings, work, place=place, files=files)


@dataclass(frozen=True)
class Examination:
    """A trained model with the text that it read and the one that it did not."""

    settings: ExamineSettings
    run: Run
    writer: WritingSession
    learned: Sequence[str]
    held_out: str

    @classmethod
    def of(cls, settings: ExamineSettings) -> "Examination":
        """Load the model and both parts of its text."""
        run = Run.open(Path(settings.run))
        if run.config["resolved"].get("objective") != RUNNING_TEXT or "leak" not in run.record:
            raise UserError(
                f"run = {settings.run}: only a run of knowledge pretrain on plain text can be"
                " examined."
            )
        writer = WritingSession(open_model(run.path))
        share = float(run.setting("text_held_out"))
        return cls(settings, run, writer, *running_text_parts(Path(run.setting("corpus")), share))

    @property
    def block(self) -> int:
        """Tokens that the model was trained to read at a time."""
        return int(self.run.setting("objective")["options"].get("block", 128))

    @cached_property
    def rows(self) -> list[TokenRow]:
        """The held-out text in windows of the training length."""
        return held_out_rows(self.held_out, self.writer.lm.tokenizer, block=self.block)

    @cached_property
    def windows(self) -> Tensor:
        """The whole ones among them."""
        return self._whole(self.rows, self.block)

    @phase("examining the model")
    def findings(self) -> dict[str, Any]:
        """Measure everything that a report shows besides the scores."""
        model, hardware = self.writer.lm.model, self.writer.hardware
        written = self.settings.sample_tokens or self.block - len(
            self.writer.lm.tokenizer.encode(PROMPT)
        )
        passage = self.writer.write(PROMPT, WriteSettings(tokens=written))
        found: dict[str, Any] = {
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "step_bytes": self._step_bytes(hardware),
            "sample": passage.text,
            "faults": asdict(faults := faults_of(passage.text, words_of(self.learned)))
            | {"sentence": faults.sentence()},
            "counting_pairs": self._counting_pairs(),
            # at every cut: after training, time is limited, and so is the number of cuts
            "leak": model_leak(model, self.windows[:MEASURED, :-1]).to_dict(),
        }
        with inference(model, hardware):
            if model.shows_weights:
                tokens = self.windows[:LOOKED_AT, :-1]
                found["weight_on_itself"] = weight_on_itself(model, tokens)
                found["asymmetry_of_scores"] = asymmetry_of_scores(model, tokens[:1])
            found |= self._on_the_same_windows(model, leaks=found["leak"]["largest_change"] != 0)
            found["by_position"] = self._by_position(model)
        return found

    def _counting_pairs(self) -> float:
        """Return the perplexity of knowing only how often one token follows another."""
        tokenizer = self.writer.lm.tokenizer
        learned = [tokenizer.encode("\n".join(self.learned))]
        asked = (row.tokens for row in self.rows)
        return perplexity_of_pairs(learned, asked, vocab_size=len(tokenizer))

    def _whole(self, rows: Sequence[TokenRow], length: int) -> Tensor:
        """Return the windows that predict so many tokens; the last one may be shorter."""
        whole = [list(row.tokens) for row in rows if len(row) == length]
        device = next(self.writer.lm.model.parameters()).device
        return torch.tensor(whole, device=device).reshape(len(whole), length + 1)

    def _step_bytes(self, hardware: Hardware) -> int:
        """Measure the memory of a training step, forward and back, at the run's batch size."""
        model = self.writer.lm.model
        count = max(1, int(self.run.setting("batch_tokens")) // self.block)
        tokens = self.windows[:count]
        if not len(tokens):
            raise UserError(
                f"{self.run.setting('corpus')} is too short: its held-out end has no whole window"
                f" of {self.block} tokens. Give a longer text."
            )

        def work() -> None:
            with hardware.autocast():
                logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
            torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)

        return peak_bytes(work)

    def _on_the_same_windows(self, model: GPT, *, leaks: bool) -> dict[str, Any]:
        """Score some windows as in training and, if the model leaks, without what follows them."""
        tokens = self.windows[: self.settings.windows]
        readings = {AS_TRAINED: token_losses}
        if leaks:
            readings[WITHOUT_FUTURE] = losses_without_future
        return {name: self._scored(read(model, tokens)) for name, read in readings.items()}

    def _scored(self, losses: Tensor) -> dict[str, Any]:
        """Score whole windows by the losses of their tokens."""
        counts = characters_of_rows(self.rows[: len(losses)], self.writer.lm.tokenizer)
        table = [
            {"loss": float(loss), "tokens": self.block, "characters": count}
            for loss, count in zip(losses.sum(1), counts, strict=True)
        ]
        estimate = Bootstrap([PERPLEXITY.features([table])], PERPLEXITY.finish).score(0)
        return {
            "windows": len(table),
            "perplexity": estimate.value,
            "interval": list(PERPLEXITY.within_bounds(estimate.interval())),
            **text_metrics(table),
        }

    def _by_position(self, model: GPT) -> list[dict[str, float]]:
        """Average the loss over stretches of positions; nothing where the model cannot read on."""
        length = self.settings.read_to or self.block
        rows = held_out_rows(self.held_out, self.writer.lm.tokenizer, block=length)
        windows = self._whole(rows, length)
        if not len(windows):
            return []
        give_room(model, length)
        parts = range(0, len(windows), READ_AT_ONCE)
        try:
            losses = torch.cat([token_losses(model, windows[i : i + READ_AT_ONCE]) for i in parts])
        except UserError:
            return []  # an attention of its own that ends with its training length
        width = -(-length // BINS)
        return [
            {
                "first": begin + 1,
                "last": min(begin + width, length),
                "loss": float(losses[:, begin : begin + width].mean()),
            }
            for begin in range(0, length, width)
        ]
