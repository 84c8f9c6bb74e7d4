"""What a tuned run leaves behind opens in transformers and answers what the run answered."""

import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from attnlab.models.bert_names import hub_name
from attnlab.recipes.classify.settings import ClassifySettings, PredictSettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings, TrainingSettings
from attnlab.tuning.settings import TuningSettings
from small_bert import write_reviews, write_small_bert
from small_hub import write_small_hub

transformers = pytest.importorskip("transformers")

TRAINING = TrainingSettings(
    length="4 steps", optimizer=OptimizerSettings("adamw", lr=5e-2), threads=1, precision="float32"
)
LARGE = {"initializer_range": 0.3}
"""With the usual 0.02, what twelve numbers a token say of a text hardly differs from nothing."""
KINDS = ("bert", "bert with pooler", "roberta", "distilbert", "t5")
OPTIONS = {"ia3": {"targets": ["key", "value"]}}
MERGED = [(kind, "lora") for kind in KINDS]
MERGED += [("bert with pooler", "ia3"), ("roberta", "ia3"), ("t5", "ia3")]
APART = [("bert with pooler", "prompt"), ("roberta", "prompt"), ("distilbert", "prefix"),
         ("t5", "prefix")]  # fmt: skip


def trained(kind: str, folder: Path, tuning: TuningSettings) -> tuple[Run, str]:
    """Train a small model; return its run and what was said."""
    data, name = write_reviews(folder / "reviews", train=20, dev=10), kind.partition(" ")[0]
    write = write_small_bert if name == "bert" else partial(write_small_hub, kind=name, **LARGE)
    settings = ClassifySettings(
        model=str(write(folder / "model")),
        train=str(data / "train.csv"),
        dev=str(data / "dev.csv"),
        max_len=24 if name != "bert" else 16,
        batch_size=20,
        tuning=tuning,
        pooler=kind == "bert with pooler",
        training=TRAINING,
    )
    console = Console(record=True, width=300, file=io.StringIO())
    place = RunPlace(folder / "runs", "run")
    run = find_job("classify-train").run(settings, place=place, console=console)
    return run, console.export_text()


def opened(run: Run, kind: str, changes: dict[str, torch.Tensor] | None = None) -> list[Any]:
    """Return what transformers answers to the texts of dev, its weights changed or as they are."""
    folder = run.path / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    auto = transformers.AutoModel if kind == "bert" else None
    auto = auto or transformers.AutoModelForSequenceClassification
    more = {"add_pooling_layer": False} if kind == "bert" else {}
    model = auto.from_pretrained(folder, **more).eval()
    for name, change in (changes or {}).items():
        model.get_parameter(name).data += change
    texts = [row["input"] for row in run.predictions("dev")]
    found = []
    for text in texts:
        read = tokenizer(text, truncation=True, max_length=24, return_tensors="pt")
        if kind == "bert":  # without a pooler, transformers has the body but no such classifier
            head = load_file(folder / "model.safetensors")
            hidden = model(**read).last_hidden_state[:, 0]
            scores = hidden @ head["classifier.weight"].T + head["classifier.bias"]
        else:
            scores = model(**read).logits
        found.append(scores.detach().softmax(-1)[0])
    return found


def agree(run: Run, answers: list[Any]) -> None:
    for row, likely in zip(run.predictions("dev"), answers, strict=True):
        given = list(row["probabilities"].values())
        assert likely.tolist() == pytest.approx(given, abs=1e-5)


@pytest.mark.parametrize(("kind", "method"), MERGED)
def test_a_merged_model_answers_there_what_it_answered_here(
    kind: str, method: str, tmp_path: Path
) -> None:
    run, said = trained(kind, tmp_path, TuningSettings(method, OPTIONS.get(method, {})))
    assert not (run.path / "model" / "tuning.safetensors").exists()
    assert "transformers would answer without it" not in said
    agree(run, opened(run, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_an_unmerged_lora_answers_the_same_there_with_its_matrices_added(
    kind: str, tmp_path: Path
) -> None:
    tuning = TuningSettings("lora", {"rank": 2, "alpha": 6.0}, merge=False)
    run, said = trained(kind, tmp_path, tuning)
    assert "tuning.merge = true merges it" in said
    added = load_file(run.path / "model" / "tuning.safetensors")
    firsts = [name for name in added if name.endswith(".lora_a.weight")]
    changes = {}
    for name in firsts:
        product = added[name.replace("lora_a", "lora_b")] @ added[name]
        changes[there(name.removesuffix(".lora_a.weight"), kind)] = 6.0 / 2 * product
    agree(run, opened(run, kind, changes))
    with pytest.raises(AssertionError):
        agree(run, opened(run, kind))


def there(place: str, kind: str) -> str:
    """Return what transformers calls the weight of an adapted layer."""
    if not kind.startswith("bert"):
        return f"{place.removeprefix('net.')}.weight"
    name = hub_name(f"{place}.weight")
    return name.removeprefix("bert.") if kind == "bert" else name


@pytest.mark.parametrize(("kind", "method"), APART)
def test_a_prompt_or_prefix_stays_apart_and_the_run_says_why(
    kind: str, method: str, tmp_path: Path
) -> None:
    run, said = trained(kind, tmp_path, TuningSettings(method, {"length": 3}))
    assert (
        f"model/tuning.safetensors holds what {method} has added to the model (no plain model has"
        " room for it)" in said
    )
    assert len(opened(run, kind)) == 10, "the plain model beside it opens"
    asked = find_job("classify-predict").run(
        PredictSettings(run=str(run.path), texts=str(tmp_path / "reviews" / "dev.csv")),
        place=RunPlace(tmp_path / "runs", "asked"),
        console=Console(quiet=True),
    )
    for before, after in zip(run.predictions("dev"), asked.predictions("dev"), strict=True):
        assert after["confidence"] == pytest.approx(before["confidence"], abs=1e-6)
