"""Cells that fail by themselves: nan, memory; they are results, and the study goes on."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.cluster.process import Ended
from attnlab.errors import UserError, WriteError
from attnlab.evaluation.failures import part_failed
from attnlab.recipes import cells
from attnlab.recipes.classify.settings import (
    ClassifySettings,
    CompareSettings,
    SelectSettings,
)
from attnlab.recipes.jobs import find_job
from attnlab.recipes.reporting import report_on
from attnlab.report.document import Block, Figure, Sentences, Table
from attnlab.report.sections.contestants import CONTESTANTS
from attnlab.report.sections.selection import SELECTION
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from small_bert import write_small_bert

QUIET = Console(quiet=True)
TOO_HIGH = 1e6
MIB = 2**20


def study_of(job: str, settings: Any, folder: Path, **more: Any) -> Study:
    place = RunPlace(folder / "runs", "study")
    study: Study = find_job(job).run(settings, place=place, console=QUIET, **more)
    return study


def text_of(blocks: list[Block]) -> str:
    lines = [line for block in blocks if isinstance(block, Sentences) for line in block.lines]
    return "\n".join(lines)


def test_a_cell_whose_loss_becomes_nan_is_not_chosen_and_the_grid_goes_on(
    base: ClassifySettings, tmp_path: Path
) -> None:
    settings = SelectSettings((TOO_HIGH, 1e-2), (6, 7), base=base)
    study = study_of("classify-select", settings, tmp_path)
    assert study.is_finished
    assert study.featured == "chosen"
    failed = {run.name: run.failure for run in study.opened() if run.failure}
    assert list(failed) == ["lr-1e6-epochs-6-seed-0", "lr-1e6-epochs-7-seed-0"]
    assert {failure["kind"] for failure in failed.values()} == {"nan"}
    assert (
        "it needs lr-1e6-epochs-6-seed-0, which failed: step "
        in (failed["lr-1e6-epochs-7-seed-0"]["message"])
    )
    blocks = list(SELECTION.summary(study.opened()))
    table = next(block for block in blocks if isinstance(block, Table))
    assert table.rows[0] == ["1e6", "collapsed: nan !", "collapsed: nan !"]
    assert table.rows[1][0] == "1e-2"
    assert any(cell.endswith("*") for cell in table.rows[1])
    assert "No score, so not to be chosen: learning rate 1e6, epochs 6, collapsed: nan. step" in (
        text_of(blocks)
    )
    assert report_on([study.path], as_markdown=True).exists()
    written = {run.name: (run.path / "record.json").stat().st_mtime_ns for run in study.begun()}
    again = study_of("classify-select", settings, tmp_path)
    assert written == {
        run.name: (run.path / "record.json").stat().st_mtime_ns for run in again.begun()
    }


def test_where_every_cell_fails_nothing_is_chosen(base: ClassifySettings, tmp_path: Path) -> None:
    settings = SelectSettings((TOO_HIGH,), (6,), base=base)
    study = study_of("classify-select", settings, tmp_path)
    assert (study.is_finished, study.featured) == (True, None)
    assert "Nothing was chosen: every cell has failed." in text_of(
        list(SELECTION.summary(study.opened()))
    )
    assert report_on([study.path], as_markdown=False).exists()


def test_seeds_that_survive_do_not_speak_for_those_that_do_not(
    base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = find_job("classify-train").work

    def second_seed_fails(job: str, settings: ClassifySettings, **more: Any) -> Any:
        if settings.training.seed == 1 and settings.training.optimizer.lr == 1e-2:
            raise MemoryError
        return train(job, settings, **more)

    monkeypatch.setattr("attnlab.recipes.classify.train.run_train", second_seed_fails)
    settings = SelectSettings((1e-6, 1e-2), (2,), seeds=2, base=base)
    study = study_of("classify-select", settings, tmp_path)
    sound, (failed,) = part_failed(study.opened()[:4])
    assert [run.name for run in sound] == ["lr-1e-6-seed-0", "lr-1e-6-seed-1"]
    assert failed.result == "0, memory (1 of 2 seeds)"
    assert study.opened()[-1].setting("training")["optimizer"]["lr"] == 1e-6


@pytest.fixture
def models(base: ClassifySettings, tmp_path: Path) -> CompareSettings:
    large = write_small_bert(tmp_path / "large", d_mlp=20_000)
    return CompareSettings(
        (base.model, str(large), str(write_small_bert(tmp_path / "flat", n_layers=1))),
        lrs=(1e-2,),
        epochs=(2,),
        base=base,
    )


def check_compared(study: Study, message: str) -> None:
    """A model that does not fit scores 0, in the table and in the figures; the others go on."""
    assert study.is_finished
    assert list(study.runs) == ["bert-chosen", "large-seed-0", "flat-chosen"]
    blocks = list(CONTESTANTS.summary(study.opened()))
    first = next(block for block in blocks if isinstance(block, Table))
    assert first.rows == [["large-seed-0", "0, memory"]]
    assert f"large-seed-0: {message}" in text_of(blocks)
    drawn = [block.figure for block in blocks if isinstance(block, Figure)]
    assert len(drawn) == 2
    for figure in drawn:
        assert "0, memory" in [text.get_text() for text in figure.axes[0].texts]


def test_a_model_that_does_not_fit_scores_0_and_the_others_are_compared(
    models: CompareSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.runs.memory.free_memory_bytes", lambda: 8 * MIB)
    study = study_of("classify-compare", models, tmp_path)
    check_compared(study, f"{models.models[1]}: a model of num_hidden_layers = 2")
    assert report_on([study.path], as_markdown=False).exists()


def test_a_cell_that_the_system_kills_for_want_of_memory_scores_0(
    models: CompareSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Side by side; what its process said of its end is tested with that process."""
    from test_cells import InThisProcess

    killed = Ended("large-seed-0", -9, "the system killed it.", "memory")

    def make(size: int, environment: dict[str, str]) -> InThisProcess:
        pool = InThisProcess(size, environment)
        pool.before = lambda name: killed if name == killed.name else None
        return pool

    monkeypatch.setattr(cells, "Pool", make)
    study = study_of("classify-compare", models, tmp_path, parallel=2)
    check_compared(study, "the system killed it.")


@pytest.mark.parametrize("error", [WriteError("The disk is full."), UserError("No such file.")])
def test_what_would_end_every_cell_ends_the_study(
    error: Exception, base: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("attnlab.recipes.classify.train.run_train", fails)
    with pytest.raises(type(error), match=str(error)):
        study_of("classify-select", SelectSettings((1e-2,), (1,), base=base), tmp_path)
    assert not list(tmp_path.glob("runs/study/*/record.json"))
