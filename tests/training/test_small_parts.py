"""The engine's smaller parts: lengths, groups, hardware, randomness, signals, progress."""

import signal
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import nn

from attnlab.errors import StoppedError, UserError
from attnlab.randomness import rng, seed_torch
from attnlab.runs import machine
from attnlab.training import hardware, signals
from attnlab.training.length import Length, length_in_words, parse_length
from attnlab.training.parameter_groups import ParameterGroups
from attnlab.training.progress import progress_display
from attnlab.training.settings import TrainingSettings
from attnlab.training.signals import StopRequest


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("300 steps", Length(300, "steps")),
        ("1 epoch", Length(1, "epochs")),
        ("2.5epochs", Length(2.5, "epochs")),
        ("2.2M tokens", Length(2.2e6, "tokens")),
        (" 90 seconds ", Length(90, "seconds")),
        ("4k steps", Length(4000, "steps")),
    ],
)
def test_lengths_are_read(text: str, length: Length) -> None:
    assert parse_length(text) == length


@pytest.mark.parametrize(
    "text", ["", "300", "steps", "-3 steps", "0 steps", "3 miles", "1e3 steps"]
)
def test_an_impossible_length_says_what_is_possible(text: str) -> None:
    with pytest.raises(UserError, match="steps, epochs, tokens, seconds"):
        parse_length(text)


def test_parameters_are_sorted_by_kind() -> None:
    model = nn.ModuleDict(
        {
            "table": nn.Embedding(5, 3),
            "rows": nn.Embedding(7, 3, sparse=True),
            "hidden": nn.Linear(3, 2),
            "head": nn.Linear(2, 5, bias=False),
            "frozen": nn.Linear(2, 2).requires_grad_(False),
        }
    )
    groups = ParameterGroups.of(model, embeddings=["head.weight"])
    assert groups == ParameterGroups(
        matrices=("hidden.weight",),
        embeddings=("table.weight", "head.weight"),
        vectors=("hidden.bias",),
        sparse=("rows.weight",),
    )
    groups.check(model)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (ParameterGroups(matrices=("weight",)), r"in no parameter group: \['bias'\]"),
        (ParameterGroups(matrices=("weight", "bias"), vectors=("bias",)), "in two .*bias"),
        (ParameterGroups(matrices=("weight", "bias", "x")), r"no trainable .*: \['x'\]"),
    ],
    ids=["missing", "twice", "unknown"],
)
def test_groups_that_do_not_fit_the_model_are_refused(
    groups: ParameterGroups, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        groups.check(nn.Linear(2, 2))


def test_a_generator_depends_on_seed_purpose_and_index() -> None:
    draws = {
        tuple(rng(seed, purpose, *index).integers(1000, size=4).tolist())
        for seed in (0, 1)
        for purpose in ("order", "mask")
        for index in ((), (1,), (2,), (1, 2))
    }
    assert len(draws) == 2 * 2 * 4
    assert np.array_equal(rng(5, "order", 3).random(6), rng(5, "order", 3).random(6))


def test_torch_is_seeded_the_same_way_each_time() -> None:
    seed_torch(1, "dropout", 2, 3)
    first = torch.rand(3)
    seed_torch(1, "dropout", 3, 2)
    assert not torch.equal(torch.rand(3), first)
    seed_torch(1, "dropout", 2, 3)
    assert torch.equal(torch.rand(3), first)


@pytest.mark.skipif(torch.accelerator.is_available(), reason="seeds the accelerator, too")
def test_seeding_torch_formats_no_stack_for_devices_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(int(rng(1, "dropout", 2, 3).integers(2**63)))
    expected, formatted = torch.rand(3), list[None]()
    monkeypatch.setattr("traceback.format_stack", lambda: formatted.append(None) or [])
    seed_torch(1, "dropout", 2, 3)
    assert torch.equal(torch.rand(3), expected)
    assert not formatted
    torch.manual_seed(0)
    assert formatted, "torch has become cheap itself: seed_torch may call it again"


@pytest.mark.parametrize(
    ("features", "precision"),
    [(["avx2"], "float32"), (["avx2", "avx512_bf16"], "bfloat16"), (["amx_bf16"], "bfloat16")],
    ids=["no bfloat16 units", "avx512", "amx"],
)
def test_auto_takes_bfloat16_only_where_the_processor_has_it(
    features: list[str], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATTNLAB_PRECISION", raising=False)
    monkeypatch.setattr(machine, "cpu", lambda: {"features": features})
    choice = hardware.choose(TrainingSettings(device="cpu"))
    assert choice["precision"] == precision


def test_processes_of_one_machine_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cores", lambda: 8)
    assert hardware.all_threads() == 8
    assert hardware.all_threads(local_processes=3) == 2
    assert hardware.all_threads(local_processes=99) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match=r"this machine has no device 'cuda'. It has: cpu"):
        hardware.use({"device": "cuda", "precision": "float32"}, threads=1)


@pytest.mark.parametrize("number", signals.ASKING, ids=lambda n: n.name)
def test_a_signal_is_noted_and_handlers_are_given_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopRequest() as stop:
        assert stop.signal_number == 0
        signal.raise_signal(number)
        assert stop.signal_number == number
    assert signal.getsignal(number) is before


def test_a_second_ctrl_c_stops_at_once_but_an_echo_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(signals.time, "monotonic", lambda: now[0])
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGINT)
        now[0] += signals.ECHO_SECONDS / 2
        signal.raise_signal(signal.SIGINT)  # torchrun handing on what the terminal sent
        assert stop.signal_number == signal.SIGINT
        now[0] += signals.ECHO_SECONDS
        with pytest.raises(StoppedError, match="stopped at once"):
            signal.raise_signal(signal.SIGINT)


def show(console: Console | None) -> None:
    with progress_display(console, "a run", start=2, steps=5) as display:
        for step in (3, 4, 5):
            display.update(step, loss=1.5, tokens=10)
            if step == 4:
                display.evaluated(0.25, best=0.5)
                display.note("evaluating [dev]")


def test_plain_lines_where_nobody_watches() -> None:
    out = StringIO()
    show(Console(file=out, width=60))
    first, scores, last = out.getvalue().splitlines()
    assert scores == "a run: dev 0.250 (best 0.500)"
    assert first == "a run: 3 more steps"
    assert last.startswith("a run: step 5/5  loss 1.500  ")
    assert last.endswith("tokens/s  0 s left")


def test_a_bar_with_loss_rate_and_time_left_on_a_terminal() -> None:
    out = StringIO()
    show(Console(file=out, width=120, force_terminal=True, color_system=None))
    last = out.getvalue().split("\r")[-1]
    assert "5/5" in last
    assert "loss 1.500  dev 0.250 (best 0.500)" in last
    assert "evaluating [dev]" in last
    assert "tokens/s" in last
    assert "0:00:0" in last


def test_other_processes_show_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    show(None)
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 epochs", "1 epoch"),
        ("1.0 step", "1 step"),
        ("2.5 epochs", "2.5 epochs"),
        ("1M tokens", "1M tokens"),
    ],
)
def test_one_of_a_unit_is_singular(text: str, words: str) -> None:
    assert length_in_words(text) == words
