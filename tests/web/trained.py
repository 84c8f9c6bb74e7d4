"""Runs with tiny models: GPTs that know made-up people, and classifiers of reviews."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from attnlab.attention.settings import AttentionSettings
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings
from small_bert import WORDS, write_reviews, write_small_bert
from small_hub import write_small_hub
from small_jobs import SHORT, TINY, WORLD

FAST = replace(
    SHORT,
    length="20 steps",
    optimizer=OptimizerSettings("adamw", lr=5e-3),
    precision="float32",  # so that a text in a batch gets the numbers that it gets alone
)
GPT = replace(TINY, n_layers=2)


def train(root: Path, name: str, job: str, settings: Any) -> Run:
    """Run a job under a name."""
    found = find_job(job).run(settings, place=RunPlace(root, name), console=Console(quiet=True))
    assert isinstance(found, Run)
    return found


def write_gpt(root: Path, name: str, attention: AttentionSettings) -> Run:
    """Train a GPT of two layers on a small world, which is a run called world."""
    if not (root / "world").exists():
        train(root, "world", "knowledge-world", WORLD)
    settings = PretrainSettings(
        corpus=str(root / "world" / "wiki.txt"),
        questions=str(root / "world" / "birth_places_train.tsv"),
        test=str(root / "world" / "birth_test.tsv"),
        model=replace(GPT, attention=attention),
        training=SHORT,
    )
    return train(root, name, "knowledge-pretrain", settings)


def write_classifier(root: Path, name: str, *, kind: str = "bert", max_len: int = 16) -> Run:
    """Train a classifier of reviews: our BERT, or a model of transformers."""
    inputs = root.with_name(f"{root.name}-inputs")
    if not (inputs / "reviews").exists():
        write_reviews(inputs / "reviews")
    if not (model := inputs / f"{kind}-{max_len}").exists():
        size = {"max_len": max(20, max_len)}
        write_small_bert(model, **size) if kind == "bert" else write_small_hub(model, kind)
    settings = ClassifySettings(
        model=str(model),
        train=str(inputs / "reviews" / "train.csv"),
        dev=str(inputs / "reviews" / "dev.csv"),
        max_len=max_len,
        batch_size=20,
        training=FAST,
    )
    return train(root, name, "classify-train", settings)


def write_pair_classifier(root: Path, name: str) -> Run:
    """Train our BERT to tell whether two words are the same."""
    inputs = root.with_name(f"{root.name}-inputs")
    lines = [f"{a}\t{b}\t{int(a == b)}" for a in WORDS[:8] for b in WORDS[:8]]
    (inputs / "pairs.tsv").write_text("\n".join(["text\tpair\tlabel", *lines, ""]))
    settings = ClassifySettings(
        model=str(inputs / "bert-16"),
        train=str(inputs / "pairs.tsv"),
        max_len=16,
        batch_size=20,
        training=SHORT,
    )
    return train(root, name, "classify-train", settings)


def write_models(root: Path) -> None:
    """Train one of each: GPTs, one of them without weights, and BERTs, one of them for pairs."""
    root.mkdir(parents=True)
    write_gpt(root, "gpt", AttentionSettings(positions="rotary"))
    write_gpt(root, "weightless", AttentionSettings("aft", positions="learned"))
    write_classifier(root, "bert")
    write_pair_classifier(root, "pairs")
