"""Conditions as a user writes them, and the topics that are made of them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.attention.conditions import (
    ConditionReference,
    cell_name,
    condition_name,
    condition_of,
    examined_name,
    is_on_coins,
    read_condition,
)
from attnlab.attention.settings import AttentionSettings
from attnlab.attention.topics import find_topic, topic_names
from attnlab.errors import UserError
from attnlab.models.gpt import GPT
from attnlab.report.sections.ablation import FIGURES


@pytest.mark.parametrize(
    ("text", "name", "options", "positions"),
    [
        ("cosine", "cosine", {}, "learned"),
        ("dot_product@rotary", "dot_product", {}, "rotary"),
        ("aft:form=local;window=8", "aft", {"form": "local", "window": 8}, "learned"),
        ("cosine:a=1@alibi", "cosine", {"a": 1}, "alibi"),
        ("a@b/mine.py:Mine", "a@b/mine.py:Mine", {}, "learned"),
        ("custom:score=my/own.py:f", "custom", {"score": "my/own.py:f"}, "learned"),
    ],
)
def test_a_condition_is_a_variant_with_options_and_positions(
    text: str, name: str, options: dict[str, Any], positions: str
) -> None:
    expected = AttentionSettings(name, options, positions=positions)
    assert read_condition(text, positions="learned") == expected


def test_a_condition_that_is_not_one_is_refused() -> None:
    with pytest.raises(UserError, match=r"'aft:form=full;x' is not of the form NAME:option=value;"):
        read_condition("aft:form=full;x", positions="learned")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dot_product@rotary", "dot_product-rotary"),
        ("shared_projection:share=qk", "shared_projection-share-qk"),
        ("mlp_projection:on=v;hidden=0", "mlp_projection-on-v-hidden-0"),
        ("custom:score=/my/own.py:f", "custom-score-own.py-f"),
    ],
)
def test_a_condition_becomes_a_plain_folder_name(text: str, name: str) -> None:
    assert condition_name(text) == name
    assert condition_name(name) == name
    cell = cell_name(text, 3)
    assert cell == f"{name}-seed-3"
    assert condition_of(cell) == condition_of(examined_name(cell)) == name
    assert not is_on_coins(examined_name(cell))
    assert is_on_coins(examined_name(cell_name(text, 3, on_coins=True)))


def test_a_users_file_is_written_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("cosine", "custom:score=own.py:f", "own.py:Mine@none")
    here = tmp_path.resolve()
    assert ConditionReference().absolute(given, tmp_path) == (
        "cosine",
        f"custom:score={here}/own.py:f",
        f"{here}/own.py:Mine@none",
    )


def test_the_seven_topics_of_the_assignment_are_there() -> None:
    assert topic_names() == [
        *("aft", "fast", "late-mask", "positions", "projections", "sharing", "similarity"),
    ]


@pytest.mark.parametrize("name", topic_names())
def test_every_topic_can_be_built_and_says_all_that_a_report_needs(name: str) -> None:
    topic = find_topic(name)
    for text in (topic.title, topic.question, topic.background, topic.hypothesis, topic.meaning):
        assert text[:1].isupper()
        assert text[-1] in ".?"
    assert topic.conditions[0] == topic.control
    assert set(topic.figures) <= FIGURES
    assert {*topic.coins, *topic.costs} <= set(topic.conditions)
    for one in topic.expectations:
        assert one.outcome in ("better", "worse", "alike")
        assert one.because.endswith(".")
        attention = read_condition(one.condition, positions="learned")
        model = GPT(7, 6, d_model=8, n_heads=2, n_layers=1, attention=attention)
        assert model(torch.zeros(2, 5, dtype=torch.long)).shape == (2, 5, 7)


def test_an_unknown_topic_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no topic is called 'sharin'\. Did you mean 'sharing'\?"):
        find_topic("sharin")
