"""Plain text: noticed before training, its end held out and never trained on, resumed exactly."""

import io
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.data.settings import WorldSettings
from attnlab.errors import StoppedError, UserError
from attnlab.evaluation.comparison import compare
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.knowledge import pretrain
from attnlab.recipes.knowledge.language_model import load_language_model
from attnlab.recipes.knowledge.recipe_choice import fitted_to, recipe_for
from attnlab.recipes.knowledge.saved import open_saved
from attnlab.recipes.knowledge.settings import (
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
    find_recipe,
)
from attnlab.recipes.knowledge.world import write_world
from attnlab.report.tables import warnings_of
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import loop
from attnlab.training.settings import TrainingSettings

PROSE = "".join(f"the {i}th wave came up the shore and\nwent, as waves do.\n\n" for i in range(30))
SECRET = "zebras quarrel quietly"
NOTICE = "has no lines that begin with a name: training on plain text; the last 10 % is held out"
TRAINING = TrainingSettings(length="4 steps", threads=1, precision="float32", evaluate_every=2)


@pytest.fixture
def settings(tmp_path: Path) -> PretrainSettings:
    """Prose whose last line nothing before it holds."""
    path = tmp_path / "prose.txt"
    path.write_text(f"{PROSE}{SECRET}\n", encoding="utf-8")
    return PretrainSettings(
        corpus=str(path),
        tokenizer=TokenizerSettings(size=280),
        model=ModelSettings(d_model=12, n_heads=3, n_layers=1),
        batch_tokens=300,
        training=TRAINING,
    )


def trained(settings: PretrainSettings, folder: Path, name: str = "run") -> tuple[Run, str]:
    said = io.StringIO()
    console = Console(file=said, width=200)
    place = RunPlace(folder / "runs", name)
    return pretrain.run_pretrain("knowledge-pretrain", settings, place=place, console=console), (
        said.getvalue()
    )


def test_prose_is_noticed_and_its_end_is_scored(settings: PretrainSettings, tmp_path: Path) -> None:
    run, said = trained(settings, tmp_path)
    assert f"prose.txt {NOTICE} for perplexity." in said
    assert run.config["resolved"]["objective"] == "running_text"
    score, rows = run.record["scores"]["held_out_text"], run.predictions("held_out_text")
    assert score["metric"] == "perplexity"
    assert score["n"] == len(rows)
    by_hand = math.exp(sum(row["loss"] for row in rows) / sum(row["tokens"] for row in rows))
    assert score["value"] == pytest.approx(by_hand, rel=1e-12)
    held_out = "".join(row["input"] for row in rows)
    assert sum(row["characters"] for row in rows) == score["characters"] <= len(held_out)
    assert score["repeats"] == {"repeated": 0, "lines": 0, "shortest": 40}
    assert score["interval"][0] <= score["value"] <= score["interval"][1]
    assert run.record["leak"]["largest_change"] == 0
    assert run.record["chosen_on"] == "nothing: the last step is kept"
    evaluated = [line for line in run.metrics() if "held_out_text_perplexity" in line]
    assert [line["step"] for line in evaluated] == [2, 4]
    assert evaluated[-1]["held_out_text_perplexity"] == pytest.approx(by_hand, rel=1e-6)
    assert SECRET in "".join(row["input"] for row in rows)


def test_the_stored_losses_are_those_of_the_model(
    settings: PretrainSettings, tmp_path: Path
) -> None:
    """By hand: the whole row through the model, and its log-probabilities token by token."""
    run, _ = trained(settings, tmp_path)
    lm = load_language_model(run)
    lm.model.eval()
    row = run.predictions("held_out_text")[0]
    tokens = lm.tokenizer.encode(row["input"])
    with torch.no_grad():
        likely = lm.model(torch.tensor([tokens[:-1]]))[0].double().log_softmax(-1)
    loss = -sum(float(likely[place, token]) for place, token in enumerate(tokens[1:]))
    assert loss == pytest.approx(row["loss"], rel=1e-5)


def test_entries_are_not_taken_for_prose(settings: PretrainSettings, tmp_path: Path) -> None:
    write_world(WorldSettings(people=10, biographies=2, unwritten=0), tmp_path / "world")
    wiki = str(tmp_path / "world" / "wiki.txt")
    run, said = trained(replace(settings, corpus=wiki), tmp_path)
    assert "plain text" not in said
    assert run.config["resolved"]["objective"] == "salient_spans"
    assert run.record["scores"] == {}
    assert (recipe_for(wiki), recipe_for(settings.corpus)) == ("recall", "text")
    assert (recipe_for(""), recipe_for("nowhere.txt")) == ("recall", "recall")
    forced = replace(settings, corpus=wiki, objective=ObjectiveSettings("running_text"))
    run, said = trained(forced, tmp_path, "forced")
    assert "wiki.txt: training on plain text; the last 10 % is held out for perplexity." in said
    assert "held_out_text" in run.record["scores"]


def test_the_objective_can_be_forced(settings: PretrainSettings, tmp_path: Path) -> None:
    for name in ("text", "span_corruption"):
        forced = replace(settings, objective=ObjectiveSettings(name))
        run, said = trained(forced, tmp_path, name)
        assert "plain text" not in said
        assert run.record["scores"] == {}


def test_the_end_that_repeats_the_text_is_called_optimistic(
    settings: PretrainSettings, tmp_path: Path
) -> None:
    line = "this line of the text is long and comes again at its very end"
    Path(settings.corpus).write_text(f"{line}\n{PROSE}{line}\n", encoding="utf-8")
    run, _ = trained(settings, tmp_path)
    assert run.record["scores"]["held_out_text"]["repeats"]["repeated"] == 1
    assert any("this score is optimistic" in warning for warning in warnings_of(run))
    other = replace(settings, training=replace(TRAINING, seed=1, length="5 steps"))
    notes = compare([run, trained(other, tmp_path, "other")[0]]).notes
    assert any("long lines also stand in the training text" in note for note in notes)


@pytest.mark.parametrize("name", ["recall", "course", "original", "text"])
def test_every_recipe_reads_plain_text_as_such(
    settings: PretrainSettings, tmp_path: Path, name: str
) -> None:
    recipe = find_recipe(name).pretrain
    fitted = fitted_to(settings.corpus, recipe)
    assert fitted == replace(recipe, objective=fitted.objective)
    small = replace(
        fitted, corpus=settings.corpus, model=settings.model, batch_tokens=300, training=TRAINING
    )
    run, said = trained(small, tmp_path, name)
    assert NOTICE in said
    assert run.record["scores"]["held_out_text"]["metric"] == "perplexity"


def test_a_recipe_keeps_its_objective_for_entries(tmp_path: Path) -> None:
    write_world(WorldSettings(people=10, biographies=2, unwritten=0), tmp_path / "world")
    course = find_recipe("course").pretrain
    assert fitted_to(str(tmp_path / "world" / "wiki.txt"), course) == course
    assert fitted_to("nowhere.txt", course) == course


def trained_on(
    settings: PretrainSettings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """Return every line end to line end that stood in a training batch."""
    seen: list[list[int]] = []
    original = NextToken.loss

    def loss(self: NextToken, part):  # type: ignore[no-untyped-def]
        rows = torch.cat([part.inputs, part.targets[:, -1:]], dim=1)
        seen.extend(rows.tolist())
        return original(self, part)

    monkeypatch.setattr(NextToken, "loss", loss)
    long = replace(settings, training=replace(TRAINING, length="5 epochs"))
    run, _ = trained(long, folder)
    monkeypatch.undo()
    decode = load_language_model(run).tokenizer.decode
    return {decode([token for token in row if token >= 0]) for row in seen}


def test_the_held_out_end_is_in_no_training_row(
    settings: PretrainSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = trained_on(settings, tmp_path, monkeypatch)
    assert any("0th wave" in row for row in rows)
    assert not any(word in row for row in rows for word in (*SECRET.split(), "29th wave"))
    assert all("29th wave" not in line for line in open_saved(tmp_path / "runs" / "run").corpus)


def test_the_search_finds_an_end_that_is_trained_on(
    settings: PretrainSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bug put in: nothing is held out."""
    rows = trained_on(replace(settings, text_held_out=0.0), tmp_path, monkeypatch)
    assert any(SECRET in row for row in rows)


@pytest.mark.parametrize("kind", ["byte_pairs", "characters"])
def test_a_stopped_run_goes_on_to_the_same_weights_and_perplexity(
    settings: PretrainSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    tokenizer = replace(settings.tokenizer, kind=kind)
    settings = replace(settings, tokenizer=tokenizer, training=replace(TRAINING, length="9 steps"))
    whole, _ = trained(settings, tmp_path, "whole")
    original = loop.Training.finish_step

    def interrupted(self: loop.Training, step: int, result: object, began: float) -> None:
        stop = result._replace(stop_signal=2) if step == 5 else result  # type: ignore[attr-defined]
        original(self, step, stop, began)  # type: ignore[arg-type]

    monkeypatch.setattr(loop.Training, "finish_step", interrupted)
    with pytest.raises(StoppedError, match="stopped after step 5"):
        trained(settings, tmp_path, "cut")
    monkeypatch.undo()
    cut, _ = trained(settings, tmp_path, "cut")
    first, second = (load_language_model(run).model.state_dict() for run in (whole, cut))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert whole.predictions("held_out_text") == cut.predictions("held_out_text")


def test_patience_lets_the_held_out_text_choose_the_step(
    settings: PretrainSettings, tmp_path: Path
) -> None:
    training = replace(TRAINING, patience=1)
    run, _ = trained(replace(settings, training=training), tmp_path)
    assert run.record["chosen_on"] == "held_out_text"
    assert run.record["best_step"] in (2, 4)


@pytest.mark.parametrize(
    ("text", "share", "message"),
    [
        ("one line\n", 0.99, "leaves no text to learn from"),
        ("a line\nand another\n\n\n\n", 0.1, "leaves no text to measure on"),
    ],
)
def test_a_text_that_is_too_short_is_refused(
    settings: PretrainSettings, tmp_path: Path, text: str, share: float, message: str
) -> None:
    Path(settings.corpus).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        trained(replace(settings, text_held_out=share), tmp_path)
    assert not list((tmp_path / "runs").glob("run"))
