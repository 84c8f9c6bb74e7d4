"""The selection's page: ties, what cannot be told apart, what collapsed, and the figure of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from records import classifier_run

from attnlab.evaluation.selection import select_best
from attnlab.report.document import Figure, Sentences, Table
from attnlab.report.figure_output import as_inline_svg, as_png
from attnlab.report.sections.selection import SELECTION, grid_of
from attnlab.runs.directory import Run

N = 200
GOLD = ["yes"] * 120 + ["no"] * 80


def right(share: float, seed: int = 0) -> list[str]:
    """Answer a share of the examples right, which ones by chance."""
    drawn = np.random.default_rng(seed).random(N) < share
    other = {"yes": "no", "no": "yes"}
    return [gold if hit else other[gold] for gold, hit in zip(GOLD, drawn, strict=True)]


def cell(
    root: Path, lr: float, epochs: int, predicted: list[str], *, seed: int = 0, **changes: Any
) -> Run:
    training = {
        "length": f"{epochs} epochs",
        "seed": seed,
        "optimizer": {"name": "adamw", "lr": lr},
        "schedule": {"name": "constant"},
    }
    settings = {
        "batch_size": 8,
        "tuning": {"name": "full"},
        "read_test": False,
        "resume_from": "" if epochs == 1 else f"/study/{lr}-1",
        "training": training,
    }
    name, split = f"{lr}-{epochs}-{seed}", "test" if changes.get("read_test") else "dev"
    return classifier_run(
        root,
        changes.pop("name", name),
        gold=GOLD,
        predicted=predicted,
        job="classify-train",
        settings=settings | changes,
        split=split,
    )


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    best = right(0.9)
    return [
        cell(tmp_path, 1e-4, 1, right(0.75, seed=1)),
        cell(tmp_path, 1e-3, 1, ["yes"] * N),
        cell(tmp_path, 1e-2, 1, right(0.6, seed=2)),
        cell(tmp_path, 1e-4, 2, best),
        cell(tmp_path, 1e-3, 2, best),
        cell(tmp_path, 1e-2, 2, right(0.89, seed=0)),
    ]


def test_dev_chooses_the_first_of_equal_ones_and_names_the_rest(runs: list[Run]) -> None:
    found = select_best(runs)
    assert found.chosen.runs == ("0.0001-2-0",)
    assert found.tied == ("0.001-2-0",)
    assert set(found.alike) == {"0.001-2-0", "0.01-2-0"}
    assert found.constant == ("0.001-1-0",)
    assert found.at_majority == ("0.01-1-0",)


def test_runs_that_differ_in_the_seed_are_one_cell(tmp_path: Path) -> None:
    runs = [
        cell(tmp_path, lr, 2, right(share, seed), seed=seed, resume_from=f"/study/{lr}-1-{seed}")
        for lr, share in ((1e-4, 0.7), (1e-3, 0.9))
        for seed in (0, 1, 2)
    ]
    found = select_best(runs)
    assert found.chosen.runs == ("0.001-2-0", "0.001-2-1", "0.001-2-2")
    assert len(found.comparison.conditions) == 2, "where they resumed from does not part them"


def test_the_page_says_what_was_chosen_and_how_sure_that_is(
    runs: list[Run], tmp_path: Path
) -> None:
    tested = cell(tmp_path, 1e-4, 2, right(0.8), read_test=True, name="chosen")
    blocks = list(SELECTION.summary([*runs, tested]))
    lines = [line for block in blocks if isinstance(block, Sentences) for line in block.lines]
    text = "\n".join(lines)
    assert "Chosen: learning rate 1e-4, epochs 2, " in text
    assert "Tie: learning rate 1e-3, epochs 2 scored exactly the same." in text
    assert "Not distinguishable from the choice: 2 of 5 others" in text
    assert "One class for everything: learning rate 1e-3, epochs 1." in text
    assert "Not shown to be above guessing" in text
    assert "so 3 trainings serve all 6 runs" in text
    assert "highest of 6 on dev, so it is optimistic" in text
    grid, test = (block for block in blocks if isinstance(block, Table))
    assert list(grid.columns) == ["learning rate \\ epochs", "1", "2"]
    assert [row[0] for row in grid.rows] == ["1e-4", "1e-3", "1e-2"]
    assert grid.rows[0][2].endswith(" *")
    assert grid.rows[1][1].endswith(" !")
    assert grid.rows[1][2].endswith(" ~")
    assert test.rows[0][0] == "learning rate 1e-4, epochs 2"


def test_a_choice_that_has_learned_nothing_is_called_so(tmp_path: Path) -> None:
    runs = [cell(tmp_path, lr, 1, ["yes"] * N) for lr in (1e-3, 1e-2)]
    blocks = list(SELECTION.summary(runs))
    doubts = [line for b in blocks if isinstance(b, Sentences) and b.warning for line in b.lines]
    assert doubts[0].startswith("The choice has not been shown to learn anything")
    plain = [line for b in blocks if isinstance(b, Sentences) and not b.warning for line in b.lines]
    assert plain[-1] == "test: none"


def test_the_figure_frames_the_choice_and_keeps_its_ink_on_dark_pages(runs: list[Run]) -> None:
    (figure,) = (b.figure for b in SELECTION.summary(runs) if isinstance(b, Figure))
    axis = figure.axes[0]
    frames = [patch for patch in axis.patches if not patch.get_fill()]
    assert sorted(frame.get_linestyle() for frame in frames) == ["-", ":", ":"]
    hatched = [patch for patch in axis.patches if patch.get_hatch()]
    assert len(hatched) == 2
    assert len(axis.texts) == 6
    assert as_png(figure).startswith(b"\x89PNG")
    assert "currentColor" not in {text.get_color() for text in axis.texts}
    assert "fill: #101114" in as_inline_svg(figure, "grid"), "text on a field is not the page's ink"


def test_one_dimension_is_one_line_of_the_grid(tmp_path: Path) -> None:
    grid = grid_of([cell(tmp_path, 1e-3, epochs, right(0.9)) for epochs in (1, 2)])
    assert (grid.rows.title, list(grid.columns.values)) == ("", ["1", "2"])
    assert set(grid.names().values()) == {"epochs 1", "epochs 2"}
