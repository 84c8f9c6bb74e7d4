"""``attnlab classify batch-size`` from the command line: its help, its plan, its result."""

from pathlib import Path

import pytest
from command_line import Attnlab, flowing

from attnlab.cluster.process import Ended
from attnlab.cluster.watched import Watched
from small_bert import write_reviews, write_small_bert

BATCH_SIZE = (
    "classify batch-size reviews/train.csv --dev reviews/dev.csv --model bert --max-len 16"
    " --memory 1GB --effective-batch 30 --epochs 3 --lr 1e-2 --name largest"
).split()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small_bert(tmp_path / "bert")
    write_reviews(tmp_path / "reviews")

    def fits(argv: list[str], *, most_bytes: int, log: Path) -> Watched:
        assert (most_bytes, argv[1], log.name) == (10**9, "-m", "probe.log")
        return Watched(Ended("probe", 0, ""), 5 * 10**8, was_stopped=False)

    monkeypatch.setattr("attnlab.recipes.classify.probe.run_watched", fits)


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_it_is_planned_then_run_and_shown(attnlab: Attnlab, tmp_path: Path) -> None:
    planned = attnlab(*BATCH_SIZE, "--dry-run")
    assert planned.code == 0, planned.err
    assert "3 cells, 6 steps, about " in flowing(planned.out)
    assert not (tmp_path / "runs").exists()

    done = attnlab(*BATCH_SIZE)
    assert done.code == 0, done.err
    assert "batch 32: 500 MB, fits" in done.err
    shown = flowing(done.out)
    assert "Largest batch size: 60 of up to 16 tokens, within 1,000 MB; that is every" in shown
    assert "Trained in batches of 30, each in one piece: 2 steps per epoch." in shown
    assert "Did dev turn down?" in shown
    page = tmp_path / "runs" / "largest" / "report" / "report.html"
    assert 'id="curves-' in page.read_text(), "the curves are in it"
    listed = attnlab("runs", "list", "largest")
    assert "batch-32" in listed.out


def test_its_help_ends_with_an_example(attnlab: Attnlab) -> None:
    shown = flowing(attnlab("classify", "batch-size", "--help").out)
    assert "Example: attnlab classify batch-size boolq --memory 2GB --effective-batch 64" in shown


def test_an_amount_that_is_none_is_refused(attnlab: Attnlab, tmp_path: Path) -> None:
    done = attnlab("classify", "batch-size", "--memory", "2XB")
    assert done.code == 2
    assert "--memory 2XB: memory = '2XB' is not possible: give a number above 0 and one" in done.err
    assert list(tmp_path.iterdir()) == []
