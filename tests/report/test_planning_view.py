"""A plan in words: cells, the sum, what cannot be timed, and the smallest difference."""

from attnlab.report.document import Sentences, Table
from attnlab.report.planning import Plan, PlannedCell, in_words, plan_blocks


def said(plan: Plan) -> tuple[Table, str]:
    table, *rest = plan_blocks(plan)
    assert isinstance(table, Table)
    return table, " ".join(line for b in rest if isinstance(b, Sentences) for line in b.lines)


def test_cells_are_listed_and_summed_up() -> None:
    cells = [PlannedCell("world", 0, 3.0, "trains nothing"), PlannedCell("reader", 1500, 600.0)]
    cells.append(PlannedCell("later", note="not timed: needs reader", is_timed=False))
    table, text = said(Plan(cells, 2, 1, {"dev": 1000}, seeds=1, conditions=9))
    assert table.rows[1] == ["reader", "1,500", "10 minutes", ""]
    assert table.rows[2] == ["later", "?", "?", "not timed: needs reader"]
    assert "3 cells, 1,500 steps, about 5 minutes, 2 at a time" in text
    assert "timed here with 1 thread; 1 cannot be timed yet." in text
    assert "one run each after Holm's correction for 8 comparisons: 5." in text
    assert "on dev (n = 1,000); if two models answer 20 % of the examples differently." in text


def test_many_cells_are_cut_and_seeds_are_named() -> None:
    cells = [PlannedCell(f"cell-{i}", 10, 1.0) for i in range(50)]
    table, text = said(Plan(cells, 1, 2, {"test": 500}, seeds=3, conditions=2))
    assert len(table.rows) == 40
    assert "10 more cells are not shown." in text
    assert "3 seeds each: " in text
    assert "if scores spread by 1 point over seeds" in text


def test_without_training_there_is_nothing_to_show() -> None:
    _, text = said(Plan([PlannedCell("p", note="trains nothing")], 1, 0, {}, 1, 0))
    assert text == "1 cell; nothing to train."


def test_times_have_the_unit_that_fits() -> None:
    assert [in_words(s) for s in (3, 600, 7200)] == ["3 seconds", "10 minutes", "2.0 hours"]
