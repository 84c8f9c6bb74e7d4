"""BERT with any attention on masked characters: what is masked, held out and scored."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from attnlab.attention.settings import AttentionSettings
from attnlab.data.batches import IGNORED
from attnlab.data.text_batches import collate_texts
from attnlab.errors import StoppedError, UserError
from attnlab.evaluation.metrics.perplexity import PERPLEXITY
from attnlab.models.fill_in import row_losses
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.attention.ablate import conditions_of
from attnlab.recipes.attention.fill_in import encoder_of, run_fill_in
from attnlab.recipes.attention.masked_text import MaskedText
from attnlab.recipes.attention.settings import AblateSettings, FillInSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.training import loop
from attnlab.training.settings import OptimizerSettings, TrainingSettings

JOB = "attention-fill-in"
QUIET = Console(quiet=True)
SECRET = "xylophon"


@pytest.fixture
def settings(tmp_path: Path) -> FillInSettings:
    path = tmp_path / "prose.txt"
    path.write_text("ab cd ef gh\n" * 100 + f"{SECRET} cd ef gh\n" * 5, encoding="utf-8")
    return FillInSettings(
        corpus=str(path),
        block=15,
        model=ModelSettings(12, 3, 1, attention=AttentionSettings(positions="none")),
        batch_tokens=150,
        training=TrainingSettings(
            length="6 steps",
            threads=1,
            precision="float32",
            evaluate_every=3,
            optimizer=OptimizerSettings("adamw", lr=1e-2),
        ),
    )


def trained(settings: FillInSettings, root: Path, name: str = "run") -> Run:
    return run_fill_in(JOB, settings, place=RunPlace(root / "runs", name), console=QUIET)


def test_a_share_of_the_characters_is_masked_and_only_they_are_scored(
    settings: FillInSettings,
) -> None:
    masked = MaskedText.of(settings)
    step = masked.stream().rows_of_step(1)
    chosen = sum(target != IGNORED for row in step for target in row.targets)
    assert 0.05 < chosen / sum(map(len, step)) < 0.3
    for row in step:
        for token, target in zip(row.tokens, row.targets, strict=True):
            assert token != masked.tokenizer.sentinel or target != IGNORED
    again = MaskedText.of(replace(settings, training=replace(settings.training, seed=5)))
    assert again.rows == masked.rows, "the held-out windows are the same for every seed"
    assert again.stream().rows_of_step(1) != step


def test_the_held_out_end_is_in_no_training_row(settings: FillInSettings) -> None:
    masked = MaskedText.of(settings)
    assert "x" in masked.held_out
    secret = set(masked.tokenizer.encode("xyl"))
    rows = masked.stream().rows(0)
    assert len(rows) > 50
    assert not any(secret & set(row.tokens) for row in rows)
    assert any(secret & set(row.tokens) for row in masked.rows)


def test_the_losses_are_those_of_the_masked_characters(settings: FillInSettings) -> None:
    masked = MaskedText.of(settings)
    torch.manual_seed(0)
    size = len(masked.tokenizer)
    model = encoder_of(settings.model, vocab_size=size, max_len=15).double().eval()
    with torch.no_grad():
        found = row_losses(model, masked.rows)
        for number in (0, 3):
            batch = collate_texts([masked.rows[number]])
            likely = model(batch.tokens, batch.types)[0].log_softmax(-1)
            targets = enumerate(masked.rows[number].targets)
            by_hand = -sum(float(likely[at, t]) for at, t in targets if t != IGNORED)
            assert found[number] == pytest.approx(by_hand, abs=1e-10)


def test_a_run_learns_and_scores_the_held_out_end(settings: FillInSettings, tmp_path: Path) -> None:
    long = replace(settings, training=replace(settings.training, length="60 steps"))
    run = trained(long, tmp_path)
    score, rows = run.record["scores"]["held_out_text"], run.predictions("held_out_text")
    assert score["value"] == pytest.approx(PERPLEXITY.score(rows), rel=1e-9)
    assert score["tokens"] == sum(row["tokens"] for row in rows)
    assert run.record["examined"]["parameters"] > 1000
    losses = [line["loss"] for line in run.metrics() if "loss" in line]
    assert losses[-1] < losses[0]
    assert "held_out_text_perplexity" in run.metrics()[-1]


def test_a_stopped_run_goes_on_to_the_same_losses(
    settings: FillInSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trained(settings, tmp_path, "whole")
    finish = loop.Training.finish_step

    def stopping(self: loop.Training, step: int, result: object, began: float) -> None:
        if step == 4:
            result = result._replace(stop_signal=2)  # type: ignore[attr-defined]
        finish(self, step, result, began)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(loop.Training, "finish_step", stopping)
        with pytest.raises(StoppedError):
            trained(settings, tmp_path, "cut")
    again = trained(settings, tmp_path, "cut")
    assert again.predictions("held_out_text") == whole.predictions("held_out_text")


def test_patience_has_nothing_to_choose_by(settings: FillInSettings, tmp_path: Path) -> None:
    patient = replace(settings, training=replace(settings.training, patience=2))
    with pytest.raises(UserError, match=r"training\.patience = 2: nothing is held out to choose"):
        trained(patient, tmp_path)


def test_an_ablation_of_encoders_compares_them_on_the_same_masks(
    settings: FillInSettings, tmp_path: Path
) -> None:
    base = AblateSettings().base
    small = replace(
        base,
        corpus=settings.corpus,
        objective=replace(base.objective, options={"block": 15}),
        model=replace(settings.model, attention=base.model.attention),
        batch_tokens=150,
        training=settings.training,
    )
    study = AblateSettings(
        conditions=("cosine", "aft"), seeds=1, encoder=True, match="flops", base=small
    )
    place = RunPlace(tmp_path / "runs", "encoders")
    done = find_job("attention-ablate").run(study, place=place, console=QUIET)
    assert list(done.runs) == ["dot_product-seed-0", "cosine-seed-0", "aft-seed-0"]
    assert "BERT on masked characters" in done.notes[-1]
    blocks = list(find_job("attention-ablate").section.summary(done.opened()))
    said = [line for block in blocks for line in getattr(block, "lines", ())]
    assert any(line.startswith("With one seed per condition, p says nothing") for line in said)


def test_an_encoder_has_positions_of_its_own(settings: FillInSettings, tmp_path: Path) -> None:
    every = conditions_of(AblateSettings(topics=("all",), encoder=True))
    assert {one.positions for one in every.values()} == {"none"}
    base = replace(AblateSettings().base, corpus=settings.corpus)
    for change, message in (
        ({"topics": ("positions",)}, "an encoder can do nothing else. It has positions of its own"),
        ({"conditions": ("cosine@rotary",)}, "positions = 'rotary' is not possible: BERT has"),
    ):
        study = AblateSettings(encoder=True, base=base, **change)
        with pytest.raises(UserError, match=message):
            find_job("attention-ablate").run(
                study, place=RunPlace(tmp_path / "runs", "x"), console=QUIET
            )
