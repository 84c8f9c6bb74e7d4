"""*boolq* 2.2 and 3: leads, projections, baselines, and the scripts of the cluster."""

import json
import math
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from attnlab.evaluation.significance import mcnemar
from attnlab.geometry.instance import weights_of
from attnlab.geometry.sharpness import smallest_beta
from attnlab.geometry.subspaces import extraction, extraction_error

COURSE = Path(__file__).parents[2] / "courses" / "boolq"


@pytest.mark.parametrize("h", [16, 64, 256])
def test_a_copy_needs_a_lead_that_grows_with_the_root_of_the_width(h: int) -> None:
    n, keys = 10, np.eye(h)[:10]
    lead = math.log(99 * (n - 1))
    weights = weights_of(keys, lead * math.sqrt(h) * keys[4] / math.sqrt(h))
    assert weights[4] == pytest.approx(0.99)
    unscaled = weights_of(keys, lead * keys[4] / math.sqrt(h))  # the same lead without √h
    assert unscaled[4] < 0.5


def test_twice_the_projection_takes_a_vector_out_of_a_mean() -> None:
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(7, 7)))[0].T
    first, second = basis[:3], basis[3:5]
    matrix = 2 * first.T @ first
    assert extraction_error(matrix, first, second=second, share=0.5) < 1e-12
    assert extraction_error(matrix / 2, first, second=second, share=0.5) > 0.4  # not A Aᵀ
    found = extraction(first, second, share=0.5).matrix
    assert found is not None
    assert found @ first.T == pytest.approx(matrix @ first.T, abs=1e-12)


def test_the_smallest_scales_of_the_answer() -> None:
    assert smallest_beta(0.99, n_tokens=10) == pytest.approx(5.98, abs=5e-3)
    assert smallest_beta(0.99, n_tokens=64) == pytest.approx(8.03, abs=5e-3)


def test_chance_and_the_majority() -> None:
    gold = np.array([True] * 2033 + [False] * 1237)
    coin = np.random.default_rng(0).random((400, len(gold))) < 0.5
    assert (coin == gold).mean() == pytest.approx(0.5, abs=2e-3)
    assert gold.mean() == pytest.approx(0.6217, abs=5e-5)


def test_the_printed_dev_scores_are_those_of_always_yes() -> None:
    assert 2033 / 3270 == 0.6217125382262997
    assert round(0.7091743119266055 * 3270) / 3270 == 0.7091743119266055  # the one that learned


@pytest.mark.data
def test_the_dev_questions_have_these_answers(data_folder: Path) -> None:
    lines = (data_folder / "boolq" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(Counter(json.loads(line)["answer"] for line in lines).values()) == [1237, 2033]


def test_nine_and_six_of_ten_are_not_told_apart() -> None:
    """Even if the second is right nowhere that the first is wrong, which is as clear as it gets."""
    nine, six = [True] * 9 + [False], [True] * 6 + [False] * 4
    assert mcnemar(nine, six) == pytest.approx(0.25)


def with_tools(folder: Path, *names: str) -> dict[str, str]:
    """Put commands on the path that print how they were called."""
    (folder / "bin").mkdir()
    for name in names:
        tool = folder / "bin" / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*"\n')
        tool.chmod(0o755)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "USER": "ada"}


def test_what_the_screenshots_show_is_captured(tmp_path: Path) -> None:
    tools = with_tools(tmp_path, "squeue", "sinfo")
    subprocess.run([COURSE / "capture.sh", "shown"], cwd=tmp_path, env=tools, check=True)
    files = {path.name: path.read_text() for path in (tmp_path / "shown").iterdir()}
    assert files.keys() == {"login.txt", "squeue.txt", "squeue-mine.txt", "sinfo.txt"}
    assert files["login.txt"].startswith("$ hostname; whoami\n")
    assert files["squeue.txt"] == "$ squeue\nsqueue \n"
    assert files["squeue-mine.txt"] == "$ squeue -u $USER\nsqueue -u ada\n"  # -t selects states
    assert files["sinfo.txt"].endswith("\nsinfo -o %50N %10c %20m %30G \n")


def test_the_launchpad_runs_the_command_of_step_2(tmp_path: Path) -> None:
    tools = with_tools(tmp_path, "srun")
    command = ["bash", COURSE / "launchpad.sh"]
    done = subprocess.run(
        command, cwd=tmp_path, env=tools, check=True, capture_output=True, text=True
    )
    readme = (COURSE / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^(python classification\.py --experiment \"overfit\".*?)\n```", readme,
                          re.MULTILINE | re.DOTALL)  # fmt: skip
    words = shown.replace("\\\n", " ").replace('"', "").split()
    assert done.stdout.split() == ["srun", *words]
