"""A killed job of every tuning method goes on bit for bit: real processes, real SIGKILLs."""

from pathlib import Path

import pytest
from killing import end_the_same, trained

from attnlab.tuning import TUNING
from small_bert import write_reviews, write_small_bert
from small_hub import write_small_hub

CASES = {f"bert-{method}": ("bert", method) for method in TUNING.names()}
CASES |= {
    f"{kind}-{method}": (kind, method)
    for kind, method in [
        ("roberta", "bitfit"),
        ("roberta", "head"),
        ("roberta", "prefix"),
        ("distilbert", "ia3"),
        ("distilbert", "prompt"),
        ("t5", "lora"),
    ]
}
"""Every method for BERT, and for the models of transformers all but ``full``."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with texts and models, which drop a tenth of their activations."""
    folder = tmp_path_factory.mktemp("inputs")
    write_small_bert(folder / "bert", dropout=0.1, attention_dropout=0.1)
    for kind in ("roberta", "distilbert", "t5"):
        write_small_hub(folder / kind, kind, dropout=0.1)
    return write_reviews(folder, train=40, dev=10)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_killed_run_of_every_method_ends_as_if_nothing_had_happened(
    case: str, inputs: Path, tmp_path: Path
) -> None:
    model, method = CASES[case]
    words = ["classify", "train", "train.csv", "--dev", "dev.csv", "--max-len", "16"]
    words += ["--model", model, "--tuning", method, *trained(evaluate_every=3)]
    end_the_same(case, words, kills=2, inputs=inputs, folder=tmp_path)
