"""Every optimizer: it learns, it resumes exactly, and it treats each kind of parameter rightly."""

import json
from dataclasses import replace

import pytest
import torch
from torch import nn
from toy import ToyTask, toy_stepper

from attnlab.errors import UserError
from attnlab.training.optimization import Optimization
from attnlab.training.optimizers import OPTIMIZERS
from attnlab.training.optimizers.muon import Muon, orthogonalize
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings

DENSE = [name for name in OPTIMIZERS.names() if name != "sparse_adam"]
RATES = {"sgd": 0.05, "adagrad": 0.1, "muon": 0.02}
COSINE = ScheduleSettings("cosine", warmup=3)
SPARSE = TrainingSettings(schedule=COSINE)


def settings_for(name: str) -> TrainingSettings:
    optimizer = OptimizerSettings(name, lr=RATES.get(name, 0.01))
    return TrainingSettings(optimizer=optimizer, schedule=COSINE)


def test_the_optimizers_of_the_house_are_listed() -> None:
    assert {"adagrad", "adam", "adamw", "muon", "sgd", "sparse_adam"} <= set(OPTIMIZERS.names())


@pytest.mark.parametrize("name", DENSE)
def test_it_lowers_the_loss(name: str) -> None:
    task = ToyTask()
    stepper = toy_stepper(task, replace(settings_for(name), schedule=ScheduleSettings()), steps=60)
    losses = [stepper.take(step).loss for step in range(1, 61)]
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])


@pytest.mark.parametrize("sparse", [False, True], ids=["dense table", "sparse table"])
@pytest.mark.parametrize("name", DENSE)
def test_its_state_survives_saving_and_loading_bit_for_bit(name: str, sparse: bool) -> None:
    check_state_survives(settings_for(name), sparse=sparse)


def check_state_survives(settings: TrainingSettings, *, sparse: bool = True) -> None:
    task = ToyTask(sparse=sparse)
    stepper = toy_stepper(task, settings)
    for step in range(1, 8):
        stepper.take(step)
    twin = ToyTask(sparse=sparse)
    copy = toy_stepper(twin, settings)
    twin.model.load_state_dict(task.model.state_dict())
    tensors = {k: v.clone() for k, v in stepper.optimization.tensors().items()}
    copy.optimization.load(tensors, json.loads(json.dumps(stepper.optimization.state())))
    for step in range(8, 15):
        expected, found = stepper.take(step), copy.take(step)
        assert found == expected
    for (key, value), other in zip(
        task.model.state_dict().items(), twin.model.state_dict().values(), strict=True
    ):
        assert torch.equal(value, other), key


@pytest.mark.parametrize("name", ["sparse_adam", "adagrad", "sgd"])
def test_every_optimizer_for_sparse_tables_survives_saving_bit_for_bit(name: str) -> None:
    check_state_survives(replace(SPARSE, sparse_optimizer=OptimizerSettings(name, lr=0.01)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": OptimizerSettings("sparse_adam")}, "sparse_adam moves sparse tables only"),
        (
            {"sparse_optimizer": OptimizerSettings("adamw")},
            r"adamw cannot move sparse tables \(tab",
        ),
        ({"sparse_optimizer": OptimizerSettings("muon")}, "muon cannot move sparse tables"),
        (
            {"sparse_optimizer": OptimizerSettings("sgd", options={"momentum": 0.9})},
            "sgd with momentum cannot move sparse tables",
        ),
        (
            {"optimizer": OptimizerSettings("adam", options={"lr": 7.0})},
            "learning rate is no option",
        ),
    ],
    ids=["sparse_adam on dense", "adamw on sparse", "muon on sparse", "momentum", "lr"],
)
def test_an_optimizer_for_the_wrong_tables_is_refused(
    settings: dict[str, OptimizerSettings], message: str
) -> None:
    model = ToyTask(sparse=True).model
    with pytest.raises(UserError, match=message):
        Optimization(model, ParameterGroups.of(model), replace(SPARSE, **settings), steps=3)


def test_a_sparse_table_moves_only_where_it_was_looked_at() -> None:
    task = ToyTask(sparse=True)
    stepper = toy_stepper(task, settings_for("adamw"))
    before = task.model.get_parameter("table.weight").detach().clone()
    stepper.take(1)
    moved = (task.model.get_parameter("table.weight") != before).any(1)
    assert set(moved.nonzero()[:, 0].tolist()) == set(task.batch(1).words.tolist())


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "adagrad"])
def test_weight_decay_shrinks_matrices_alone(name: str) -> None:
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2))
    for parameter in model.parameters():
        nn.init.ones_(parameter)
        parameter.grad = torch.zeros_like(parameter)
    settings = TrainingSettings(
        optimizer=OptimizerSettings(name, lr=0.1, options={"weight_decay": 0.5})
    )
    optimization = Optimization(model, ParameterGroups.of(model), settings, steps=2)
    optimization.step()
    shrunk = {n for n, p in model.named_parameters() if bool((p < 1).any())}
    assert shrunk == {"1.weight"}


def test_muon_agrees_with_torch_up_to_the_rounding_of_bfloat16() -> None:
    torch.manual_seed(1)
    ours, theirs = (nn.Parameter(torch.eye(6, 4) * 2) for _ in range(2))
    our_muon = Muon([ours], lr=0.1, weight_decay=0.2, momentum=0.9)
    their_muon = torch.optim.Muon([theirs], lr=0.1, weight_decay=0.2, momentum=0.9)
    for _ in range(3):
        ours.grad = torch.randn(6, 4)
        theirs.grad = ours.grad.clone()
        our_muon.step()
        their_muon.step()
    assert float((ours - theirs).detach().abs().max()) < 0.01
    assert float((ours - 2 * torch.eye(6, 4)).detach().abs().max()) > 0.1


def test_orthogonalise_brings_singular_values_near_one_in_both_orientations() -> None:
    torch.manual_seed(2)
    wide = torch.randn(2, 5, 9, dtype=torch.float64)
    for matrices in (wide, wide.mT):
        values = torch.linalg.svdvals(orthogonalize(matrices))
        assert float(values.min()) > 0.6
        assert float(values.max()) < 1.3
    # all matrices of one shape at once equals one at a time
    torch.testing.assert_close(orthogonalize(wide)[1:], orthogonalize(wide[1:]), atol=1e-12, rtol=0)


def build(model: nn.Module, optimizer: OptimizerSettings) -> Optimization:
    settings = TrainingSettings(optimizer=optimizer)
    return Optimization(model, ParameterGroups.of(model), settings, steps=5)


def test_rounds_in_bfloat16_give_the_same_directions_up_to_its_rounding() -> None:
    torch.manual_seed(0)
    matrices = torch.randn(3, 24, 10)
    exact, rounded = orthogonalize(matrices), orthogonalize(matrices, torch.bfloat16)
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    likeness = torch.nn.functional.cosine_similarity(exact.flatten(1), rounded.flatten(1))
    assert likeness.min() > 0.99


@pytest.mark.parametrize(
    ("option", "precision", "expected"),
    [
        ("auto", "bfloat16", torch.bfloat16),
        ("auto", "float32", torch.float32),
        ("weights", "bfloat16", None),
        (None, "bfloat16", None),
    ],
)
def test_muon_rounds_in_the_precision_of_the_run_only_if_asked_to(
    option: str | None, precision: str, expected: torch.dtype | None
) -> None:
    options = {} if option is None else {"orthogonalize_in": option}
    settings = TrainingSettings(optimizer=OptimizerSettings("muon", options=options))
    model = ToyTask().model
    groups = ParameterGroups.of(model)
    muon = Optimization(model, groups, settings, steps=5, precision=precision).optimizers[0]
    assert isinstance(muon, Muon)
    assert muon.orthogonalize_in == expected


def test_in_float32_an_auto_muon_takes_the_same_steps_to_the_last_bit() -> None:
    weights = []
    for options in ({}, {"orthogonalize_in": "auto"}):
        torch.manual_seed(0)
        model = nn.Linear(6, 4)
        settings = TrainingSettings(optimizer=OptimizerSettings("muon", lr=0.02, options=options))
        optimization = Optimization(model, ParameterGroups.of(model), settings, steps=3)
        for _ in range(3):
            optimization.zero_gradients()
            model(torch.ones(2, 6)).square().sum().backward()
            optimization.step()
        weights.append(model.weight.detach().clone())
    assert torch.equal(*weights)


def test_muon_takes_matrices_and_adamw_the_rest() -> None:
    optimization = build(ToyTask().model, OptimizerSettings("muon", lr=0.02))
    muon, adamw = optimization.optimizers
    assert isinstance(muon, Muon)
    assert [p.ndim for group in muon.param_groups for p in group["params"]] == [2, 2, 2]
    assert isinstance(adamw, torch.optim.AdamW)


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (OptimizerSettings("adamx"), "no optimizer is called 'adamx'. Did you mean 'adam"),
        (
            OptimizerSettings("sgd", options={"momentun": 0.9}),
            "'sgd' has no option 'momentun'. Did you mean 'momentum'",
        ),
        (
            OptimizerSettings("adamw", options={"betas": [0.9, 1.5]}),
            r"optimizer 'adamw': option betas = \[0.9, 1.5\] is not possible: input should be less",
        ),
        (
            OptimizerSettings("adam", options={"betas": 0.9}),
            r"optimizer 'adam': option betas = 0.9 is not possible: input should be a valid tuple",
        ),
    ],
    ids=["unknown name", "unknown option", "impossible value", "wrong type"],
)
def test_a_wrong_choice_is_explained(optimizer: OptimizerSettings, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build(nn.Linear(2, 2), optimizer)


def test_muon_refuses_what_is_no_matrix() -> None:
    settings = TrainingSettings(optimizer=OptimizerSettings("muon"))
    groups = ParameterGroups(matrices=("weight",), vectors=("bias",))
    with pytest.raises(
        UserError, match=r"muon moves 2-D matrices only; weight has shape \(2, 2, 3"
    ):
        Optimization(nn.Conv1d(2, 2, 3), groups, settings, steps=5)


def test_what_is_no_linear_layer_is_no_matrix_for_muon() -> None:
    (adamw,) = build(nn.Conv1d(2, 2, 3), OptimizerSettings("muon")).optimizers
    assert isinstance(adamw, torch.optim.AdamW)


def test_a_model_without_trainable_parameters_is_refused() -> None:
    with pytest.raises(UserError, match="nothing to train"):
        build(nn.Linear(2, 2).requires_grad_(False), OptimizerSettings())
