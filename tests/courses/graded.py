"""What the tests of all graders say about a report."""

from typing import Any


def assert_costs_only(report: dict[str, Any], mistake: Any) -> None:
    """A mistake loses the points of its part alone, and the check that fails names it."""
    lost = {part["name"]: part for part in report["parts"] if part["points"] < part["of"]}
    assert list(lost) == [mistake.part]
    assert lost[mistake.part]["points"] == 0
    (failed,) = [f for f in lost[mistake.part]["findings"] if f["passed"] is False]
    assert failed["check"] == mistake.check
    assert mistake.said in failed["seen"]
