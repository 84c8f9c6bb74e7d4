"""What differs between conditions, in the words of a user."""

from pathlib import Path
from typing import Any

from attnlab.evaluation.differing import differing_settings
from attnlab.runs.directory import Run, RunPlace


def test_an_optimizer_is_named_as_such_and_its_options_one_by_one(tmp_path: Path) -> None:
    options: dict[str, dict[str, Any]] = {"sgd": {}, "adagrad": {}, "adamw": {"weight_decay": 0.01}}
    runs = {}
    for name, given in options.items():
        settings = {"training": {"optimizer": {"name": name, "options": given}, "seed": 0}}
        runs[name] = [Run.begin("classify-train", settings, RunPlace(tmp_path, name))]
    found = [one.sentence(list(runs)) for one in differing_settings(runs)]
    assert found == ["optimizer sgd, adagrad, adamw", "weight_decay –, 0.01"]
