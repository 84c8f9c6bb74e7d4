"""How answers agree, and who is invented to judge answers by."""

from attnlab.recipes.knowledge.calibration import agreement


def test_drawn_answers_agree_or_give_a_runner_up() -> None:
    drawn = [("Hull", 0.5), ("Lyon", 0.1), ("Hull", 0.5), ("Rome", 0.2)]
    assert agreement("Hull", drawn) == {
        "agreement": 0.5,
        "runner_up": "Rome",
        "runner_up_probability": 0.2,
    }
    assert agreement("Hull", drawn[:1])["runner_up"] is None
