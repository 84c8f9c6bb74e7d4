"""A study on a real cluster: its ready cells are an array, and each is run once."""

import json
from collections import Counter
from pathlib import Path

import pytest

from cluster import Cluster

pytestmark = pytest.mark.slurm


def select(cluster: Cluster, *more: str) -> list[str]:
    data = cluster.folder / "reviews"
    words = ["classify", "select", str(data / "train.csv"), "--dev", str(data / "dev.csv")]
    words += ["--model", str(cluster.folder / "bert"), "--max-len", "16", "--batch-size", "20"]
    words += ["--lr", "1e-4,5e-4,1e-3", "--epochs", "40", "--seeds", "3", "--name", "grid"]
    words += ["--set", "base.training.threads=1", "--set", "base.training.log_every=1"]
    return [*words, *more]


def arrays(cluster: Cluster) -> list[list[str]]:
    ledger = cluster.folder / "runs" / ".jobs" / "grid" / "submitted.jsonl"
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    return [line["cells"] for line in lines if line["cells"]]


def steps_of(run: Path) -> list[int]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["step"] for line in lines if "loss" in line]


def test_nine_cells_with_one_killed_and_a_second_launcher_are_run_once_each(
    cluster: Cluster,
) -> None:
    cluster.submit(select(cluster), "--parallel", "2")
    again = cluster.attnlab(*select(cluster), "--on", "slurm", "--parallel", "2")
    assert again.startswith("grid was submitted before, and job ")
    (cells,) = cluster.until(
        lambda: (cluster.folder / "runs/grid").exists() and arrays(cluster), "an array"
    )
    assert len(set(cells)) == 9
    again = cluster.attnlab(*select(cluster), "--on", "slurm", "--parallel", "2")
    assert again.startswith("grid was submitted before")
    victim = cells[1]
    cluster.until(lambda: cluster.steps(f"grid/{victim}") > 2, "a cell at work")
    array = cluster.run("squeue", "--me", "--noheader", "--array", "--format=%i %A")
    job_ids = dict(line.split() for line in array.splitlines())
    (job_id,) = [job for task, job in job_ids.items() if task.endswith("_1")]
    cluster.kill(job_id)
    said = cluster.wait("grid", code=1)
    assert "grid has ended and is not finished" in said
    log = cluster.attnlab("jobs", "logs", "grid")
    assert f"the cell {victim} ended without a result" in log
    done = {p.parent: p.stat().st_mtime_ns for p in cluster.folder.glob("runs/grid/*/record.json")}
    assert len(done) == 8

    cluster.submit(select(cluster), "--parallel", "2")
    assert cluster.wait("grid") == "grid is finished\n"
    assert Counter(name for array in arrays(cluster)[:2] for name in array) == Counter(
        cells
    ) + Counter([victim])
    study = json.loads((cluster.folder / "runs/grid/study.json").read_text())
    runs = [cluster.folder / "runs" / "grid" / cell["name"] for cell in study["cells"]]
    assert all((run / "record.json").exists() for run in runs)
    for run, when in done.items():
        assert (run / "record.json").stat().st_mtime_ns == when, f"{run} was run again"
    for run in runs:
        assert len(steps_of(run)) == len(set(steps_of(run)))
    configs = [
        json.loads((cluster.folder / "runs/grid" / cell / "config.json").read_text())
        for cell in cells
    ]
    assert len({json.dumps(config["settings"], sort_keys=True) for config in configs}) == 9


def test_cells_that_need_others_wait_for_them(cluster: Cluster) -> None:
    sets = {
        "world": "{people: 10, biographies: 2}",
        "model": "{d_model: 12, n_heads: 3, n_layers: 1}",
        "questions_length": "1 step",
        "training.length": "2 steps",
        "training.threads": "1",
    }
    words = ["knowledge", "demo", "--name", "demo"]
    words += [f"--set={key}={value}" for key, value in sets.items()]
    cluster.submit(words)
    assert cluster.wait("demo") == "demo is finished\n"
    ledger = cluster.folder / "runs" / ".jobs" / "demo" / "submitted.jsonl"
    cells = [json.loads(line)["cells"] for line in ledger.read_text().splitlines()]
    assert cells == [
        [],
        ["world"],
        [],
        ["majority", "questions-alone", "recall", "synthesizer"],
        [],
    ]
    assert "report.html" in cluster.attnlab("jobs", "logs", "demo")
