"""A small BERT and a small GPT with something to learn, for tests over every tuning method."""

import signal
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from rich.console import Console
from torch import Tensor, nn

from attnlab.attention.settings import AttentionSettings
from attnlab.data.batches import TokenRow
from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.data.text_batches import TextRow
from attnlab.models.bert import BertForSequenceClassification
from attnlab.models.classification import Classification
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import BertSize
from attnlab.randomness import rng
from attnlab.runs.directory import RunPlace
from attnlab.training.loop import TrainingState, train
from attnlab.training.session import open_session
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from attnlab.training.step import Stepper
from attnlab.training.task import Task
from attnlab.tuning import TUNING
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import Tuned, apply_tuning

V, D, H, L, M, T, C = 31, 12, 3, 2, 20, 11, 5
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "lora": {"rank": 2, "dropout": 0.1, "targets": ["query", "value", "up"]},
    "prompt": {"length": 4},
    "prefix": {"length": 4},
}
"""Small sizes that differ from each other and from the defaults."""
FAMILIES = ("bert", "gpt")
CASES = [(f, m) for f in FAMILIES for m in TUNING.names() if (f, m) != ("gpt", "head")]
"""Every method for both families; head tuning has no meaning for a language model."""
SETTINGS = TrainingSettings(
    length="5 steps",
    optimizer=OptimizerSettings("adamw", lr=1e-2, options={"weight_decay": 0.1}),
    schedule=ScheduleSettings("linear"),
    precision="float64",
    threads=1,
    log_every=1,
    save_every=2,
)


def bert(*, dropout: float = 0.1, pooler: bool = False) -> BertForSequenceClassification:
    torch.manual_seed(0)
    size = BertSize(V, D, H, L, M, T, dropout=dropout, attention_dropout=dropout)
    return shaken(BertForSequenceClassification(size, C, pooler=pooler))


def gpt(*, dropout: float = 0.1, attention: str = "dot_product", positions: str = "learned") -> GPT:
    torch.manual_seed(0)
    settings = AttentionSettings(attention, positions=positions)
    sizes = {"d_model": D, "n_heads": H, "n_layers": L}
    return shaken(GPT(V, T, **sizes, dropout=dropout, attention=settings))


def shaken(model: Any) -> Any:
    """Give every parameter, biases and gains too, another value than the initial one."""
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.double()


MODELS: Mapping[str, Callable[..., Any]] = {"bert": bert, "gpt": gpt}


def tune(model: nn.Module, method: str, **options: Any) -> Tuned:
    given = {**OPTIONS.get(method, {}), **options}
    return apply_tuning(model, TuningSettings(method, given), seed=3)


def text_rows(count: int = 9) -> list[TextRow]:
    dice = rng(0, "texts")
    rows = []
    for i in range(count):
        tokens = dice.integers(1, V, size=dice.integers(3, T + 1)).tolist()
        rows.append(TextRow(f"text {i}", tokens, [j % 2 for j in range(len(tokens))], [i % C]))
    return rows


def task_of(model: nn.Module) -> Task[Any]:
    """Let BERT learn the classes of texts, and GPT the texts."""
    size = rows_per_batch(4)
    if isinstance(model, GPT):
        rows = [TokenRow(row.id, row.tokens) for row in text_rows()]
        return NextToken(model, Epochs(lambda _: rows, size=size, seed=0))
    return Classification(model, Epochs(lambda _: text_rows(), size=size, seed=0))


def trained(folder: Path, task: Task[Any], settings: TrainingSettings = SETTINGS) -> TrainingState:
    console, place = Console(file=StringIO(), width=200), RunPlace(folder, "tuned")
    with open_session("tuning", settings, settings, place=place, console=console) as session:
        return train(task, settings, session)


def outputs(model: nn.Module) -> Tensor:
    """Return scores for rows of all lengths, the shorter ones padded."""
    torch.manual_seed(1)
    tokens = torch.randint(1, V, (3, T))
    if isinstance(model, GPT):
        return model(tokens)
    types = (torch.arange(T) % 2).expand(3, -1)
    padding = torch.arange(T) < torch.tensor([[T], [4], [2]])
    return model(tokens, types, padding)


def stop_at(step: int) -> Any:
    """Send this process a signal in the middle of a step."""
    take = Stepper.take

    def wrapped(stepper: Stepper, at: int, **keywords: Any) -> Any:
        if at == step:
            signal.raise_signal(signal.SIGUSR1)
        return take(stepper, at, **keywords)

    return mock.patch.object(Stepper, "take", wrapped)
