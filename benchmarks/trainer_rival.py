"""The same fine-tuning job twice: our own, and by transformers' Trainer (with peft for LoRA)."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from rich.console import Console
from transformers import (
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from attnlab.data.classes import class_names, stratified
from attnlab.data.labelled_text import read_labelled
from attnlab.data.wordpiece import WordPiece
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import RunPlace
from attnlab.training.settings import Precision
from attnlab.training.step import Stepper, StepResult
from attnlab.tuning.settings import TuningSettings

GROUPED = {"train_sampling_strategy": "group_by_length"}
"""Lets the Trainer put texts of like length together."""


@dataclass(frozen=True)
class Texts:
    """Texts to fine-tune a model on, in a file and encoded."""

    file: Path
    model: Path
    max_len: int
    rows: Sequence[dict[str, Any]]
    n_classes: int


@dataclass(frozen=True)
class FineTuningJob:
    """What is trained and how; the same for both sides."""

    texts: Texts
    epochs: int
    batch: int = 32
    precision: Precision = "auto"
    tuning: str = "full"
    lr: float = 3e-5
    most_steps: int | None = None
    """Stop there; the texts are grouped as if all were trained on."""

    @property
    def steps_per_epoch(self) -> int:
        """Steps over all texts."""
        return -(-len(self.texts.rows) // self.batch)

    @property
    def steps(self) -> int:
        """Steps of the job."""
        all_steps = self.epochs * self.steps_per_epoch
        return min(all_steps, self.most_steps or all_steps)


class Clock(TrainerCallback):
    """Notes when each step ends, of whichever side."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now, self.ends = now, list[float]()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note the time."""
        self.ends.append(self.now())


def draw_texts(source: Path, model: Path, place: Path, *, count: int | None, max_len: int) -> Texts:
    """Draw some texts of a file, or take all, write them into one of their own, and encode them."""
    examples = read_labelled(source, labelled=True)
    if count is not None:
        examples = stratified(examples, count, generator=np.random.default_rng(0))
    file = place / f"{source.stem}-{len(examples)}.jsonl"
    lines = [json.dumps({"text": example.text, "label": example.label}) for example in examples]
    file.write_text("".join(f"{line}\n" for line in lines))
    words, classes = WordPiece.read(model / "vocab.txt"), class_names(examples)
    rows = []
    for example in examples:
        tokens, types = words.pair(words.encode(example.text), None, max_len=max_len)
        label = classes.index(str(example.label))
        rows.append({"input_ids": tokens, "token_type_ids": types, "labels": label})
    return Texts(file, model, max_len, rows, len(classes))


def train_with_trainer(job: FineTuningJob, clock: Clock, options: dict[str, Any]) -> None:
    """Train with the Trainer; nothing is logged, evaluated or saved."""
    torch.manual_seed(0)
    model = _their_model(job)
    with tempfile.TemporaryDirectory() as place:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=place,
                per_device_train_batch_size=job.batch,
                max_steps=job.steps,
                learning_rate=job.lr,
                report_to=[],
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
                use_cpu=True,
                optim="adamw_torch_fused",
                bf16=job.precision == "bfloat16",
                **options,
            ),
            train_dataset=list(job.texts.rows),
            data_collator=DataCollatorWithPadding(_padder(job.texts.model)),
            callbacks=[clock],
        )
        clock.ends.append(clock.now())  # of loading
        trainer.train()


def _their_model(job: FineTuningJob) -> torch.nn.Module:
    """Load the model, and freeze what is not trained."""
    model = BertForSequenceClassification.from_pretrained(
        job.texts.model, num_labels=job.texts.n_classes, dtype=torch.float32
    )
    if job.tuning == "head":
        model.bert.requires_grad_(False)
    if job.tuning == "lora":
        from peft import LoraConfig, get_peft_model

        targets = ["query", "value"]
        config = LoraConfig("SEQ_CLS", r=8, lora_alpha=16, target_modules=targets)
        return get_peft_model(model, config)
    assert job.tuning in ("full", "head", "lora"), job.tuning
    return model


def _padder(model: Path) -> PreTrainedTokenizerFast:
    """Return a tokenizer that is there to pad rows."""
    from tokenizers import Tokenizer, models

    tokens = (model / "vocab.txt").read_text().split("\n")[:-1]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]")


def train_with_ours(job: FineTuningJob, clock: Clock) -> None:
    """Run our job, from reading the texts to writing the run; it evaluates and logs as little."""
    base = ClassifySettings()
    training = replace(
        base.training,
        length=f"{job.steps} steps",
        optimizer=replace(base.training.optimizer, lr=job.lr),
        precision=job.precision,
        threads=torch.get_num_threads(),
        log_every=job.steps_per_epoch,
        save_every=10**6,
        evaluate_every=0,
    )
    settings = replace(
        base,
        model=str(job.texts.model),
        train=str(job.texts.file),
        dev_share=0.0,
        batch_size=job.batch,
        max_len=job.texts.max_len,
        tuning=TuningSettings(job.tuning),
        training=training,
    )
    take = Stepper.take

    def noted(stepper: Stepper, step: int, **given: Any) -> StepResult:
        if not clock.ends:
            clock.ends.append(clock.now())
        result = take(stepper, step, **given)
        clock.on_step_end()
        return result

    with (
        tempfile.TemporaryDirectory() as place,
        mock.patch.object(Stepper, "take", noted),
    ):
        console = Console(quiet=True)
        find_job("classify-train").run(settings, place=RunPlace(Path(place)), console=console)
