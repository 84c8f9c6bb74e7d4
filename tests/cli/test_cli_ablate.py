"""``attnlab attention ablate`` from the command line: planned, run, shown, reported by topic."""

from pathlib import Path

import pytest
from command_line import Attnlab, flowing

TEXT = "".join(f"line {i} of a text that says {i * i % 97} things\n" for i in range(300))
WORDS = (
    "attention ablate prose.txt --topic projections --seeds 1 --length 2steps --match flops"
    " --set base.model.d_model=12 --set base.model.n_heads=3 --set base.model.n_layers=1"
    " --set base.objective.options.block=16 --set base.batch_tokens=160 --name small"
).split()


@pytest.mark.slow
def test_a_topic_is_planned_without_a_trace(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(TEXT)
    planned = attnlab(*WORDS, "--dry-run")
    assert planned.code == 0, planned.err
    assert planned.err.startswith("device: cpu, ")
    assert "mlp_projection-on-v-hidden-0-seed-0" in planned.out
    assert "not timed: needs mlp_projection-seed-0" in flowing(planned.out)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_topic_is_run_shown_and_reported(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(TEXT)
    done = attnlab(*WORDS)
    assert done.code == 0, done.err
    shown = flowing(done.out)
    assert "What was found" in shown
    assert "bits per character" in shown
    assert done.out.splitlines()[-1].endswith("runs/small/report/report.html")
    page = (tmp_path / "runs" / "small" / "report" / "report.html").read_text()
    assert "Question: Is anything gained if query, key and value come from small networks" in page
    assert attnlab(*WORDS).out == done.out, "finished: shown again"

    told = attnlab("attention", "report", "small", "--topic", "projections", "--markdown")
    assert told.code == 0, told.err
    assert Path(told.out.strip()).read_text().startswith("# Should the projections be networks?")


def test_mistakes_are_named_before_anything_is_made(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(TEXT)
    for words, said in (
        (("ablate",), "give a text to learn from: attnlab attention ablate TEXT"),
        (("ablate", "prose.txt"), "nothing to compare with dot_product: give --topic (aft, fast,"),
        (("ablate", "prose.txt", "--topic", "aftt"), "Did you mean 'aft'?"),
        (("ablate", "prose.txt", "--match", "steps"), "--match steps"),
        (("report", "none", "--topic", "aft"), "there is no run 'none'"),
    ):
        done = attnlab("attention", *words)
        assert done.code == 2, words
        assert said in flowing(done.err), done.err
    assert not (tmp_path / "runs").exists()
