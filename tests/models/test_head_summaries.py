"""Thumbnails keep what stands out; habits are plain means."""

import torch

from attnlab.models.head_summaries import THUMBNAIL, habits, thumbnails


def test_a_thumbnail_shows_a_single_key_of_a_long_text() -> None:
    weights = torch.full((2, 500, 510), 0.001)
    weights[1, 250, 100] = 0.9
    small = thumbnails(weights)
    assert small.shape == (2, THUMBNAIL, THUMBNAIL)
    assert (small[0] == 255).all()
    assert int(small[1, 250 * THUMBNAIL // 500, 100 * THUMBNAIL // 510]) == 255
    assert (small[1] == 255).sum() == 1


def test_a_short_text_is_not_enlarged_and_nothing_is_no_division_by_zero() -> None:
    assert thumbnails(torch.eye(5)[None]).shape == (1, 5, 5)
    assert not thumbnails(torch.zeros(1, 5, 5)).any()


def test_habits_of_heads_that_do_one_thing() -> None:
    own = torch.eye(5)
    before = torch.eye(5).roll(-1, 1).tril()
    before[0, 0] = 1
    first = torch.zeros(5, 5)
    first[:, 0] = 1
    found = habits(torch.stack([own, before, first]))
    assert [round(one, 3) for one in found.itself] == [1, 0.2, 0.2]
    assert [round(one, 3) for one in found.previous] == [0, 1, 0.25]
    assert [round(one, 3) for one in found.first] == [0, 0.25, 1]


def test_one_token_has_none_before() -> None:
    assert habits(torch.ones(2, 1, 1)) == ([1, 1], [0, 0], [0, 0])
