"""Fine-tuning as a whole: it learns, resumes, keeps the best step, and refuses what is wrong."""

import io
import shutil
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors import safe_open
from torch import Tensor
from transformers import BertForSequenceClassification as TheirClassifier

from attnlab.assets.catalogue import ASSETS
from attnlab.errors import StoppedError, UserError
from attnlab.evaluation.ledger import ledger_notes
from attnlab.models.bert_format import Pretrained, read_bert
from attnlab.models.compact_embedding import CompactEmbedding
from attnlab.recipes.classify import train
from attnlab.recipes.classify.label_budget import plan
from attnlab.recipes.classify.settings import (
    ClassifySettings,
    LabelBudgetSettings,
    MaskedSettings,
    PredictSettings,
)
from attnlab.recipes.classify.texts import read_texts
from attnlab.recipes.jobs import find_job
from attnlab.recipes.studies import Finished
from attnlab.report.build_report import build_report
from attnlab.report.figure_output import as_png
from attnlab.report.run_list import run_line, score_text
from attnlab.report.sections.label_budget import LABEL_BUDGET, budget_figure, by_budget
from attnlab.report.sections.one_run import ONE_RUN
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.references import absolute_settings
from attnlab.training import loop
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from fake_packages import offer
from small_bert import TELLING, VOCABULARY, write_reviews, write_small_bert

pytestmark = pytest.mark.precision

QUIET = Console(quiet=True)
TRAINING = TrainingSettings(
    length="120 steps",
    optimizer=OptimizerSettings("adamw", lr=5e-3),
    evaluate_every=20,
    threads=1,
)


@pytest.fixture
def settings(tmp_path: Path) -> ClassifySettings:
    model, data = write_small_bert(tmp_path / "bert"), write_reviews(tmp_path / "reviews")
    return ClassifySettings(
        model=str(model),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        max_len=16,
        batch_size=20,
        training=TRAINING,
    )


def trained(settings: ClassifySettings, folder: Path, name: str = "run") -> Run:
    return find_job("classify-train").run(settings, place=RunPlace(folder, name), console=QUIET)


def with_text(settings: ClassifySettings, alpha: float = 0.5) -> ClassifySettings:
    text = str(Path(settings.train).with_name("unlabeled.txt"))
    return replace(settings, masked=MaskedSettings(text=text, alpha=alpha, block=16))


def test_a_classifier_learns_the_word_that_tells(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    run = trained(settings, tmp_path)
    assert run.record["scores"]["dev"]["value"] == 1.0
    assert run.record["scores"]["dev"]["baseline"]["value"] == 0.2
    assert run.record["classes"] == ["1", "2", "3", "4", "5"]
    assert run.record["test"] == "none"
    assert run.record["chosen_on"] == "dev"
    for row in run.predictions("dev"):
        assert TELLING[row["prediction"]] in row["input"]


def test_its_model_opens_in_transformers_and_gives_the_same_answers(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    exact = replace(TRAINING, precision="float32")
    run = trained(replace(settings, pooler=True, training=exact), tmp_path)
    theirs = TheirClassifier.from_pretrained(run.path / "model").eval()
    words = (run.path / "model" / "vocab.txt").read_text().split()
    for row in run.predictions("dev")[:5]:
        tokens = [words.index(word) for word in row["input"].removesuffix(".").split()]
        given = torch.tensor([[2, *tokens, words.index("."), 3]])
        likely = theirs(given).logits.detach().softmax(-1)[0]
        assert theirs.config.id2label[int(likely.argmax())] == row["prediction"]
        assert float(likely.max()) == pytest.approx(row["confidence"], abs=1e-5)


def test_joint_training_learns_both(settings: ClassifySettings, tmp_path: Path) -> None:
    run = trained(with_text(settings), tmp_path)
    lines = [line for line in run.metrics() if "masked" in line]
    assert lines[-1]["masked"] < lines[0]["masked"]
    first = lines[0]
    assert first["loss"] == pytest.approx(first["classification"] + 0.5 * first["masked"])
    assert "cls.predictions.bias" in _names(run)
    assert run.record["scores"]["dev"]["value"] > 0.8


def test_alpha_0_is_training_without_the_text(settings: ClassifySettings, tmp_path: Path) -> None:
    settings = replace(settings, training=replace(TRAINING, length="10 steps"))
    without = trained(settings, tmp_path, "without")
    zero = trained(with_text(settings, alpha=0.0), tmp_path, "zero")
    assert without.predictions("dev") == zero.predictions("dev")


def _names(run: Run) -> set[str]:
    with safe_open(run.path / "model" / "model.safetensors", "pt") as file:
        return set(file.keys())


@pytest.mark.parametrize("with_lines", [True, False], ids=["joint", "alone"])
def test_a_stopped_run_goes_on_to_the_same_weights(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_lines: bool
) -> None:
    dropping = write_small_bert(tmp_path / "dropping", dropout=0.1, attention_dropout=0.1)
    short = replace(TRAINING, length="30 steps")
    settings = replace(settings, model=str(dropping), labels=25, training=short)
    settings = with_text(settings) if with_lines else settings
    whole = trained(settings, tmp_path, "whole")
    original = loop.Training.finish_step

    def interrupted(self: loop.Training, step: int, result: object, began: float) -> None:
        stop = result._replace(stop_signal=2) if step == 17 else result  # type: ignore[attr-defined]
        original(self, step, stop, began)  # type: ignore[arg-type]

    monkeypatch.setattr(loop.Training, "finish_step", interrupted)
    with pytest.raises(StoppedError, match="stopped after step 17"):
        trained(settings, tmp_path, "cut")
    monkeypatch.undo()
    cut = trained(settings, tmp_path, "cut")
    first, second = (read_bert(run.path / "model").tensors for run in (whole, cut))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert whole.predictions("dev") == cut.predictions("dev")


def test_leaving_out_unused_rows_of_the_table_changes_no_answer(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the recipe's own optimizer and clipping."""
    settings = replace(settings, training=replace(TRAINING, length="20 steps", precision="float64"))
    small = trained(settings, tmp_path, "small")
    everything = CompactEmbedding(np.arange(len(VOCABULARY)))
    monkeypatch.setattr(CompactEmbedding, "of", lambda *_: everything)
    whole = trained(settings, tmp_path, "whole")
    first, second = (read_bert(run.path / "model").tensors for run in (small, whole))
    for name in first:
        torch.testing.assert_close(first[name], second[name], atol=1e-7, rtol=0)


@pytest.mark.parametrize("with_lines", [False, True], ids=["alone", "with unlabelled text"])
def test_while_it_learns_no_second_copy_of_the_model_is_held(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_lines: bool
) -> None:
    tensors: dict[str, weakref.ref[Tensor]] = {}
    held: list[set[str]] = []

    def read(folder: Path) -> Pretrained:
        pretrained = read_bert(folder)
        tensors.update((name, weakref.ref(value)) for name, value in pretrained.tensors.items())
        return pretrained

    def look(*given: Any) -> loop.TrainingState:
        held.append({name for name, value in tensors.items() if value() is not None})
        return loop.train(*given)

    monkeypatch.setattr(train, "open_checkpoint", read)
    monkeypatch.setattr(train, "train", look)
    settings = replace(settings, training=replace(TRAINING, length="2 steps"))
    trained(with_text(settings) if with_lines else settings, tmp_path)
    assert tensors
    assert held == [set()]


def test_a_share_set_aside_as_test_is_always_the_same_and_never_trained_on(
    settings: ClassifySettings,
) -> None:
    whole = read_texts(replace(settings, dev=""))
    some = read_texts(replace(settings, dev="", test_share=0.2))
    other = read_texts(
        replace(settings, dev="", test_share=0.2, training=replace(TRAINING, seed=1))
    )
    test = [example.id for example in some.eval_splits["test"]]
    assert len(test) == 12
    assert test == [example.id for example in other.eval_splits["test"]]
    kept = {example.id for split in (some.train, some.eval_splits["dev"]) for example in split}
    assert kept.isdisjoint(test)
    known = {example.id for split in (whole.train, whole.eval_splits["dev"]) for example in split}
    assert kept | set(test) == known
    assert some.notes["test"] == "20 % of train.csv set aside, not trained on"
    both = replace(settings, test=settings.dev, test_share=0.2)
    with pytest.raises(
        UserError, match=r"test_share = 0\.2 sets training texts aside as test, but"
    ):
        train.need_texts_and_model(both)


def test_overfitting_ends_with_a_verdict(settings: ClassifySettings, tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=io.StringIO())
    job = find_job("classify-train")
    learned = replace(settings, dev="", overfit=10, training=replace(TRAINING, length="80 steps"))
    run = job.run(learned, place=RunPlace(tmp_path, "learned"), console=console)
    assert "all 10 texts were learned by heart in 80 steps" in console.export_text()
    assert run.record["dev"] == "the training texts themselves"
    (note,) = ledger_notes(run.record["ledger"])
    assert note == "train = dev: the same 10 rows; a score there is memory, not skill"
    listed = run_line(run, tmp_path)
    assert score_text(listed).startswith("dev, trained on: 100.0 % [")
    assert listed.as_json()["trained_on"] is True
    once = replace(learned, training=replace(TRAINING, length="1 steps"))
    job.run(once, place=RunPlace(tmp_path, "once"), console=console)
    assert "of 10 texts were learned by heart in 1 step. Train longer" in console.export_text()
    with pytest.raises(UserError, match=r"overfit = 10 .* same texts, so that dev"):
        trained(replace(settings, overfit=10), tmp_path, "both")


def test_few_labels_are_of_every_class_and_differ_by_seed(settings: ClassifySettings) -> None:
    few = replace(settings, labels=10)
    texts = read_texts(few)
    assert sorted(str(example.label) for example in texts.train) == sorted("1122334455")
    other = read_texts(replace(few, training=replace(TRAINING, seed=1)))
    assert [e.id for e in texts.train] == [e.id for e in read_texts(few).train]
    assert [e.id for e in texts.train] != [e.id for e in other.train]


def test_a_test_file_is_asked_once_and_may_lack_labels(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    test = Path(settings.train).with_name("test.csv")
    run = trained(replace(settings, test=str(test)), tmp_path)
    assert run.record["test"] == "evaluated once"
    assert run.record["scores"]["test"]["n"] == 25
    unlabelled = tmp_path / "unlabelled.tsv"
    unlabelled.write_text("the food was superb.\nthe place was awful.\n")
    run = trained(replace(settings, test=str(unlabelled)), tmp_path, "unlabelled")
    assert "test" not in run.record["scores"]
    assert [row["prediction"] for row in run.predictions("test")] == ["5", "1"]


def write_pairs(path: Path) -> Path:
    rows = (f"the food {word}\tthe place {word}\t{stars}\n" for stars, word in TELLING.items())
    path.write_text("".join(rows))
    return path


def test_pairs_are_learned_with_masked_text_beside(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    pairs = str(write_pairs(tmp_path / "pairs.tsv"))
    short = replace(with_text(settings), training=replace(TRAINING, length="2 steps"))
    run = trained(replace(short, train=pairs, dev=pairs), tmp_path)
    assert run.record["has_pairs"]
    assert set(run.record["ledger"]["splits"]) == {"train", "unlabelled", "dev"}
    asked = PredictSettings(str(run.path), str(Path(settings.train)))
    with pytest.raises(UserError, match="line 1: an example is one text here, but was two in"):
        find_job("classify-predict").run(asked, place=RunPlace(tmp_path, "told"), console=QUIET)


NOT_TRAINED_ON = "a tenth of train.csv set aside, not trained on"


def test_without_a_dev_file_a_tenth_is_set_aside_and_called_so(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    short = replace(settings, dev="", training=replace(TRAINING, length="2 steps"))
    run = trained(short, tmp_path)
    assert run.record["scores"]["dev"]["n"] == 6
    assert run.record["ledger"]["splits"]["train"]["n"] == 54
    assert run.record["dev"] == run.record["split_notes"]["dev"] == NOT_TRAINED_ON
    assert not set(run.rows("train")) & set(run.rows("dev"))
    told = build_report([run], ONE_RUN)
    assert f"dev ({NOT_TRAINED_ON})" in str(told.blocks)
    other = read_texts(replace(short, training=replace(TRAINING, seed=7), labels=10))
    asked = [row["id"] for row in run.predictions("dev")]
    assert [example.id for example in other.eval_splits["dev"]] == asked
    assert not {example.id for example in other.train} & set(asked)


def test_dev_share_0_trains_on_all_and_a_small_class_leaves_no_dev(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    everything = read_texts(replace(settings, dev="", dev_share=0.0))
    assert (len(everything.train), dict(everything.eval_splits)) == (60, {})
    third = read_texts(replace(settings, dev="", dev_share=0.3))
    assert third.notes == {"dev": "30 % of train.csv set aside, not trained on"}
    pairs = str(write_pairs(tmp_path / "pairs.tsv"))
    short = replace(settings, train=pairs, dev="", training=replace(TRAINING, length="2 steps"))
    run = trained(short, tmp_path)
    assert (run.record["dev"], run.record["scores"]) == ("none", {})
    assert trained(settings, tmp_path, "given").record["dev"] == "given"


def test_a_dataset_brings_its_own_dev_and_is_fetched_when_it_is_needed(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))
    lines = [f'{{"text": "the food {word}", "label": "{s}"}}\n' for s, word in TELLING.items()]
    kept = {"train.jsonl": "".join(lines * 3).encode(), "dev.jsonl": "".join(lines).encode()}
    asset = offer(tmp_path, monkeypatch, lambda z: {n: z.read(n) for n in kept}, kept, kept)
    monkeypatch.setitem(ASSETS, "made", asset)
    named = replace(settings, train="made", dev="", training=replace(TRAINING, length="2 steps"))
    run = trained(named, tmp_path)
    assert (run.record["scores"]["dev"]["n"], run.record["dev"]) == (5, "given")
    alone = replace(named, train="made:train")
    assert read_texts(alone).notes == {"dev": "a tenth of made:train set aside, not trained on"}
    study = replace(budget(settings), base=named, alphas=(0.0,))
    cells = plan(study, Finished(tmp_path, {}))
    assert {cell.settings.train for cell in cells} == {"made"}
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert trained(named, tmp_path).record == run.record  # what is finished needs no files


def test_a_substitute_is_written_down(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "names.yaml"
    file.write_text(f"bert-base-uncased: {settings.model}\nreviews-of-mine: {settings.train}\n")
    monkeypatch.setenv("ATTNLAB_ASSETS", str(file))
    short = replace(settings, training=replace(TRAINING, length="2 steps"))
    named = replace(short, model="bert-base-uncased", train="reviews-of-mine")
    run = trained(named, tmp_path, "named")
    assert run.record["resolved"]["substituted"] == {
        "bert-base-uncased": settings.model,
        "reviews-of-mine": settings.train,
    }
    plain = trained(short, tmp_path, "plain")
    assert "substituted" not in plain.record["resolved"]
    assert plain.predictions("dev") == run.predictions("dev")


def test_columns_named_in_training_are_those_of_prediction(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    headed = tmp_path / "headed.csv"
    headed.write_text("rating,body\n" + Path(settings.train).read_text())
    with pytest.raises(UserError, match=r"--text-column body --label-column rating\. If it is no"):
        read_texts(replace(settings, train=str(headed), dev=""))
    named = replace(settings, train=str(headed), text_column="body", label_column="rating", dev="")
    run = trained(replace(named, training=replace(TRAINING, length="2 steps")), tmp_path)
    new = tmp_path / "new.csv"
    new.write_text("id,body\n1,the food superb\n")
    asked = PredictSettings(str(run.path), str(new))
    told = find_job("classify-predict").run(asked, place=RunPlace(tmp_path, "told"), console=QUIET)
    assert told.predictions("new")[0]["input"] == "the food superb"
    plain = PredictSettings(str(run.path), settings.train, columns=("label", "text"))
    told = find_job("classify-predict").run(plain, place=RunPlace(tmp_path, "plain"), console=QUIET)
    assert told.record["scores"]["train"]["n"] == 60


def test_the_columns_of_a_file_can_be_told(settings: ClassifySettings, tmp_path: Path) -> None:
    train = tmp_path / "three.csv"
    train.write_text(
        "".join(f"{i},{stars},x {word}\n" for i, (stars, word) in enumerate(TELLING.items()))
    )
    wide = replace(settings, train=str(train), dev="", columns=("-", "label", "text"))
    assert [(e.label, e.text) for e in read_texts(wide).train[:1]] == [("1", "x awful")]


def test_a_classifier_of_the_same_classes_is_taken_and_one_of_others_is_not(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    short = replace(settings, training=replace(TRAINING, length="2 steps"))
    first = trained(short, tmp_path, "first")
    more = replace(short, model=str(first.path / "model"))
    assert trained(more, tmp_path, "more").record["begun_afresh"] == []
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(Path(settings.train).read_text().replace("1,", "one,"))
    other = replace(more, train=str(renamed), dev="")
    assert trained(other, tmp_path, "other").record["begun_afresh"] == [
        "classifier.weight",
        "classifier.bias",
    ]


def wrong_vocabulary(settings: ClassifySettings) -> ClassifySettings:
    path = Path(settings.model) / "vocab.txt"
    path.write_text(path.read_text() + "more\n")
    return settings


def strange_label(settings: ClassifySettings) -> ClassifySettings:
    path = Path(settings.dev)
    path.write_text(path.read_text() + '6,"lovely"\n')
    return settings


def too_long(settings: ClassifySettings) -> ClassifySettings:
    return replace(settings, max_len=21)


def too_long_lines(settings: ClassifySettings) -> ClassifySettings:
    joint = with_text(settings)
    return replace(joint, masked=replace(joint.masked, block=21))


def pairs_of_one_type(settings: ClassifySettings) -> ClassifySettings:
    folder = Path(settings.model)
    one = write_small_bert(folder.with_name("one"), n_types=1)
    train = write_pairs(folder.with_name("pairs.tsv"))
    return replace(settings, model=str(one), train=str(train), dev="")


def pairs_in_dev_alone(settings: ClassifySettings) -> ClassifySettings:
    return replace(settings, dev=str(write_pairs(Path(settings.model).with_name("pairs.tsv"))))


def no_model(settings: ClassifySettings) -> ClassifySettings:
    return replace(settings, model="./nowhere")


def too_many_labels(settings: ClassifySettings) -> ClassifySettings:
    return replace(settings, labels=61)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (wrong_vocabulary, "has 23 tokens, but the embedding table has 22 rows"),
        (strange_label, r"dev\.csv, line 26: the label '6' is not one of the 5 classes"),
        (too_long, "max_len = 21 is more than the 20 positions"),
        (too_long_lines, "masked.block = 21 is more than the 20 positions"),
        (pairs_of_one_type, "the texts come in pairs, but .* has only one token type"),
        (pairs_in_dev_alone, r"pairs\.tsv, line 1: an example is two texts here, but was one"),
        (no_model, r"there is no folder \./nowhere"),
        (too_many_labels, "61 examples cannot be drawn from 60"),
    ],
)
def test_a_mistake_is_told_before_step_1_and_leaves_nothing(
    settings: ClassifySettings,
    tmp_path: Path,
    change: Callable[[ClassifySettings], ClassifySettings],
    message: str,
) -> None:
    with pytest.raises(UserError, match=message):
        trained(change(settings), tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("*"))


def test_a_finished_run_is_not_shown_for_files_that_have_changed(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    short = replace(settings, training=replace(TRAINING, length="2 steps"))
    trained(short, tmp_path)
    dev = Path(settings.dev)
    dev.write_text(dev.read_text().replace("awful", "lovely"))
    with pytest.raises(UserError, match=r"dev\.csv has changed since"):
        trained(short, tmp_path)


def budget(settings: ClassifySettings) -> LabelBudgetSettings:
    base = with_text(replace(settings, training=replace(TRAINING, length="1 epochs")))
    return LabelBudgetSettings((10, 0), (0.0, 0.5), seeds=2, least_steps=4, base=base)


@pytest.mark.slow
def test_a_label_budget_has_a_run_for_every_cell_and_skips_what_is_done(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    study = find_job("classify-label-budget").run(
        budget(settings), place=RunPlace(tmp_path, "study"), console=QUIET
    )
    assert list(study.runs) == [
        f"labels-{labels}-alpha-{alpha}-seed-{seed}"
        for labels in ("10", "all")
        for alpha in ("0", "0.5")
        for seed in (0, 1)
    ]
    times = {run.name: (run.path / "record.json").stat().st_mtime_ns for run in study.opened()}
    again = find_job("classify-label-budget").run(
        budget(settings), place=RunPlace(tmp_path, "study"), console=QUIET
    )
    assert {r.name: (r.path / "record.json").stat().st_mtime_ns for r in again.opened()} == times
    runs = again.opened()
    comparisons = by_budget(runs)
    assert list(comparisons) == ["10", "all"]
    assert [len(comparison.pairs) for comparison in comparisons.values()] == [1, 1]
    assert as_png(budget_figure(comparisons, runs)).startswith(b"\x89PNG")
    told = build_report(runs, LABEL_BUDGET, title=again.title, notes=again.notes)
    assert "10 labels" in str(told.blocks)
    assert "Each run trains for 1 epoch, or 4 steps if that is more." in str(told.blocks)


def test_plain_runs_are_classes_alone_whatever_their_alpha(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    short = replace(settings, training=replace(TRAINING, length="2 steps"))
    few = replace(short, labels=10)
    runs = [
        trained(each, tmp_path, name)
        for name, each in {"plain": few, "joint": with_text(few), "all": short}.items()
    ]
    figure = budget_figure(by_budget(runs), runs)
    assert figure.axes[0].get_legend_handles_labels()[1] == [
        "guessing",
        "classifier alone",
        "alpha = 0.5",
    ]
    dev = tmp_path / "other.csv"
    dev.write_text("".join(Path(settings.dev).read_text().splitlines(keepends=True)[:10]))
    runs.append(trained(replace(short, dev=str(dev), labels=20), tmp_path, "other"))
    with pytest.raises(UserError, match="were scored on different data"):
        build_report(runs, LABEL_BUDGET)


def test_few_texts_have_more_epochs(settings: ClassifySettings, tmp_path: Path) -> None:
    wanted = replace(budget(settings), least_steps=3)
    cells = plan(wanted, Finished(tmp_path, {}))
    lengths = {cell.name: cell.settings.training.length for cell in cells}
    assert lengths["labels-10-alpha-0-seed-0"] == "3 steps"
    assert lengths["labels-all-alpha-0-seed-0"] == "1 epochs"


def test_cells_can_be_run_from_any_folder(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = with_text(settings)
    text = replace(base.masked, text="reviews/unlabeled.txt")
    near = {"model": "bert", "train": "reviews/train.csv", "dev": "reviews/dev.csv"}
    typed = replace(budget(settings), base=replace(base, masked=text, **near))
    cells = plan(absolute_settings(typed, tmp_path), Finished(tmp_path, {}))
    for cell in cells:
        files = (cell.settings.model, cell.settings.train, cell.settings.dev)
        assert [Path(file).is_absolute() for file in files] == [True] * 3
        assert cell.settings.masked.text == str(tmp_path / "reviews" / "unlabeled.txt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": (10, 10)}, "labels = 10, 10 lists a number twice"),
        ({"labels": (61,)}, "61 examples cannot be drawn from 60"),
        ({"labels": (0, 3)}, "3 examples cannot be drawn from 60 of 5 classes"),
        ({"alphas": (0.5, 0.5)}, "lists a number twice"),
    ],
)
def test_a_study_that_cannot_be_finished_is_not_begun(
    settings: ClassifySettings, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    wrong = replace(budget(settings), **changes)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=message):
        find_job("classify-label-budget").run(
            wrong, place=RunPlace(tmp_path / "runs"), console=QUIET
        )
    assert not (tmp_path / "runs").exists()


def test_text_too_short_for_a_block_is_told_before_the_first_cell(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    study = budget(settings)
    text = tmp_path / "short.txt"
    text.write_text("the food\n")
    masked = replace(study.base.masked, text=str(text), line_by_line=False)
    wrong = replace(study, base=replace(study.base, masked=masked))
    with pytest.raises(UserError, match="the text is too short: its 2 tokens"):
        find_job("classify-label-budget").run(
            wrong, place=RunPlace(tmp_path / "runs"), console=QUIET
        )
    assert not (tmp_path / "runs").exists()


def test_runs_need_something_to_be_compared_on(settings: ClassifySettings, tmp_path: Path) -> None:
    study = budget(settings)
    wrong = replace(study, base=replace(study.base, dev="", dev_share=0.0))
    with pytest.raises(UserError, match="give --dev or --test"):
        find_job("classify-label-budget").run(wrong, place=RunPlace(tmp_path), console=QUIET)


def test_a_trained_classifier_tells_the_classes_of_new_texts(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    run = trained(settings, tmp_path)
    asked = PredictSettings(str(run.path), settings.dev)
    told = find_job("classify-predict").run(asked, place=RunPlace(tmp_path, "told"), console=QUIET)
    assert told.record["scores"]["dev"]["value"] == run.record["scores"]["dev"]["value"]
    for new, old in zip(told.predictions("dev"), run.predictions("dev"), strict=True):
        assert new["prediction"] == old["prediction"]
        assert new["confidence"] == pytest.approx(old["confidence"], abs=1e-6)
    unlabelled = tmp_path / "new.tsv"
    unlabelled.write_text("the food was superb.\n")
    asked = PredictSettings(str(run.path), str(unlabelled))
    told = find_job("classify-predict").run(asked, place=RunPlace(tmp_path, "new"), console=QUIET)
    assert told.record["scores"] == {}
    asked = PredictSettings(str(told.path), str(unlabelled))
    with pytest.raises(UserError, match="is not a finished run of attnlab classify train"):
        find_job("classify-predict").run(asked, place=RunPlace(tmp_path, "again"), console=QUIET)


def test_a_score_on_rows_that_were_seen_is_called_so(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    short = replace(with_text(settings), training=replace(TRAINING, length="2 steps"))
    run = trained(short, tmp_path)

    def warnings_on(path: Path, name: str, source: Run = run) -> list[str]:
        asked = PredictSettings(str(source.path), str(path))
        place = RunPlace(tmp_path, name)
        told = find_job("classify-predict").run(asked, place=place, console=QUIET)
        assert list(told.record["scores"]) == [told.record["file_split"]] == [path.stem]
        found: list[str] = told.record["warnings"]
        return found

    reviews = Path(settings.train).parent
    assert warnings_on(reviews / "train.csv", "a") == [
        "train: 60 of 60 rows were trained on: this is not a test score"
    ]
    assert warnings_on(reviews / "dev.csv", "b") == [
        "dev: dev chose the step: this score is optimistic"
    ]
    assert warnings_on(reviews / "test.csv", "c") == []
    mixed = tmp_path / "mixed.csv"
    rows = [
        row for name, n in SOME for row in (reviews / f"{name}.csv").read_text().splitlines()[:n]
    ]
    line = (reviews / "unlabeled.txt").read_text().splitlines()[0]
    mixed.write_text("\n".join([*rows, f"1,  {line}"]))
    expected = [
        "mixed: 3 of 7 rows were trained on",
        "mixed: 1 of 7 rows were read in training, without labels",
        "mixed: 2 of 7 rows chose the step: this score is optimistic",
    ]
    assert warnings_on(mixed, "d") == expected
    more = replace(short, model=str(run.path / "model"), train=str(reviews / "test.csv"), dev="")
    later = trained(replace(more, masked=MaskedSettings()), tmp_path, "later")
    assert warnings_on(mixed, "e", later) == ["mixed: 4 of 7 rows were trained on", *expected[1:]]
    shutil.rmtree(run.path)
    assert warnings_on(mixed, "f", later) == [
        "mixed: 1 of 7 rows were trained on",
        f"mixed: rows that {run.path} was trained on are not counted: it is gone",
    ]


SOME = (("train", 3), ("dev", 2), ("test", 1))


def test_the_ledger_tells_what_stands_twice_and_nothing_else(
    settings: ClassifySettings,
) -> None:
    texts = read_texts(with_text(settings))
    assert set(texts.splits().rows) == {"train", "unlabelled", "dev"}
    first = texts.eval_splits["dev"][0]
    line = first.text.replace(" ", "\t  ")
    leaked = replace(texts, unlabelled=[*texts.unlabelled, line])
    overlaps = leaked.splits().ledger()["overlaps"]
    found = {o["in"]: o["shared"] for o in overlaps if o["also_in"] == "unlabelled"}
    assert found == {"dev": {"identical rows": 0, "same input": 1}}
    assert not any("pair" in kind for o in overlaps for kind in o["shared"])


def test_masked_text_is_needed_for_an_alpha(settings: ClassifySettings, tmp_path: Path) -> None:
    wrong = replace(budget(settings), base=settings)
    with pytest.raises(UserError, match="needs unlabelled text to learn from: give --mlm-text"):
        find_job("classify-label-budget").run(wrong, place=RunPlace(tmp_path), console=QUIET)


def test_a_share_for_dev_next_to_a_dev_is_refused(
    settings: ClassifySettings, tmp_path: Path
) -> None:
    both = replace(settings, dev_share=0.3)
    refused = (
        r"dev_share = 0\.3 sets training texts aside as dev, but dev is .*dev\.csv\. Leave one"
    )
    with pytest.raises(UserError, match=refused):
        trained(both, tmp_path)
    own = replace(both, train="boolq", dev="")
    with pytest.raises(UserError, match=r"dev_share = 0\.3 .* but boolq brings its own dev\."):
        trained(own, tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_the_texts_is_found_before_a_model_is_fetched(
    settings: ClassifySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr(train, "find_model", fetched.append)
    path = tmp_path / "odd.csv"
    path.write_text("headline,stars\ngood food,5\nbad food,1\nfine food,5\n")
    with pytest.raises(UserError, match=r"known as the text .*--text-column headline"):
        trained(replace(settings, train=str(path), dev=""), tmp_path, "odd")
    assert fetched == []
