"""Whether dev turned down: a fall is called one only if so many looks would not find it anyway."""

from pathlib import Path

import pytest
from records import classifier_run

from attnlab.evaluation.significance import mcnemar
from attnlab.evaluation.turning import turn_of
from attnlab.runs.directory import Run

N = 400
GOLD = ["yes" if i % 2 else "no" for i in range(N)]
OTHER = {"yes": "no", "no": "yes"}


def answered(wrong: set[int]) -> list[str]:
    return [OTHER[gold] if i in wrong else gold for i, gold in enumerate(GOLD)]


def ends(folder: Path, best: list[str], last: list[str]) -> tuple[Run, Run]:
    first, second = (
        classifier_run(
            folder,
            name,
            gold=GOLD,
            predicted=predicted,
            split="dev",
            settings={"evaluate_every": every},
        )
        for name, predicted, every in (("train", best, 3), ("last-epoch", last, 0))
    )
    return first, second


GOOD = answered(set(range(100)))


def test_a_fall_that_the_rows_show_is_called_one(tmp_path: Path) -> None:
    turn = turn_of(*ends(tmp_path, GOOD, answered(set(range(150)))), epochs=30)
    assert turn.verdict == "down"
    assert (turn.best.score, turn.last.score, turn.n, turn.n_others) == (0.75, 0.625, N, 29)


def test_a_fall_that_many_looks_find_anyway_is_not(tmp_path: Path) -> None:
    """The test alone would call it one: it does not know that the best was chosen of thirty."""
    last = answered({*range(85), *range(200, 234)})
    assert mcnemar([g == p for g, p in zip(GOLD, GOOD, strict=True)],
                   [g == p for g, p in zip(GOLD, last, strict=True)]) < 0.05  # fmt: skip
    best_and_last = ends(tmp_path, GOOD, last)
    assert turn_of(*best_and_last, epochs=30).verdict == "unclear"
    assert turn_of(*best_and_last, epochs=2).verdict == "down", "of two epochs it is one"


def test_the_last_epoch_may_be_the_best(tmp_path: Path) -> None:
    best, _ = ends(tmp_path, GOOD, GOOD)
    assert turn_of(best, None, epochs=30).verdict == "still best"


@pytest.mark.parametrize(
    "best", [["yes"] * N, answered(set(range(195)))], ids=["constant", "noise"]
)
def test_what_never_learned_has_not_turned_down(tmp_path: Path, best: list[str]) -> None:
    last = answered(set(range(300)))
    assert turn_of(*ends(tmp_path, best, last), epochs=30).verdict == "not learned"
