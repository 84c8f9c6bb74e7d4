"""``attnlab knowledge pretrain`` and ``demo``: from end to end, and every wrong setting."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from knowledge_files import PRETRAIN, everything, make_world

import my_attention
from attnlab.attention import ATTENTION
from attnlab.errors import UserError
from attnlab.runs.directory import Run, RunPlace

pytestmark = pytest.mark.precision

Attnlab = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.usefixtures("short_answers")

OWN = Path(my_attention.__file__).read_text(encoding="utf-8")
DEMO = [
    *("knowledge", "demo", "--name", "mine", "--length", "2 steps"),
    *("--set", "world={people: 10, biographies: 2}"),
    *("--set", "model={d_model: 12, n_heads: 3, n_layers: 1, ngram_table: {rows: 101}}"),
    *("--set", "questions_length=1 step", "--set", "training.threads=1"),
]
RUNS = ["majority", "questions-alone", "recall", "synthesizer"]


@pytest.mark.slow
def test_a_demo_compares_four_runs_and_shows_the_same_when_asked_again(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    """Also when it was stopped in the middle: what is finished stays, what is missing is run."""
    code, out, err = attnlab(*DEMO)
    assert code == 0, err
    study = tmp_path / "runs" / "mine"
    assert json.loads((study / "study.json").read_text())["runs"] == RUNS
    for name in RUNS:
        assert name in out
        assert Run.open(study / name).record["scores"]["test"]["n"] == 2
    assert out.count("Where was") == 2  # about two people, and as an example of asking
    assert out.endswith("runs/mine/report/report.html\n")
    page = (study / "report" / "report.html").read_text(encoding="utf-8")
    assert "Where were they born?" in page
    assert all(f"{name}: 2 steps" in err for name in ("recall", "synthesizer"))
    assert "questions-alone: 1 step" in err
    assert "\x1b" not in out + err

    before = everything(study)
    assert attnlab(*DEMO) == (0, out, "")
    after = everything(study)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} <= {
        name for name in after if name.startswith("report/")
    }

    # As if it had been killed before the last run's record, and again before that run.
    saved = json.loads((study / "study.json").read_text()) | {"runs": RUNS[:2]}
    (study / "study.json").write_text(json.dumps(saved))
    (study / "manifest.json").unlink()
    (study / "recall" / "record.json").unlink()
    shutil.rmtree(study / "synthesizer")
    code, again, err = attnlab(*DEMO)
    assert (code, again) == (0, out)
    assert "synthesizer: 2 steps" in err
    assert "questions-alone" not in err
    assert json.loads((study / "study.json").read_text())["runs"] == RUNS
    kept = {n: v for n, v in before.items() if n.startswith(("world/", "majority/", "questions-"))}
    assert kept.items() <= everything(study).items()


def test_a_demo_with_other_settings_under_the_same_name_is_refused(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    study = {
        "format": 3,
        "job": "knowledge-demo",
        "settings": {"questions_length": "3 steps"},
        "runs": [],
    }
    (folder / "study.json").write_text(json.dumps(study))
    before = everything(tmp_path)
    code, out, err = attnlab(*DEMO)
    assert (code, out) == (2, "")
    assert "the study runs/mine exists with other settings (" in err
    assert "questions_length: '3 steps' there, '1 step' now" in err
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.n_heads=5", "d_model = 12 does not divide into n_heads = 5 heads."),
        ("world.people=150337", "people = 150337 is not possible: there are 150336 names."),
        ("training.optimizer.name=muom", "no optimizer is called 'muom'. Did you mean 'muon'?"),
    ],
)
def test_a_mistake_in_a_demo_leaves_nothing_behind(
    attnlab: Attnlab, tmp_path: Path, setting: str, message: str
) -> None:
    Run.begin("job", {}, RunPlace(tmp_path / "runs", "older"))
    before = everything(tmp_path)
    code, out, err = attnlab(*DEMO, "--set", setting)
    assert (code, out) == (2, "")
    assert message in err
    assert everything(tmp_path) == before


def test_a_run_goes_to_its_end_and_then_shows_its_result(attnlab: Attnlab, tmp_path: Path) -> None:
    make_world(tmp_path)
    code, out, err = attnlab(*PRETRAIN, "--name", "first")
    assert code == 0, err
    assert "Where was" in out
    assert out.endswith("runs/first\n")
    assert "2 steps" in err
    assert "\x1b" not in out + err
    before = everything(tmp_path)
    assert {"runs/first/record.json", "runs/first/predictions/test.jsonl"} <= before.keys()

    assert attnlab(*PRETRAIN, "--name", "first") == (0, out, "")
    assert everything(tmp_path).keys() - before.keys() == set()

    code, _, err = attnlab(*PRETRAIN, "--name", "first", "--seed", "4")
    assert code == 2
    assert "exists with other settings (training.seed: 0 there, 4 now)" in err
    assert everything(tmp_path) == before


def test_a_run_takes_its_folder_from_the_environment(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_world(tmp_path)
    monkeypatch.setenv("ATTNLAB_RUNS", "elsewhere")
    code, out, err = attnlab(*PRETRAIN)
    assert code == 0, err
    assert out.splitlines()[-1].startswith("elsewhere/knowledge-pretrain-")
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "world"}


@pytest.mark.parametrize("job", ["pretrain", "finetune", "demo", "extraction"])
def test_the_settings_are_printed_as_a_file_that_can_be_given_back(
    attnlab: Attnlab, tmp_path: Path, job: str
) -> None:
    words = ("knowledge", job, "--settings")
    code, out, _ = attnlab(*words, "--set", "model.d_model=24", "--set", "batch_tokens=7")
    assert code == 0
    values = yaml.safe_load(out)
    assert (values["batch_tokens"], values["model"]["d_model"]) == (7, 24)
    (tmp_path / "mine.yaml").write_text(out, encoding="utf-8")
    assert attnlab(*words, "--config", "mine.yaml") == (0, out, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_recipe_and_a_size_give_other_settings(attnlab: Attnlab) -> None:
    words = ("knowledge", "pretrain", "--settings")
    course = yaml.safe_load(attnlab(*words, "--recipe", "course").out)
    assert course["tokenizer"]["kind"] == "characters"
    assert course["objective"]["name"] == "span_corruption"
    forms = {"block": 128, "shift": len("Where was "), "untitled": 0.5, "draws": 2}
    assert course["objective"]["options"] == forms, "names stand where the questions have them"
    letter = yaml.safe_load(attnlab(*words, "--recipe", "original").out)
    assert letter["objective"]["options"] == {"block": 128}
    assert letter["training"]["length"] == "650 epochs"
    assert course["model"]["d_model"] == 256
    small = yaml.safe_load(attnlab(*words, "--recipe", "course", "--size", "small").out)
    assert small["model"] == yaml.safe_load(attnlab(*words).out)["model"]
    assert small["objective"] == course["objective"]


FILES = {
    "typo.yaml": "training:\n  sead: 1\n",
    "bounds.yaml": "training:\n  seed: 1\nbatch_tokens: 0\n",
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
        ["--set", "batch_tokens=0"],
        "--set batch_tokens=0: batch_tokens = 0 is not possible: input should be greater than 0.",
    ),
    "impossible value in a file": (
        ["--config", "bounds.yaml"],
        "bounds.yaml:3: batch_tokens = 0 is not possible: input should be greater than 0.",
    ),
    "impossible flag": (
        ["--seed", "-1"],
        "--seed -1: training.seed = -1 is not possible: input should be greater than or equal to 0",
    ),
    "unknown device": (
        ["--device", "tpu"],
        "--device tpu: training.device = 'tpu' is not possible:",
    ),
    "missing file": (["--config", "no.yaml"], "there is no settings file no.yaml."),
    "broken file": (["--config", "broken.yaml"], "broken.yaml:2 is not valid YAML:"),
    "malformed assignment": (["--set", "seed"], "--set seed: expected KEY=VALUE, for example"),
    "infinite number": (["--set", "training.clip=.inf"], "training.clip = inf is not possible"),
    "option of another type": (
        ["--set", "training.optimizer.options.adamw_lr=2020-01-01"],
        "optimizer 'muon': option adamw_lr = '2020-01-01' is not possible: input should be a valid",
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
    "unknown optimizer": (
        ["--set", "training.optimizer.name=muom"],
        "no optimizer is called 'muom'. Did you mean 'muon'? Known: adagrad, adam, adamw, muon",
    ),
    "unknown option": (
        ["--set", "training.optimizer.options.adam_lr=1"],
        "optimizer 'muon' has no option 'adam_lr'. Did you mean 'adamw_lr'? It takes: ",
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
    "unknown recipe": (
        ["--recipe", "corse"],
        "no recipe is called 'corse'. Did you mean 'course'? Known: course, original, recall,",
    ),
    "unknown size": (
        ["--size", "huge"],
        "no size is called 'huge'. Known: course, small.",
    ),
    "unknown objective": (
        ["--set", "objective.name=salient_span"],
        "no objective is called 'salient_span'. Did you mean 'salient_spans'? Known: running",
    ),
    "unknown objective option": (
        ["--set", "objective.options.contxt=1"],
        "objective 'salient_spans' has no option 'contxt'. Did you mean 'context'? It takes: spans",
    ),
    "impossible objective option": (
        ["--set", "objective.options.block=1"],
        "objective 'salient_spans': option block = 1 is not possible: input should be greater",
    ),
    "impossible share": (
        ["--held-out", "1"],
        "--held-out 1: held_out = 1.0 is not possible: input should be less than 1.",
    ),
    "everything held out": (
        ["--held-out", "0.99"],
        "held_out = 0.99 leaves none of 6 training questions to learn from.",
    ),
    "small tokenizer": (
        ["--set", "tokenizer.size=257"],
        "tokenizer.size = 257 is not possible: input should be greater than or equal to 258.",
    ),
    "no orders": (
        ["--set", "model.ngram_table.orders=[]"],
        "model.ngram_table.orders = [] is not possible:",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_a_line_or_two_and_changes_nothing(
    attnlab: Attnlab, tmp_path: Path, mistake: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    make_world(tmp_path)
    Run.begin("job", {}, RunPlace(tmp_path / "runs", "older"))
    before = everything(tmp_path)
    arguments, message = MISTAKES[mistake]
    code, out, err = attnlab(*PRETRAIN, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: ")
    assert message in err
    assert len(err.splitlines()) <= 2
    assert everything(tmp_path) == before


def test_debug_shows_the_traceback(attnlab: Attnlab) -> None:
    with pytest.raises(UserError, match=r"there is no setting 'nonsense'"):
        attnlab("--debug", *PRETRAIN, "--set", "nonsense=1")


def test_a_process_that_does_not_lead_says_which_it_is(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, out, err = attnlab(*PRETRAIN, "--set", "nonsense=1")
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: [process 1] --set nonsense=1: there is no setting")


def test_a_rank_left_over_in_the_environment_mutes_nothing(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    assert attnlab(*PRETRAIN, "--set", "nonsense=1").err.startswith("attnlab: --set nonsense=1")


def test_several_processes_without_torchrun_are_refused(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, out, err = attnlab(*PRETRAIN)
    assert (code, out) == (2, "")
    assert "WORLD_SIZE is 2, but RANK, MASTER_ADDR, MASTER_PORT is not set" in err


LEARNED = ("--positions", "learned", "--name", "first")  # rotary does not go with every attention


@pytest.mark.parametrize("name", [name for name in ATTENTION.names() if name != "dot_product"])
def test_a_run_learns_with_every_attention(attnlab: Attnlab, tmp_path: Path, name: str) -> None:
    make_world(tmp_path)
    code, out, err = attnlab(*PRETRAIN, *LEARNED, "--attention", name)
    assert code == 0, err
    record = Run.open(Path("runs/first")).record
    assert (record["leak"]["largest_change"] > 0) == (name == "late_mask")
    assert ("It sees the future: the output at position" in out) == (name == "late_mask")


def test_a_run_learns_with_an_attention_of_ones_own(attnlab: Attnlab, tmp_path: Path) -> None:
    make_world(tmp_path)
    Path("mine.py").write_text(OWN, encoding="utf-8")
    code, _, err = attnlab(*PRETRAIN, *LEARNED, "--attention", "mine.py:MyAttention")
    assert code == 0, err
    resolved = Run.open(Path("runs/first")).config["resolved"]
    assert resolved["attention_files"] == sha256(Path("mine.py").read_bytes()).hexdigest()


def test_an_attention_that_sees_the_future_in_secret_is_refused_before_step_1(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    hides = "scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)"
    assert hides in OWN
    make_world(tmp_path)
    Path("mine.py").write_text(
        OWN.replace(hides, "pass  # and masks after the softmax"), encoding="utf-8"
    )
    own = ("--attention", "mine.py:MyAttention")
    code, out, err = attnlab(*PRETRAIN, *LEARNED, *own, "--set", "prefer=answers")
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: this model sees the future: the output at position ")
    assert list((tmp_path / "runs").iterdir()) == []
