"""Steps 3 to 5 of the BoolQ assignment on a real cluster."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from cluster import Cluster
from small_bert import write_small_bert

pytestmark = pytest.mark.slurm
COURSE = Path(__file__).parents[2] / "courses" / "boolq"


def write_questions(path: Path) -> None:
    rows = [
        {"question": f"was it {number}", "passage": "the food", "answer": "Yes"}
        if number % 3
        else {"question": f"was it {number}", "passage": "the service", "answer": "No"}
        for number in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_launchpad_leaves_the_figure_of_step_5(cluster: Cluster) -> None:
    for name in ("launchpad.sh", "classification.py", "figures.py"):
        shutil.copy(COURSE / name, cluster.folder)
    write_questions(cluster.folder / "questions.jsonl")
    write_small_bert(cluster.folder / "long", max_len=128)  # as many as the command wants
    (cluster.folder / "assets.yaml").write_text(
        "distilbert-base-uncased: long\nboolq: questions.jsonl\n"
    )
    (cluster.folder / "profile.sh").write_text(
        'export ATTNLAB_ASSETS=$PWD/assets.yaml\nexport PATH="$BIN:$PATH"\n'
    )
    said = cluster.run(
        "env", f"BIN={Path(sys.executable).parent}", "sbatch", "--wait", "launchpad.sh"
    )
    log = (cluster.folder / f"slurm-{said.split()[-1]}.out").read_text()
    assert "distilbert-base-uncased is substituted by" in log
    assert "Average TRAIN metrics: accuracy=" in log
    assert (cluster.folder / "figures" / "overfit.png").read_bytes().startswith(b"\x89PNG")


def test_a_profile_that_is_not_there_is_named(cluster: Cluster) -> None:
    shutil.copy(COURSE / "launchpad.sh", cluster.folder)
    said = cluster.run("env", "PROFILE=none.sh", "sbatch", "--wait", "launchpad.sh", code=2)
    log = (cluster.folder / f"slurm-{said.split()[-1]}.out").read_text()
    assert f"there is no profile none.sh in {cluster.folder}" in log


def test_what_steps_3_and_4_show_is_written_to_files(cluster: Cluster) -> None:
    said = cluster.run(str(COURSE / "capture.sh"), "captured")
    files = {path.name: path.read_text() for path in (cluster.folder / "captured").iterdir()}
    assert said.split() == [
        f"captured/{name}.txt" for name in "login squeue squeue-mine sinfo".split()
    ]
    assert files["login.txt"].startswith("$ hostname; whoami\n")
    assert files["squeue.txt"].startswith("$ squeue\n")
    assert "JOBID PARTITION" in files["squeue-mine.txt"]
    assert files["sinfo.txt"].startswith('$ sinfo -o "%50N %10c %20m %30G "\n')
    assert "n[1-2]" in files["sinfo.txt"]
    assert "gpu:stand-in:1" in files["sinfo.txt"]
