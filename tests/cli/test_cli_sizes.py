"""Sizes and counts that cannot be: refused in a sentence, before anything is allocated."""

from collections.abc import Callable
from pathlib import Path

import pytest
from knowledge_files import everything

Attnlab = Callable[..., tuple[int, str, str]]
PRETRAIN, FINETUNE = "knowledge pretrain c.txt", "knowledge finetune q.tsv --corpus c.txt"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{PRETRAIN} --set model.d_model=100000000", "d_model = 100000000, to train, needs about"),
        (f"{FINETUNE} --set model.d_model=100000000", "d_model = 100000000, to train, needs about"),
        (
            f"{PRETRAIN} --set model.ngram_table.rows=100000000000",
            "ngram_table.rows = 100000000000",
        ),
        (f"{PRETRAIN} --set tokenizer.size=100000000000", "less than or equal to 1048576"),
        (f"{PRETRAIN} --set model.n_layers=1000000000", "less than or equal to 1000."),
        (f"{PRETRAIN} --set training.accumulate=1000000000", "less than or equal to 10000."),
        (f"{PRETRAIN} --set training.optimizer.lr=1e308", "less than or equal to 1000000."),
        (f"{PRETRAIN} --set objective.options.block=1000000000", "less than or equal to 65536."),
        ("knowledge write run John --samples 100000000", "less than or equal to 10000."),
        ("knowledge world w --people 1000000000", "Choose fewer people."),
        ("classify label-budget --seeds 1000000000", "less than or equal to 1000."),
        ("attention cost dot_product --d-model 100000000", "--d-model 100000000 needs about"),
        ("attention cost dot_product --lengths 1000000000", "Give shorter ones."),
        ("attention solve heads --draws 1000000000000", "--draws 1000000000000 needs about"),
    ],
)
def test_a_size_that_cannot_be_is_refused_and_leaves_nothing_behind(
    attnlab: Attnlab, tmp_path: Path, command: str, message: str
) -> None:
    (tmp_path / "c.txt").write_text("Ada Bell. Born in Paris, she sang.\n")
    (tmp_path / "q.tsv").write_text("Where was Ada Bell born?\tParis\n")
    before = everything(tmp_path)
    code, out, err = attnlab(*command.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    after = everything(tmp_path)
    assert {name: after[name] for name in after if name != "runs"} == before
