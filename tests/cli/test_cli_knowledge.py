"""``attnlab knowledge demo``: a run from one end to the other, and every wrong input."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from attnlab.attention import ATTENTION
from attnlab.errors import UserError
from attnlab.evaluation.mutants import MUTANTS, class_with
from attnlab.runs.directory import Run, RunPlace

Attnlab = Callable[..., tuple[int, str, str]]

DEMO = ("knowledge", "demo")
TINY = [
    *("--set", "world={people: 10, biographies: 2}"),
    *("--set", "model={d_model: 12, n_heads: 3, n_layers: 1}"),
    *("--set", "training.threads=1"),
    *("--length", "2 steps"),
]


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_a_demo_runs_to_its_end_and_then_shows_its_result(attnlab: Attnlab, tmp_path: Path) -> None:
    code, out, err = attnlab(*DEMO, *TINY, "--name", "first")
    assert code == 0, err
    assert "Where was" in out
    assert out.endswith("runs/first\n")
    assert "2 steps" in err
    assert "\x1b" not in out + err
    before = everything(tmp_path)
    assert {"runs/first/record.json", "runs/first/predictions/test.jsonl"} <= before.keys()

    assert attnlab(*DEMO, *TINY, "--name", "first") == (0, out, "")
    assert everything(tmp_path).keys() - before.keys() == set()

    code, _, err = attnlab(*DEMO, *TINY, "--name", "first", "--seed", "4")
    assert code == 2
    assert "exists with other settings (training.seed: 0 there, 4 now)" in err
    assert everything(tmp_path) == before


def test_a_demo_takes_its_folder_from_the_environment(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_RUNS", "elsewhere")
    code, out, err = attnlab(*DEMO, *TINY)
    assert code == 0, err
    assert out.splitlines()[-1].startswith("elsewhere/knowledge-demo-")
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def test_the_settings_are_printed_as_a_file_that_can_be_given_back(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    code, out, _ = attnlab(*DEMO, "--settings", "--seed", "7", "--set", "model.d_model=24")
    assert code == 0
    values = yaml.safe_load(out)
    assert (values["training"]["seed"], values["model"]["d_model"]) == (7, 24)
    (tmp_path / "mine.yaml").write_text(out, encoding="utf-8")
    assert attnlab(*DEMO, "--config", "mine.yaml", "--settings") == (0, out, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


FILES = {
    "typo.yaml": "training:\n  sead: 1\n",
    "bounds.yaml": "training:\n  seed: 1\nbatch_size: 0\n",
    "broken.yaml": "training: [\n",
}
MISTAKES = {
    "unknown key": (
        ["--set", "training.sead=1"],
        "--set training.sead=1: there is no setting 'training.sead'. Did you mean 'training.seed'?",
    ),
    "unknown key in a file": (
        ["--config", "typo.yaml"],
        "typo.yaml:2: there is no setting 'training.sead'. Did you mean 'training.seed'?",
    ),
    "impossible value": (
        ["--set", "batch_size=0"],
        "--set batch_size=0: batch_size = 0 is not possible: input should be greater than 0.",
    ),
    "impossible value in a file": (
        ["--config", "bounds.yaml"],
        "bounds.yaml:3: batch_size = 0 is not possible: input should be greater than 0.",
    ),
    "impossible flag": (
        ["--seed", "-1"],
        "--seed: training.seed = -1 is not possible: input should be greater than or equal to 0.",
    ),
    "unknown device": (["--device", "tpu"], "--device: training.device = 'tpu' is not possible:"),
    "missing file": (["--config", "no.yaml"], "there is no settings file no.yaml."),
    "broken file": (["--config", "broken.yaml"], "broken.yaml:2 is not valid YAML:"),
    "malformed assignment": (["--set", "seed"], "--set seed: expected KEY=VALUE, for example"),
    "infinite number": (["--set", "training.clip=.inf"], "training.clip = inf is not possible"),
    "option of another type": (
        ["--set", "training.optimiser.options.adamw_lr=2020-01-01"],
        "optimiser 'muon': option adamw_lr = '2020-01-01' is not possible: input should be a valid",
    ),
    "bad name": (
        ["--name", "a/b"],
        "--name 'a/b' is not possible: it must be a plain folder name",
    ),
    "bad length": (
        ["--length", "3 bananas"],
        "training.length = '3 bananas' is not possible: give a number above 0 and one of steps",
    ),
    "no length": (["--length", "0 steps"], "training.length = '0 steps' is not possible"),
    "unknown optimiser": (
        ["--set", "training.optimiser.name=muom"],
        "no optimiser is called 'muom'. Did you mean 'muon'? Known: adagrad, adam, adamw, muon",
    ),
    "unknown option": (
        ["--set", "training.optimiser.options.adam_lr=1"],
        "optimiser 'muon' has no option 'adam_lr'. Did you mean 'adamw_lr'? It takes: ",
    ),
    "unknown schedule": (
        ["--set", "training.schedule.name=cosin"],
        "no schedule is called 'cosin'. Did you mean 'cosine'? Known: constant, cosine, linear.",
    ),
    "warm-up longer than the run": (
        ["--set", "training.schedule.warmup=50"],
        "training.schedule.warmup = 50 is 50 steps, but the run has 2; choose fewer",
    ),
    "heads": (
        ["--set", "model.n_heads=5"],
        "d_model = 12 does not divide into n_heads = 5 heads.",
    ),
    "too many people": (
        ["--set", "world.people=75169"],
        "people = 75169 is not possible: there are 75168 names. Choose fewer people.",
    ),
    "too many biographies": (
        ["--set", "world.biographies=27"],
        "biographies = 27 is not possible: a birthplace can be told in 26 ways.",
    ),
    "too many sentences": (
        ["--set", "world.sentences=9"],
        "world.sentences = 9 is not possible: input should be less than or equal to 5.",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_a_line_or_two_and_changes_nothing(
    attnlab: Attnlab, tmp_path: Path, mistake: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    Run.begin("job", {}, RunPlace(tmp_path / "runs", "older"))
    before = everything(tmp_path)
    arguments, message = MISTAKES[mistake]
    code, out, err = attnlab(*DEMO, *TINY, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: ")
    assert message in err
    assert len(err.splitlines()) <= 2
    assert everything(tmp_path) == before


def test_debug_shows_the_traceback(attnlab: Attnlab) -> None:
    with pytest.raises(UserError, match=r"there is no setting 'nonsense'"):
        attnlab("--debug", *DEMO, "--set", "nonsense=1")


def test_a_process_that_does_not_lead_says_which_it_is(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, out, err = attnlab(*DEMO, "--set", "nonsense=1")
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: [process 1] --set nonsense=1: there is no setting")


def test_a_rank_left_over_in_the_environment_mutes_nothing(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    assert attnlab(*DEMO, "--set", "nonsense=1").err.startswith("attnlab: --set nonsense=1")


def test_several_processes_without_torchrun_are_refused(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, out, err = attnlab(*DEMO)
    assert (code, out) == (2, "")
    assert "WORLD_SIZE is 2, but RANK, MASTER_ADDR, MASTER_PORT is not set" in err


@pytest.mark.parametrize("name", [name for name in ATTENTION.names() if name != "dot_product"])
def test_a_demo_runs_with_every_attention(attnlab: Attnlab, name: str) -> None:
    code, out, err = attnlab(*DEMO, *TINY, "--attention", name, "--name", "first")
    assert code == 0, err
    record = Run.open(Path("runs/first")).record
    assert (record["leak"]["largest_change"] > 0) == (name == "late_mask")
    assert ("It sees the future: the output at position" in out) == (name == "late_mask")


def test_a_demo_runs_with_an_attention_of_ones_own(attnlab: Attnlab) -> None:
    Path("mine.py").write_text(class_with(None), encoding="utf-8")
    code, _, err = attnlab(*DEMO, *TINY, "--attention", "mine.py:MyAttention", "--name", "first")
    assert code == 0, err
    resolved = Run.open(Path("runs/first")).config["resolved"]
    assert resolved["attention_files"] == sha256(Path("mine.py").read_bytes()).hexdigest()


def test_an_attention_that_sees_the_future_in_secret_is_refused_before_step_1(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    (bug,) = [mutant for mutant in MUTANTS if mutant.name == "mask after softmax"]
    Path("mine.py").write_text(class_with(bug), encoding="utf-8")
    code, out, err = attnlab(*DEMO, *TINY, "--attention", "mine.py:MyAttention")
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: this model sees the future: the output at position ")
    assert list((tmp_path / "runs").iterdir()) == []
