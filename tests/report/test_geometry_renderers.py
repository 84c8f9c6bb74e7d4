"""One explanation, shown on a terminal, as JSON and as a figure."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from attnlab.errors import UserError
from attnlab.geometry.examples import cse517
from attnlab.geometry.explain.answer import Request
from attnlab.geometry.explain.weights import explain_weights
from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.panels import Bars, Space
from attnlab.geometry.scale import error_curve
from attnlab.geometry.targets import average, select
from attnlab.report.geometry.figures import draw
from attnlab.report.geometry.plain_data import as_data, explanation_data
from attnlab.report.geometry.terminal import view

INNER = Explanation("Yours", "wrong", "off by 2", is_users=True)
OUTER = Explanation(
    "Can it be?",
    "limit",
    parts=[
        "It can.",
        "Nearly.",
        {"query": "[1, 2]"},
        Table(("token", ""), [(0, "never"), (1, np.array([0.5, 1 / 3]))]),
    ],
    data={"gap": math.inf, "weights": np.array([0.25, 0.75])},
    panels=[Bars({"wanted": np.array([0.25, 0.75])}), Space(np.eye(4))],
    answer=INNER,
)


def test_the_terminal_shows_headings_sentences_facts_tables_and_the_answer() -> None:
    console = Console(width=60, color_system=None)
    with console.capture() as shown:
        console.print(view(OUTER), highlight=False)
    lines = [line.rstrip() for line in shown.get().splitlines()]
    assert lines == [
        "Yours: wrong: off by 2",
        "",
        "Can it be?: in the limit",
        "It can.",
        "Nearly.",
        "",
        "query  [1, 2]",
        "",
        "token",
        "0      never",
        "1      [0.5, 0.3333]",
    ]


def test_an_answer_that_is_not_the_users_comes_last() -> None:
    console = Console(width=60, color_system=None)
    with console.capture() as shown:
        console.print(view(replace(OUTER, answer=replace(INNER, is_users=False))), highlight=False)
    assert shown.get().splitlines()[-1].rstrip() == "Yours: wrong: off by 2"


def test_the_json_has_every_part_every_number_and_every_panel() -> None:
    data = explanation_data(OUTER)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["question"], data["verdict"], data["is_wrong"]) == ("Can it be?", "limit", True)
    assert data["parts"][3]["rows"] == [[0, "never"], [1, [0.5, 1 / 3]]]
    assert data["data"] == {"gap": None, "weights": [0.25, 0.75]}
    assert [panel["kind"] for panel in data["panels"]] == ["Bars", "Space"]
    assert data["panels"][0]["series"] == {"wanted": [0.25, 0.75]}
    assert data["answer"]["detail"] == "off by 2"


def test_the_json_has_the_points_of_every_line_of_the_figure() -> None:
    explained = explain_weights(cse517(), average(4, [0, 1]), request=Request())
    (curves,) = [p for p in explanation_data(explained)["panels"] if p["kind"] == "Curves"]
    assert {name: len(x) == len(y) > 100 for name, (x, y) in curves["lines"].items()} == {
        "our query": True,
        "S·(k0+k1)": True,
    }


def test_points_in_four_dimensions_are_left_out_of_the_figure() -> None:
    assert len(draw(OUTER).axes) == 1
    with pytest.raises(UserError, match="there is nothing to draw"):
        draw(Explanation("", panels=[Space(np.eye(4))]))


def test_infinity_is_null_and_curves_are_summed_up() -> None:
    assert as_data({1: [math.inf, np.float64(2)], "a": np.eye(2)}) == {
        "1": [None, 2],
        "a": [[1, 0], [0, 1]],
    }
    curve = as_data(error_curve(cse517(), np.ones(3), target=select(4, 0)))
    assert "errors" not in curve
    assert curve["is_monotone"] is False
