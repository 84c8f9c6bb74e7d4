"""One step: parts and processes cut the batch, the result is that of the whole."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from toy import BATCH, ToyTask, tensors, toy_stepper

from attnlab.training.settings import OptimizerSettings, TrainingSettings
from attnlab.training.step import NonFiniteError, Stepper
from attnlab.training.task import Term

PLAIN = TrainingSettings(optimizer=OptimizerSettings("sgd", lr=0.1), clip=0, seed=3)


def after_three_steps(task: ToyTask, settings: TrainingSettings) -> dict[str, torch.Tensor]:
    stepper = toy_stepper(task, settings)
    for step in (1, 2, 3):
        stepper.take(step)
    return {name: p.detach().clone() for name, p in task.model.named_parameters()}


@pytest.mark.parametrize("parts", [2, 3, BATCH, BATCH + 4], ids=lambda n: f"{n} parts")
def test_accumulating_parts_equals_the_whole_batch(parts: int) -> None:
    whole = after_three_steps(ToyTask(), PLAIN)
    cut = after_three_steps(ToyTask(), replace(PLAIN, accumulate=parts))
    for name, expected in whole.items():
        torch.testing.assert_close(cut[name], expected, atol=1e-12, rtol=0)


def test_the_loss_is_the_sum_of_scaled_means_over_the_whole_batch() -> None:
    task = ToyTask()
    stepper = toy_stepper(task, replace(PLAIN, accumulate=2))
    batch = task.batch(1)
    terms = task.loss(batch)
    square = float(terms["square"].sum.detach()) / BATCH
    even = float(terms["even"].sum.detach()) / batch.weights["even"]
    result = stepper.take(1)
    assert result.terms == pytest.approx({"square": square, "even": even}, rel=1e-12)
    assert result.loss == pytest.approx(square + 0.5 * even, rel=1e-12)
    assert result.tokens == BATCH


def test_dividing_each_part_by_its_own_weight_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: every part's mean counts alike, as in many hand-written loops."""
    whole = after_three_steps(ToyTask(), PLAIN)
    add_gradients = Stepper._add_gradients

    def by_its_own_weight(self: Stepper, part: Any, _: object, sums: dict[str, float]) -> float:
        halved = {name: 2 * weight for name, weight in part.weights.items()}
        return add_gradients(self, part, halved, sums)

    monkeypatch.setattr(Stepper, "_add_gradients", by_its_own_weight)
    cut = after_three_steps(ToyTask(), replace(PLAIN, accumulate=2))
    assert any(float((cut[n] - whole[n]).abs().max()) > 1e-3 for n in whole)


def test_a_loss_that_miscounts_its_weight_is_refused() -> None:
    task = ToyTask()
    right = task.loss
    task.loss = lambda part: {k: Term(t.sum, t.weight + 1) for k, t in right(part).items()}  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match=r"weighs 5.0 for 'square', its loss says 6.0"):
        toy_stepper(task, PLAIN).take(1)


def test_dropout_depends_on_the_seed_the_step_and_the_part_alone() -> None:
    task = ToyTask(dropout=0.5)
    frozen = replace(PLAIN, optimizer=OptimizerSettings("sgd", lr=1e-30))
    first = toy_stepper(task, frozen).take(4).loss
    torch.rand(17)  # whatever else has drawn numbers
    assert toy_stepper(task, frozen).take(4).loss == first
    assert toy_stepper(task, replace(frozen, seed=4)).take(4).loss != first
    task.batch = lambda step: ToyTask().batch(4)  # type: ignore[method-assign] # noqa: ARG005
    assert toy_stepper(task, frozen).take(5).loss != first


def test_clipping_limits_the_norm_of_the_dense_gradients() -> None:
    task = ToyTask(sparse=True)
    stepper = toy_stepper(task, replace(PLAIN, clip=0.01))
    assert stepper.take(1).gradient_norm > 0.01
    squares = [float((p.grad**2).sum()) for p in stepper.optimization.dense if p.grad is not None]
    assert math.sqrt(sum(squares)) == pytest.approx(0.01, rel=1e-3)


def test_a_parameter_without_a_gradient_is_left_alone() -> None:
    task = ToyTask()
    before = task.model.get_parameter("unused.weight").detach().double().clone()
    adamw = replace(PLAIN, optimizer=OptimizerSettings("adamw", lr=0.1))
    assert torch.equal(after_three_steps(task, adamw)["unused.weight"], before)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [("loss", "the loss is nan"), ("gradient", "a gradient is not finite")],
)
def test_a_non_finite_step_names_the_examples_and_moves_nothing(
    kind: str, message: str, sparse: bool
) -> None:
    healthy = ToyTask(sparse=sparse)
    guilty = healthy.batch(3).ids[2]
    clean = toy_stepper(healthy, PLAIN)
    task = ToyTask(sparse=sparse, poison={guilty: kind})
    hurt = toy_stepper(task, PLAIN)
    steps = [step for step in (1, 2, 3) if guilty not in task.batch(step).ids]
    for step in steps:
        clean.take(step)
        hurt.take(step)
    before = tensors(task.model)
    with pytest.raises(NonFiniteError, match=rf"step 3: {message}.* 1 of .* 5 examples: {guilty}"):
        hurt.take(3)
    for name, parameter in task.model.named_parameters():
        assert torch.equal(parameter.detach(), before[name]), name
