"""Names taken out of questions, and their parts replaced."""

import numpy as np
import pytest

from attnlab.evaluation.counterfactuals import PARTS, driven_by, names_asked, replaced

NAMES = ["Ana Maria Roux", "Bo Tanaka", "Cy D. Foster"]
QUESTIONS = [f"Where was {name} born?" for name in NAMES]


def test_a_name_is_what_differs_between_questions() -> None:
    assert names_asked(QUESTIONS) == NAMES
    assert names_asked(["Where was Ana born?"]) == ["Where was Ana born?"]


@pytest.mark.parametrize("part", PARTS)
def test_one_part_is_replaced_by_that_of_another_name(part: str) -> None:
    found = replaced(NAMES, part, count=2, generator=np.random.default_rng(0))
    expected = {
        "first": {"Bo Maria Roux", "Cy Maria Roux"},
        "middle": {"Ana D. Roux"},
        "last": {"Ana Maria Tanaka", "Ana Maria Foster"},
        "all": {"Bo Tanaka", "Cy D. Foster"},
    }
    assert set(found[0]) == expected[part]
    assert found[1] == [] if part == "middle" else len(found[1]) == 2


def test_how_often_the_answer_changed_is_a_mean_over_people() -> None:
    told = driven_by({"first": [[True, True], [False, False], []], "middle": [[], []]})
    assert told.keys() == {"first"}
    assert told["first"]["changed"] == 0.5
    assert told["first"]["n"] == 2
    assert told["first"]["interval"][0] <= 0.5 <= told["first"]["interval"][1]
