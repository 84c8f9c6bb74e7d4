"""One run on a real cluster: equal to the same run here, preempted, cancelled, over its time."""

import json
import shutil
import time
from functools import partial
from pathlib import Path

import pytest
from safetensors.torch import load_file

from cluster import Cluster, outcome
from small_bert import write_small_bert

pytestmark = pytest.mark.slurm
SHORT, LONG, ENDLESS = 150, 1500, 1_000_000


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, slurm_conf: Path) -> dict[str, object]:
    """Return the outcome of the long run, made here without Slurm."""
    here = Cluster(slurm_conf, tmp_path_factory.mktemp("undisturbed"))
    here.write_inputs()
    here.attnlab(*here.train("run", LONG))
    return outcome(here.folder / "runs" / "run")


def test_a_job_equals_the_same_run_without_slurm(cluster: Cluster) -> None:
    words = cluster.train("run", SHORT)
    cluster.submit(words)
    assert cluster.wait("run") == "run is finished\n"
    there = outcome(cluster.folder / "runs" / "run")
    cluster.attnlab(*words, "--runs", "here")
    assert outcome(cluster.folder / "here" / "run") == there
    assert cluster.attnlab(*words, "--on", "slurm").startswith("run is finished; nothing is")
    assert "dev" in cluster.attnlab("jobs", "logs", "run")
    assert "finished" in cluster.attnlab("jobs", "list")


def test_two_nodes_equal_one_process(cluster: Cluster) -> None:
    shutil.rmtree(cluster.folder / "bert")
    shutil.rmtree(cluster.folder / "bert-vocabulary")
    write_small_bert(cluster.folder / "bert")  # without dropout
    exact = ("--set", "training.precision=float64")
    cluster.submit(cluster.train("two", 50, *exact), "--nodes", "2")
    cluster.wait("two")
    log = cluster.attnlab("jobs", "logs", "two")
    assert "on n[1-2]" in log
    cluster.attnlab(*cluster.train("one", 50, *exact))
    one, two = (
        load_file(cluster.folder / "runs" / name / "checkpoints/step-00000050/model.safetensors")
        for name in ("one", "two")
    )
    furthest = max(float((one[name] - two[name]).abs().max()) for name in one)
    assert furthest < 1e-10
    assert furthest > 0, "two processes cannot add in the same order: was there only one?"


def test_a_run_preempted_twice_ends_as_if_nothing_had_happened(
    cluster: Cluster, undisturbed: dict[str, object]
) -> None:
    job = cluster.submit(cluster.train("run", LONG), "--partition", "spare")
    for step in (200, 700):
        cluster.until(lambda step=step: cluster.steps("run") > step, f"step {step}")
        cluster.preempt()
    cluster.wait("run")
    assert cluster.job(job)["Restarts"] == "2"
    log = cluster.attnlab("jobs", "logs", "run")
    assert log.count("goes back into the queue") == 2
    assert log.count("resumed at step") == 2
    assert outcome(cluster.folder / "runs" / "run") == undisturbed


def test_a_cluster_that_preempts_with_sigterm_does_no_harm_either(cluster: Cluster) -> None:
    profile = cluster.folder / "profile.yaml"
    profile.write_text("options: [--signal=TERM@30]\n")
    words = (cluster.train("run", LONG), "--partition", "spare", "--profile", str(profile))
    job = cluster.submit(*words)
    cluster.until(lambda: cluster.steps("run") > 200, "step 200")
    cluster.preempt()
    cluster.wait("run")
    assert cluster.job(job)["Restarts"] == "1"
    assert "resumed at step" in cluster.attnlab("jobs", "logs", "run")


def test_a_run_that_reaches_its_time_limit_saves_and_goes_on(cluster: Cluster) -> None:
    profile = cluster.folder / "profile.yaml"
    profile.write_text("time: '1'\nsave_seconds: 20\n")
    cluster.submit(cluster.train("run", ENDLESS), "--profile", str(profile))
    log = partial(cluster.attnlab, "jobs", "logs", "run")
    cluster.until(lambda: cluster.steps("run") > 0, "step 1")
    cluster.until(lambda: "goes back into the queue" in log(), "the end of the time")
    cluster.until(lambda: "resumed at step" in log(), "the second begin")
    (listed,) = json.loads(cluster.attnlab("jobs", "list", "--json"))
    assert listed["requeues"] == 1


def test_requeues_are_bounded(cluster: Cluster) -> None:
    profile = cluster.folder / "profile.yaml"
    profile.write_text("requeues: 0\n")
    job = cluster.submit(cluster.train("run", LONG), "--profile", str(profile))
    cluster.until(lambda: cluster.steps("run") > 100, "step 100")
    cluster.run("scancel", "--signal=USR1", job)
    said = cluster.wait("run", code=1)
    assert said.startswith("run is stopped\n")
    assert "requeued 0 times, which is the limit" in cluster.attnlab("jobs", "logs", "run")


def test_a_cancelled_run_can_be_resumed(cluster: Cluster, undisturbed: dict[str, object]) -> None:
    words = cluster.train("run", LONG)
    job = cluster.submit(words)
    cluster.until(lambda: cluster.steps("run") > 200, "step 200")
    assert cluster.attnlab("jobs", "cancel", "run") == f"run: job {job} is cancelled\n"
    assert "stopped" in cluster.wait("run", code=1)
    assert cluster.job(job)["JobState"] == "CANCELLED"
    cluster.attnlab(*words)
    assert outcome(cluster.folder / "runs" / "run") == undisturbed


def test_a_killed_rank_ends_all_ranks_within_a_minute(cluster: Cluster) -> None:
    job = cluster.submit(cluster.train("run", ENDLESS), "--nodes", "2")
    cluster.until(lambda: cluster.steps("run") > 20, "step 20")
    assert len(cluster.processes(job)) == 2
    began = time.monotonic()
    cluster.kill(job, rank=1)
    cluster.until(lambda: not cluster.processes(job), "the end of all ranks")
    assert time.monotonic() - began < 60
    cluster.wait("run", code=1)
    assert cluster.job(job)["JobState"] == "FAILED"


@pytest.mark.parametrize(
    ("flag", "value", "slurms_words", "advice"),
    [
        ("--partition", "nope", "Invalid partition name", "Choose another --partition: main"),
        ("--time", "2:00:00", "Requested time limit is invalid", "Choose another --time: main"),
        ("--nodes", "3", "node", "Ask for fewer --nodes"),
    ],
)
def test_a_refusal_has_slurms_words_the_script_and_what_to_change(
    cluster: Cluster, flag: str, value: str, slurms_words: str, advice: str
) -> None:
    words = cluster.train("run", SHORT, "--on", "slurm", flag, value)
    said = cluster.attnlab(*words, code=2)
    assert f"Slurm refuses {cluster.folder}/runs/.jobs/run/job.sh: " in said
    assert slurms_words in said
    assert advice in said
