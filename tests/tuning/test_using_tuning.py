"""Tuning from outside: settings, precision, and the example of the manual."""

import re
from pathlib import Path

import pytest
import torch
from tunable import CASES, MODELS, bert, outputs, tune

from attnlab.errors import UserError
from attnlab.tuning import TUNING
from attnlab.tuning.counting import Count, head_count
from attnlab.tuning.settings import TuningSettings
from attnlab.tuning.tuned import apply_tuning, check_tuning

NO_DROPOUT = {"lora": {"dropout": 0.0}}


def test_settings_are_checked_before_there_is_a_model() -> None:
    for method in TUNING.names():
        check_tuning(TuningSettings(method), "tuning")
    check_tuning(TuningSettings("prefix", {"length": 10_000}), "tuning")
    with pytest.raises(UserError, match=r"^classify: no tuning method is called 'lore'\."):
        check_tuning(TuningSettings("lore"), "classify")
    with pytest.raises(UserError, match=r"^classify: .*option length = 0 is not possible"):
        check_tuning(TuningSettings("prompt", {"length": 0}), "classify")


@pytest.mark.parametrize(("family", "method"), CASES)
def test_in_bfloat16_the_scores_are_near_and_gradients_are_in_full_precision(
    family: str, method: str
) -> None:
    tuned = tune(MODELS[family](dropout=0.0).float(), method, **NO_DROPOUT.get(method, {}))
    wanted = outputs(tuned.model)
    with torch.autocast("cpu", torch.bfloat16):
        found = outputs(tuned.model)
        found.float().square().sum().backward()
    torch.testing.assert_close(found.float(), wanted, atol=0.15, rtol=0)
    for name, parameter in tuned.model.named_parameters():
        assert (parameter.grad is not None) == (name in tuned.trainable.names), name
        assert parameter.grad is None or parameter.grad.dtype == torch.float32


def test_the_example_of_the_manual_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tuning.md").read_text(encoding="utf-8")
    code, shown = re.findall(r"```(?:python)?\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "tuning.md", "exec"), {})
    assert capsys.readouterr().out == shown
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE)
    assert sorted(name for name, _ in rows) == TUNING.names()
    for name, formula in rows[2:]:
        tuned = apply_tuning(bert(), TuningSettings(name), seed=0)
        assert str(tuned.trainable.count) == str(Count(formula) + head_count(5, dense=False))
