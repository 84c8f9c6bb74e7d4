"""Starting real training processes for the fault tests, and comparing what they leave."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.world import write_world
from commands_here import Outcome, attnlab_in

DRIVER = Path(__file__).with_name("driver.py")
NAME = "victim"
STEPS, INTERVAL = 26, 5
SPLITS = ("held_out", "dev", "test")
WORLD = WorldSettings(people=15, biographies=2, unwritten=0)
FILES = {
    "corpus": "world/wiki.txt",
    "questions": "world/birth_places_train.tsv",
    "dev": "world/birth_dev.tsv",
    "test": "world/birth_test.tsv",
}
# 6 steps an epoch; a checkpoint every 5 steps and at each better evaluation, every 8 steps.
TINY = {
    **FILES,
    "held_out": 0.3,
    "tokenizer.size": 300,
    "model.d_model": 12,
    "model.n_heads": 3,
    "model.n_layers": 1,
    "model.dropout": 0.2,
    "model.ngram_table.rows": 101,
    "batch_tokens": 390,
    "training.length": f"{STEPS} steps",
    "training.save_every": INTERVAL,
    "training.evaluate_every": 8,
    "training.log_every": 1,
    "training.threads": 1,
}


def command(*, kill: str = "", rank: int = 0, processes: int = 1, **settings: Any) -> list[str]:
    """Return the command line of a tiny training run, killed at a point or not."""
    python = [sys.executable]
    if processes > 1:
        python += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
        python += [str(processes)]
    values = TINY | {key.replace("__", "."): value for key, value in settings.items()}
    sets = [f"--set={key}={json.dumps(value)}" for key, value in values.items()]
    spec = json.dumps({"kill": kill, "rank": rank})
    return [*python, str(DRIVER), spec, "knowledge", "pretrain", "--name", NAME, *sets]


def start(folder: Path, **options: Any) -> subprocess.Popen[str]:
    """Start a run that works in ``folder``."""
    write_world(WORLD, folder / "world")
    return subprocess.Popen(
        command(**options),
        cwd=folder,
        env=os.environ | {"ATTNLAB_RUNS": str(folder), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Start a run and wait for its end."""
    process = start(folder, **options)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def finish_here(folder: Path, **settings: Any) -> Outcome:
    """Run to the end in this process: for a run that nobody is to kill, and quicker."""
    write_world(WORLD, folder / "world")
    words = command(**settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNLAB_RUNS", str(folder))
        patch.setattr("attnlab.recipes.knowledge.language_model.LONGEST_ANSWER", 20)  # as driver.py
        return attnlab_in(folder, *words[words.index("knowledge") :])


def outcome(folder: Path) -> dict[str, Any]:
    """Return everything that must be equal bit for bit between two runs."""
    run = folder / NAME
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    timed = ("seconds", "evaluation_seconds")
    newest = sorted((run / "checkpoints").glob("step-*"))[-1]
    record = json.loads((run / "record.json").read_text())
    return {
        "metrics": [{k: v for k, v in line.items() if k not in timed} for line in lines],
        "newest": newest.name,
        "model": _sha256(newest / "model.safetensors"),
        "optimizer": _sha256(newest / "optimizer.safetensors"),
        **{split: (run / "predictions" / f"{split}.jsonl").read_text() for split in SPLITS},
        "best_step": record["best_step"],
        "scores": record["scores"],
        "checkpoints": sorted(p.name for p in (run / "checkpoints").iterdir()),
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
