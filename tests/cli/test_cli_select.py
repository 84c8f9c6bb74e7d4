"""``attnlab classify select`` from the command line: the plan, the result, and --parallel."""

from pathlib import Path

import pytest
from command_line import Attnlab, flowing

from small_bert import write_reviews, write_small_bert

SELECT = (
    "classify select reviews/train.csv --dev reviews/dev.csv --test reviews/test.csv --model bert"
    " --max-len 16 --lr 1e-6,1e-2 --epochs 1,2 --name grid"
).split()


@pytest.mark.slow
def test_a_grid_is_planned_then_run_and_shown(attnlab: Attnlab, tmp_path: Path) -> None:
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")
    planned = attnlab(*SELECT, "--dry-run")
    assert planned.code == 0, planned.err
    assert "lr-1e-2-epochs-2-seed-0" in planned.out
    assert "4 cells, 8 steps, about " in flowing(planned.out)
    assert "one run each after Holm's correction for 3 comparisons" in flowing(planned.out)
    assert not (tmp_path / "runs").exists()

    done = attnlab(*SELECT)
    assert done.code == 0, done.err
    shown = flowing(done.out)
    assert "accuracy on dev, n = 25" in shown
    assert "so 2 trainings serve all 4 runs" in shown
    assert "Test, read once with what dev chose" in shown
    page = tmp_path / "runs" / "grid" / "report" / "report.html"
    assert page.exists()
    assert 'id="grid-' in page.read_text(), "the heat map is in it"
    listed = attnlab("runs", "list", "grid")
    assert "chosen" in listed.out


def test_a_single_run_is_not_run_in_parallel(attnlab: Attnlab, tmp_path: Path) -> None:
    done = attnlab("run", "classify-train", "--parallel", "2")
    assert (done.code, done.out) == (2, "")
    assert (
        "--parallel is for studies, and classify-train is a single run: leave it out." in done.err
    )
    assert list(tmp_path.iterdir()) == []
