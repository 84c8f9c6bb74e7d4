"""``attnlab run``: every job of the table, by its name and a file of settings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Attnlab

from attnlab.config import resolve, to_dict, to_yaml
from attnlab.recipes.jobs import JOBS
from attnlab.runs.directory import Run
from attnlab.runs.folders import run_name
from small_bert import write_reviews, write_small_bert
from small_jobs import SETTINGS, name_of, write_inputs

pytestmark = pytest.mark.precision


@pytest.mark.slow
@pytest.mark.usefixtures("short_answers")
def test_every_job_is_run_by_its_name_and_shown_again(attnlab: Attnlab, tmp_path: Path) -> None:
    assert SETTINGS.keys() == JOBS.keys(), "a new job belongs into this test"
    write_inputs(tmp_path)
    for job, settings in SETTINGS.items():
        (tmp_path / "cell.yaml").write_text(to_yaml(settings), encoding="utf-8")
        words = ["run", job, "--config", "cell.yaml", "--name", name_of(job)]
        code, out, err = attnlab(*words)
        assert code == 0, err
        assert f"runs/{name_of(job)}" in out.splitlines()[-1]
        assert attnlab(*words) == (0, out, ""), job


def test_a_file_of_settings_says_all_that_a_run_is_called_after(tmp_path: Path) -> None:
    for job, settings in SETTINGS.items():
        (tmp_path / "cell.yaml").write_text(to_yaml(settings), encoding="utf-8")
        read = resolve(JOBS[job].settings(), file=tmp_path / "cell.yaml")
        assert read == settings
        assert run_name(job, to_dict(read)) == run_name(job, to_dict(settings))


@pytest.mark.parametrize("job", JOBS)
def test_the_settings_of_every_job_can_be_given_back(
    attnlab: Attnlab, tmp_path: Path, job: str
) -> None:
    code, out, err = attnlab("run", job, "--settings")
    assert (code, err) == (0, "")
    (tmp_path / "mine.yaml").write_text(out, encoding="utf-8")
    assert attnlab("run", job, "--config", "mine.yaml", "--settings") == (0, out, "")


HAVE_DEFAULTS = (
    *("classify-train", "classify-label-budget", "classify-select"),
    *("classify-probe", "classify-batch-size"),
)
MAKE_THEIR_OWN = (
    *(
        "knowledge-world",
        "knowledge-demo",
        "knowledge-extraction",
        "knowledge-extraction-map",
        "attention-coins",
    ),
    *("attention-cost", *HAVE_DEFAULTS),
)


@pytest.mark.parametrize("job", [job for job in JOBS if job not in MAKE_THEIR_OWN])
def test_a_job_without_what_it_needs_says_so(attnlab: Attnlab, tmp_path: Path, job: str) -> None:
    code, out, err = attnlab("run", job)
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: there is nothing to do: give ")
    assert not (tmp_path / "runs").exists()


def test_the_list_names_every_job_and_loads_no_torch() -> None:
    script = (
        "import sys; from attnlab.cli.commands import app;"
        " app(['run', '--list'], standalone_mode=False);"
        " assert not {'torch', 'numpy', 'matplotlib'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(JOBS)


def test_a_job_that_is_not_there_is_named_with_the_nearest(attnlab: Attnlab) -> None:
    code, out, err = attnlab("run", "knowledge-pretrian")
    assert (code, out) == (2, "")
    assert "no job is called 'knowledge-pretrian'. Did you mean 'knowledge-pretrain'?" in err
    assert "`attnlab run --list` shows them" in attnlab("run").err


@pytest.mark.slow
@pytest.mark.usefixtures("short_answers")
def test_a_cell_that_was_run_by_its_command_is_taken_up_by_its_study(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo.yaml").write_text(to_yaml(SETTINGS["knowledge-demo"]), encoding="utf-8")
    demo = ("run", "knowledge-demo", "--config", "demo.yaml", "--name", "demo")
    assert attnlab(*demo).code == 0
    study = tmp_path / "runs" / "demo"
    (cell,) = (
        cell
        for cell in json.loads((study / "study.json").read_text())["cells"]
        if cell["name"] == "recall"
    )
    assert cell["needs"] == ["world"]
    before = Run.open(study / "recall").predictions("test")
    (study / "recall").rename(tmp_path / "aside")
    monkeypatch.chdir(study)
    assert attnlab(*cell["command"].split()[1:]).code == 0
    assert Run.open(study / "recall").predictions("test") == before
    monkeypatch.chdir(tmp_path)
    done = attnlab(*demo)
    assert (done.code, done.err) == (0, ""), "nothing was trained again"


@pytest.mark.slow
@pytest.mark.usefixtures("short_answers")
def test_what_is_finished_is_shown_when_its_files_are_gone(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    shown = {}
    needed = [job for job in SETTINGS if job not in ("knowledge-demo", "knowledge-extraction")]
    for job in needed:
        (tmp_path / f"{job}.yaml").write_text(to_yaml(SETTINGS[job]), encoding="utf-8")
        words = ["run", job, "--config", f"{job}.yaml", "--name", name_of(job)]
        shown[job] = attnlab(*words)
    for gone in ("reviews", "bert", "runs/world", "runs/pretrain", "runs/finetune", "runs/train"):
        (tmp_path / gone).rename(tmp_path / f"{Path(gone).name}-gone")
    for job in needed:
        name = name_of(job)
        if (tmp_path / "runs" / name).exists():
            again = attnlab("run", job, "--config", f"{job}.yaml", "--name", name)
            assert again == (0, shown[job].out, ""), job


@pytest.mark.slow
def test_a_users_attention_is_found_by_a_cell_from_any_folder(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from attnlab.attention.variants.dot_product import DotProduct as Mine\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    (tmp_path / "demo.yaml").write_text(to_yaml(SETTINGS["knowledge-demo"]), encoding="utf-8")
    words = ("run", "knowledge-demo", "--config", "demo.yaml", "--name", "demo")
    own = ("--set", "model.attention.name=mine.py:Mine", "--set", "training.length=1 step")
    assert attnlab(*words, *own).code == 0
    study = tmp_path / "runs" / "demo"
    (study / "recall" / "record.json").unlink()
    cells = json.loads((study / "study.json").read_text())["cells"]
    (command,) = (cell["command"] for cell in cells if cell["name"] == "recall")
    monkeypatch.chdir(study)
    assert attnlab(*command.split()[1:]).code == 0
