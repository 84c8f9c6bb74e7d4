"""Precision and attention path are the run's, for whoever asks its model; threads the machine's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.attention import fast_path
from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError
from attnlab.evaluation.comparison import compare
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.classify.settings import ClassifySettings, PredictSettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.ask import QASession
from attnlab.recipes.knowledge.opened import open_model
from attnlab.recipes.knowledge.settings import EvaluateSettings, PretrainSettings
from attnlab.recipes.knowledge.world import write_world
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from small_bert import write_reviews, write_small_bert

QUIET = Console(quiet=True)
BOTH = ("float32", "bfloat16")
ALL = (*BOTH, "float64")
OTHER = {"float32": "bfloat16", "bfloat16": "float32"}
TRAINING = TrainingSettings(
    length="30 steps", optimizer=OptimizerSettings("adamw", lr=5e-3), threads=1
)


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without a variable, and give torch its threads and the attention path back."""
    monkeypatch.delenv("ATTNLAB_PRECISION", raising=False)
    monkeypatch.setattr(fast_path, "_fused_from", None)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=BOTH)
def precision(request: pytest.FixtureRequest) -> str:
    """What `auto` comes to while a run is trained."""
    return str(request.param)


def train_classifier(folder: Path, training: TrainingSettings = TRAINING) -> Run:
    if not (folder / "bert").exists():
        write_small_bert(folder / "bert")
        write_reviews(folder / "reviews")
    settings = ClassifySettings(
        model=str(folder / "bert"),
        train=str(folder / "reviews" / "train.csv"),
        dev=str(folder / "reviews" / "dev.csv"),
        max_len=16,
        batch_size=20,
        training=training,
    )
    run: Run = find_job("classify-train").run(settings, place=RunPlace(folder), console=QUIET)
    return run


def predict(run: Run, texts: Path) -> Run:
    settings, place = PredictSettings(str(run.path), str(texts)), RunPlace(run.path.parent)
    found: Run = find_job("classify-predict").run(settings, place=place, console=QUIET)
    return found


def read(folder: Path, precision: str = "auto") -> Run:
    write_world(WorldSettings(people=20, biographies=1), folder / "world")
    settings = PretrainSettings(
        corpus=str(folder / "world" / "wiki.txt"),
        test=str(folder / "world" / "birth_test.tsv"),
        model=ModelSettings(12, 3, 1),
        training=replace(TRAINING, length="3 steps", precision=precision),  # type: ignore[arg-type]
    )
    run: Run = find_job("knowledge-pretrain").run(settings, place=RunPlace(folder), console=QUIET)
    return run


@pytest.mark.parametrize("precision", ALL)
def test_predictions_are_those_of_the_run_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    with monkeypatch.context() as training:
        if precision in BOTH:
            training.setenv("ATTNLAB_PRECISION", precision)
        chosen = "auto" if precision in BOTH else precision
        run = train_classifier(tmp_path, replace(TRAINING, precision=chosen))  # type: ignore[arg-type]
    assert run.config["resolved"]["hardware"]["precision"] == precision
    found = predict(run, tmp_path / "reviews" / "dev.csv")
    assert found.config["resolved"]["hardware"]["precision"] == precision
    values = [
        [(row["gold"], row["prediction"], row["confidence"], row["loss"]) for row in rows]
        for rows in (run.predictions("dev"), found.predictions(str(found.record["file_split"])))
    ]
    assert values[0] == values[1]


def test_asking_in_the_other_precision_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: whoever asks takes what `auto` comes to on this machine."""
    with monkeypatch.context() as training:
        training.setenv("ATTNLAB_PRECISION", "float32")
        run = train_classifier(tmp_path)
    monkeypatch.setattr("attnlab.recipes.opening.precision_of", lambda _: "bfloat16")
    found = predict(run, tmp_path / "reviews" / "dev.csv")
    confidences = [
        [row["confidence"] for row in rows]
        for rows in (run.predictions("dev"), found.predictions(str(found.record["file_split"])))
    ]
    assert confidences[0] != confidences[1]


def test_a_reader_is_evaluated_and_asked_as_it_was_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    with monkeypatch.context() as training:
        training.setenv("ATTNLAB_PRECISION", precision)
        training.setattr(fast_path, "recorded_or_measured", lambda _: 77)
        run = read(tmp_path)
    monkeypatch.setattr(fast_path, "recorded_or_measured", lambda _: pytest.fail("measured again"))
    questions = EvaluateSettings(str(run.path), str(tmp_path / "world/birth_test.tsv"), samples=0)
    found = find_job("knowledge-evaluate").run(questions, place=RunPlace(tmp_path), console=QUIET)
    resolved = found.config["resolved"]
    assert resolved["hardware"]["precision"] == precision
    assert resolved["fused_attention_from"] == 77
    assert [row["confidence"] for row in found.predictions(str(found.record["file_split"]))] == [
        row["confidence"] for row in run.predictions("test")
    ]
    fast_path.use(5)
    session = QASession(open_model(run.path), samples=1)
    assert session.hardware.precision == precision
    assert fast_path._fused_from == 77
    row = run.predictions("test")[0]
    answer = session.answer(row["input"])
    assert answer.probability == pytest.approx(row["confidence"], rel=0.02)


def test_a_reader_in_double_precision_is_not_rounded_when_it_is_asked(tmp_path: Path) -> None:
    run = read(tmp_path, "float64")
    questions = EvaluateSettings(str(run.path), str(tmp_path / "world/birth_test.tsv"), samples=0)
    found = find_job("knowledge-evaluate").run(questions, place=RunPlace(tmp_path), console=QUIET)
    assert [row["confidence"] for row in found.predictions(str(found.record["file_split"]))] == [
        row["confidence"] for row in run.predictions("test")
    ]


def test_runs_of_different_precisions_are_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    for seed, precision in enumerate(BOTH):
        monkeypatch.setenv("ATTNLAB_PRECISION", precision)
        runs.append(train_classifier(tmp_path, replace(TRAINING, length="2 steps", seed=seed)))
    names = "; ".join(f"{p}: {run.name}" for p, run in zip(BOTH, runs, strict=True))
    assert f"These runs were computed in different precisions ({names})." in compare(runs).notes


def test_another_precision_in_the_environment_is_refused_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    monkeypatch.setenv("ATTNLAB_PRECISION", precision)
    run = train_classifier(tmp_path)
    monkeypatch.setenv("ATTNLAB_PRECISION", OTHER[precision])
    message = (
        rf"^ATTNLAB_PRECISION={OTHER[precision]}, but classify-train-\w+ was begun in {precision} "
    )
    with pytest.raises(UserError, match=message):
        train_classifier(tmp_path)
    with pytest.raises(UserError, match=message):
        predict(run, tmp_path / "reviews" / "dev.csv")
    monkeypatch.setenv("ATTNLAB_PRECISION", precision)
    assert train_classifier(tmp_path).path == run.path, "a name is of settings before resolution"


def test_a_precision_that_was_set_needs_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    monkeypatch.setenv("ATTNLAB_PRECISION", OTHER[precision])
    training = replace(TRAINING, length="2 steps", precision=precision)  # type: ignore[arg-type]
    run = train_classifier(tmp_path, training)
    found = predict(run, tmp_path / "reviews" / "dev.csv")
    for one in (run, found):
        assert one.config["resolved"]["hardware"]["precision"] == precision


def test_a_precision_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_PRECISION", "half")
    message = r"^ATTNLAB_PRECISION=half is not possible: give float32 or bfloat16\.$"
    with pytest.raises(UserError, match=message):
        train_classifier(tmp_path)
    assert not list(tmp_path.glob("classify-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "variable", "threads"),
    [(0, "1", 1), (2, "1", 2), (0, "2,1", 2), (0, "", 3)],
    ids=["variable", "setting before variable", "first of a list", "measured"],
)
def test_threads_are_the_settings_then_the_variables_then_measured(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    setting: int,
    variable: str,
    threads: int,
) -> None:
    monkeypatch.setattr("attnlab.runs.machine.cores", lambda: 3)
    monkeypatch.setattr("attnlab.training.speed_trial.faster_threads", lambda *_, **__: 3)
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    run = train_classifier(tmp_path, replace(TRAINING, length="1 step", threads=setting))
    assert run.record["resolved"]["threads"] == threads


@pytest.mark.parametrize("variable", ["many", "0", "-1", "2000"])
def test_threads_that_are_no_number_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    with pytest.raises(UserError, match=rf"^OMP_NUM_THREADS={variable} is not possible: give a"):
        train_classifier(tmp_path, replace(TRAINING, threads=0))
