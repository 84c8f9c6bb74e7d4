"""A hundred random kills across jobs and studies: weights, predictions and files end the same.

Real processes, real SIGKILLs, threads and precision fixed. A job is killed at a random event, again
and again, until it is finished or its share of the kills is used up; then the same command ends it.
"""

from pathlib import Path

import pytest
from killing import end_the_same, sets, start, trained

from attnlab.data.settings import WorldSettings
from attnlab.recipes.knowledge.world import write_world
from small_bert import write_reviews, write_small_bert

MODEL = {"d_model": 12, "n_heads": 3, "n_layers": 1, "dropout": 0.2, "ngram_table": {"rows": 101}}
WORLD = {"people": 12, "biographies": 2}
QUESTIONS = ["birth_places_train.tsv", "--dev", "birth_dev.tsv", "--test", "birth_test.tsv"]
REVIEWS = ["train.csv", "--dev", "dev.csv", "--model", "bert", "--max-len", "16"]
FEW = {"size": 300}
PRETRAIN = ["knowledge", "pretrain", "wiki.txt", "--questions", *QUESTIONS, *trained()]
PRETRAIN += sets(model=MODEL, tokenizer=FEW, batch_tokens=390)
CLASSIFY = ["classify", "train", *REVIEWS, *trained(evaluate_every=3)]
JOINT = ["--mlm-text", "unlabeled.txt", "--alpha", "0.5", "--set=masked.block=16"]
BUDGET = [*REVIEWS, "--mlm-text", "unlabeled.txt", "--labels", "10,all", "--alpha", "0,0.5"]
SHORT = {"length": "3 steps", "save_every": 2, "threads": 1}
JOBS = {
    "pretrain": (20, PRETRAIN),
    "finetune": (
        12,
        ["knowledge", "finetune", *QUESTIONS, "--start", "given/reader", *trained()],
    ),
    "evaluate": (8, ["knowledge", "evaluate", "given/reader", "birth_test.tsv"]),
    "classify": (14, CLASSIFY),
    "jointly": (14, [*CLASSIFY, *JOINT]),
    "predict": (6, ["classify", "predict", "given/classifier", "test.csv"]),
    "demo": (
        10,
        [
            *("knowledge", "demo", "--length", "3 steps"),
            *sets(world=WORLD, model=MODEL, questions_length="2 steps", training=SHORT),
        ],
    ),
    "extraction": (
        8,
        [
            *("knowledge", "extraction"),
            *sets(world={**WORLD, "people": 20, "unwritten": 0}, tokenizer=FEW),
            *sets(model={"d_model": 12, "n_heads": 3, "n_layers": 1}),
            *sets(conditions=["one", "many-permuted"], finetunings=["adamw-3e-4"], held_out=0.3),
            *sets(pretraining=SHORT, finetuning={"save_every": 2, "threads": 1}),
        ],
    ),
    "label-budget": (
        8,
        [
            *("classify", "label-budget", *BUDGET, "--seeds", "1", "--length", "3 steps"),
            *sets(base__training__threads=1, base__training__save_every=2, base__masked__block=16),
        ],
    ),
}
KILLS = sum(kills for kills, _ in JOBS.values())


def test_there_are_a_hundred() -> None:
    assert KILLS == 100


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with texts, models and two finished runs."""
    folder = tmp_path_factory.mktemp("inputs")
    write_world(WorldSettings(people=15, biographies=2, unwritten=0), folder)
    write_small_bert(folder / "bert", dropout=0.1)
    write_reviews(folder)
    for name, words in (("reader", PRETRAIN), ("classifier", CLASSIFY)):
        code, err = start(folder, folder / "given", words, 0)
        assert code == 0, err
        (folder / "given" / "run").rename(folder / "given" / name)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_a_job_killed_at_random_ends_as_if_nothing_had_happened(
    job: str, inputs: Path, tmp_path: Path
) -> None:
    kills, words = JOBS[job]
    end_the_same(job, words, kills=kills, inputs=inputs, folder=tmp_path)
