"""A study on a real cluster: its ready cells are an array, and each is run once."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cluster import Cluster
from small_jobs import SMALL_DEMO

pytestmark = pytest.mark.slurm


def select(cluster: Cluster, *more: str) -> list[str]:
    data = cluster.folder / "reviews"
    words = ["classify", "select", str(data / "train.csv"), "--dev", str(data / "dev.csv")]
    words += ["--test", str(data / "test.csv")]
    words += ["--model", str(cluster.folder / "bert"), "--max-len", "16", "--batch-size", "20"]
    words += ["--lr", "1e-4,5e-4,1e-3", "--epochs", "40", "--seeds", "3", "--name", "grid"]
    words += ["--set", "base.training.threads=1", "--set", "base.training.log_every=1"]
    return [*words, *more]


def arrays(cluster: Cluster) -> list[list[str]]:
    """Return the cells of each array that was submitted."""
    ledger = cluster.folder / "runs" / ".jobs" / "grid" / "submitted.jsonl"
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    return [line["cells"] for line in lines if line["cells"]]


def steps_of(run: Path) -> list[int]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["step"] for line in lines if "loss" in line]


def kill_the_task(cluster: Cluster, task: int) -> None:
    """Kill the process of a task of the array that runs."""
    queue = cluster.run("squeue", "--me", "--noheader", "--array", "--format=%i %A")
    by_task = dict(line.split() for line in queue.splitlines())
    (job_id,) = [job_id for name, job_id in by_task.items() if name.endswith(f"_{task}")]
    cluster.kill(job_id)


def test_nine_cells_with_one_killed_and_two_launchers_at_once_are_run_once_each(
    cluster: Cluster,
) -> None:
    launch = [*select(cluster), "--on", "slurm", "--parallel", "3"]
    with ThreadPoolExecutor(2) as launchers:
        said = sorted(launchers.map(lambda _: cluster.attnlab(*launch), range(2)))
    assert said[0].startswith("grid was submitted before, and job ")
    assert " is submitted; its run is " in said[1]
    (cells,) = cluster.until(lambda: arrays(cluster), "an array")
    assert len(set(cells)) == 9
    victim = cells[1]
    cluster.until(lambda: cluster.steps(f"grid/{victim}") > 2, "a cell at work")
    kill_the_task(cluster, 1)
    assert "grid has ended and is not finished" in cluster.wait("grid", code=1)
    assert f"the cell {victim} ended without a result" in cluster.attnlab("jobs", "logs", "grid")
    grid = cluster.folder / "runs" / "grid"
    done = {path: path.stat().st_mtime_ns for path in grid.glob("*/record.json")}
    assert len(done) == 8

    cluster.submit(select(cluster), "--parallel", "3")
    assert cluster.wait("grid") == "grid is finished\n"
    # what was killed, then what dev has chosen, which depends on all of them and reads the test set
    _, again, *chosen = arrays(cluster)
    assert again == [victim]
    assert len(chosen) == 1
    for path, when in done.items():
        assert path.stat().st_mtime_ns == when, f"{path.parent} was run again"
    for cell in cells:
        assert len(steps_of(grid / cell)) == len(set(steps_of(grid / cell)))
        assert not (grid / cell / "predictions" / "test.jsonl").exists()
    assert all((grid / cell / "predictions" / "test.jsonl").exists() for cell in chosen[0])
    settings = [json.loads((grid / cell / "config.json").read_text())["settings"] for cell in cells]
    assert len({json.dumps(one, sort_keys=True) for one in settings}) == 9


def test_a_cell_that_collapses_is_a_result_and_the_grid_goes_on(cluster: Cluster) -> None:
    too_high = ["--lr", "1e6,1e-3", "--epochs", "6", "--seeds", "1"]
    cluster.submit(select(cluster), *too_high, "--name", "collapsing")
    assert cluster.wait("collapsing") == "collapsing is finished\n"
    said = cluster.attnlab("jobs", "logs", "collapsing")
    assert "nan" in said
    record = cluster.folder / "runs" / "collapsing" / "lr-1e6-seed-0" / "record.json"
    assert json.loads(record.read_text())["failed"]["kind"] == "nan"


def test_cells_that_need_others_wait_for_them(cluster: Cluster) -> None:
    words = ["knowledge", "demo", "--name", "demo"]
    words += [f"--set={key}={value}" for key, value in SMALL_DEMO.items()]
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
