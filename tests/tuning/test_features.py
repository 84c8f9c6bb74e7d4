"""Head tuning on stored features is head tuning: the same steps, with one pass of the body."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from rich.console import Console
from tunable import SETTINGS, bert, stop_at, task_of, text_rows, trained, tune

from attnlab.data.epochs import Epochs, rows_per_batch
from attnlab.errors import StoppedError
from attnlab.models.bert import Bert, BertForSequenceClassification
from attnlab.models.classification import class_probabilities
from attnlab.runs.directory import RunPlace
from attnlab.training.loop import train
from attnlab.training.session import THREADS, open_session
from attnlab.training.task import Batch, Evaluation, Task
from attnlab.tuning.features import (
    HeadTraining,
    collate_features,
    encode_once,
    feature_probabilities,
)
from attnlab.tuning.movement import check_movement, fingerprints

ROWS = text_rows()


def head_trained(
    folder: Path, model: BertForSequenceClassification, settings: Any = SETTINGS
) -> tuple[Any, dict[str, Any]]:
    """Train the head on features of the same rows that ``task_of`` gives."""
    console, place = Console(file=StringIO()), RunPlace(folder, "tuned")
    with open_session("head", settings, settings, place=place, console=console) as session:
        rows = encode_once(model, ROWS, session)
        epochs = Epochs(lambda _: rows, size=rows_per_batch(4), seed=0)

        def evaluate() -> Evaluation:
            best = feature_probabilities(model, rows).argmax(1)
            targets = torch.tensor([row.target for row in rows])
            accuracy = float((best == targets).double().mean())
            return Evaluation(accuracy, {"train_accuracy": accuracy})

        task = HeadTraining(model, epochs, evaluate=evaluate)
        assert isinstance(task, Task)
        return train(task, settings, session), session.run.config["resolved"]


@pytest.mark.parametrize("pooler", [False, True])
def test_without_dropout_the_weights_are_those_of_training_on_the_texts(
    pooler: bool, tmp_path: Path
) -> None:
    on_texts = tune(bert(dropout=0.0, pooler=pooler), "head")
    trained(tmp_path / "texts", task_of(on_texts.model))
    on_features = tune(bert(dropout=0.0, pooler=pooler), "head")
    before = fingerprints(on_features.model)
    state, _ = head_trained(tmp_path / "features", on_features.model)
    assert check_movement(on_features, before, steps=state.step).still == ()
    for name, value in on_texts.state().items():
        torch.testing.assert_close(on_features.state()[name], value, atol=1e-12, rtol=0)


def test_the_body_reads_every_text_once_whatever_the_epochs(tmp_path: Path) -> None:
    model, read = tune(bert(), "head").model, []
    summary = Bert.summary

    def counted(body: Bert, tokens: Any, *given: Any) -> Any:
        assert not body.training
        read.extend(tokens.tolist())
        return summary(body, tokens, *given)

    with mock.patch.object(Bert, "summary", counted):
        settings = replace(SETTINGS, length="4 epochs", evaluate_every=1)
        state, resolved = head_trained(tmp_path, model, settings)
    assert len(read) == len(ROWS)
    assert state.step == 12
    assert resolved[THREADS] == 1


def features_of(folder: Path, model: BertForSequenceClassification) -> Any:
    console, place = Console(file=StringIO()), RunPlace(folder, "tuned")
    with open_session("head", SETTINGS, SETTINGS, place=place, console=console) as session:
        return encode_once(model, ROWS, session)


def test_probabilities_from_features_are_those_from_texts(tmp_path: Path) -> None:
    model = tune(bert(dropout=0.3, pooler=True), "head").model
    rows = features_of(tmp_path, model)
    assert model.training, "the model is left as it was found"
    model.eval()
    with torch.no_grad():
        table = feature_probabilities(model, rows)
        torch.testing.assert_close(table, class_probabilities(model, ROWS), atol=1e-12, rtol=0)
    assert [(row.id, row.target, len(row)) for row in rows] == [
        (row.id, row.targets[0], len(row)) for row in ROWS
    ]


def test_features_that_keep_dropout_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the body is not put into evaluation."""
    monkeypatch.setattr("attnlab.tuning.features.inference", lambda *_: torch.no_grad())
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        test_probabilities_from_features_are_those_from_texts(tmp_path)


def test_a_stopped_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    whole = tune(bert(), "head").model
    head_trained(tmp_path / "whole", whole)
    with stop_at(3), pytest.raises(StoppedError, match="stopped after step 3"):
        head_trained(tmp_path / "cut", tune(bert(), "head").model)
    resumed = tune(bert(), "head").model
    head_trained(tmp_path / "cut", resumed)
    for name, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name


def test_parts_of_a_batch_are_the_batch(tmp_path: Path) -> None:
    rows = features_of(tmp_path, tune(bert(), "head").model)
    batch = collate_features(rows)
    assert isinstance(batch, Batch)
    parts = [batch.part(i, 2) for i in range(2)]
    assert [name for part in parts for name in part.ids] == [row.id for row in ROWS]
    assert torch.equal(torch.cat([part.features for part in parts]), batch.features)
    assert batch.tokens == sum(part.tokens for part in parts) == sum(map(len, ROWS))
    n = float(len(ROWS))
    assert batch.weights == {"classification": n, "train_accuracy": n}
    unlabelled = [*rows[:2], replace(rows[2], target=-100)]
    assert collate_features(unlabelled).weights["classification"] == 2.0
