"""One row of predictions, whatever the lab."""

from attnlab.runs.predictions import column, is_labelled, prediction_row


def test_a_row_has_the_same_columns_in_the_same_order() -> None:
    row = prediction_row("a", "Good.", gold="1", prediction="2", confidence=0.6, loss=0.9)
    assert list(row) == ["id", "input", "gold", "prediction", "confidence", "loss"]
    more = prediction_row("a", "", gold="1", prediction="2", confidence=0.6, loss=0.9, tokens=3)
    assert list(more)[-1] == "tokens"


def test_without_the_truth_there_is_neither_gold_nor_loss() -> None:
    row = prediction_row("a", "Good.", gold=None, prediction="2", confidence=0.6, loss=None)
    assert list(row) == ["id", "input", "prediction", "confidence"]
    assert not is_labelled([row])
    assert not is_labelled([])


def test_a_column_is_read_row_by_row() -> None:
    rows = [prediction_row(i, i, gold="1", prediction=i, confidence=0.5) for i in "ab"]
    assert is_labelled(rows)
    assert column(rows, "prediction") == ["a", "b"]
