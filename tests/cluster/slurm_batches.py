"""Batches whose scripts are written down in golden/, and which together have every option."""

from pathlib import Path

from attnlab.cluster.script import Batch
from attnlab.cluster.settings import SlurmSettings

FOLDER = Path("/home/me/my runs/.jobs")
PYTHON = ["/home/me/venv/bin/python", "-m", "attnlab", "run"]


def command(job: str, name: str, *more: str) -> list[str]:
    config = str(FOLDER / name / "settings.yaml")
    return [*PYTHON, job, "--config", config, "--name", name, "--runs", "/home/me/my runs", *more]


PROFILE = SlurmSettings(
    partition="a100",
    nodes=2,
    gpus=4,
    cpus=12,
    time="1-12:00:00",
    account="lab_gpu",
    qos="qos_gpu",
    requeues=3,
    save_seconds=300,
    modules=("anaconda", "cuda/12.4"),
    setup=("conda activate attnlab", 'export HF_HOME="$SCRATCH/hub"'),
    options=("--mem=64G",),
)
BATCHES = {
    "run": Batch(
        "attnlab-reader",
        [command("knowledge-pretrain", "reader")],
        FOLDER / "reader" / "%j.log",
        SlurmSettings(),
    ),
    "two_nodes": Batch(
        "attnlab-big", [command("classify-train", "big")], FOLDER / "big" / "%j.log", PROFILE
    ),
    "array": Batch(
        "attnlab-grid",
        [command("classify-train", name) for name in ("lr-1e-3", "it's 5e-4", "lr-1e-4")],
        FOLDER / "grid" / "%A_%a.log",
        SlurmSettings(partition="main", cpus=2),
        at_once=2,
        is_array=True,
    ),
}
