"""Who may look at whom, written out."""

import torch

from attnlab.attention.contract import AttentionMask

CPU = torch.device("cpu")


def rows(mask: AttentionMask, n_queries: int, n_keys: int) -> list[list[str]]:
    """Write each row of the dense mask as a text, x where a query may look."""
    dense = mask.dense(n_queries, n_keys, CPU)
    assert dense.dtype == torch.bool
    return [["".join(".x"[v] for v in row) for row in one[0].tolist()] for one in dense]


def test_without_anything_everybody_sees_everybody() -> None:
    assert rows(AttentionMask(), 2, 3) == [["xxx", "xxx"]]


def test_a_causal_token_sees_itself_and_what_was_before() -> None:
    assert rows(AttentionMask(causal=True), 4, 4) == [["x...", "xx..", "xxx.", "xxxx"]]


def test_the_last_of_a_few_queries_stands_at_the_last_key() -> None:
    assert rows(AttentionMask(causal=True), 2, 5) == [["xxxx.", "xxxxx"]]


def test_padding_is_seen_by_nobody() -> None:
    padding = torch.tensor([[True, True, False], [False, True, True]])
    assert rows(AttentionMask(padding=padding), 2, 3) == [["xx.", "xx."], [".xx", ".xx"]]


def test_segments_do_not_see_each_other() -> None:
    segments = torch.tensor([[0, 0, 1, 1], [2, 1, 1, 2]])
    assert rows(AttentionMask(segments=segments), 4, 4) == [
        ["xx..", "xx..", "..xx", "..xx"],
        ["x..x", ".xx.", ".xx.", "x..x"],
    ]


def test_the_last_queries_belong_to_the_last_segments() -> None:
    segments = torch.tensor([[0, 0, 1, 1]])
    mask = AttentionMask(causal=True, segments=segments)
    assert rows(mask, 2, 4) == [["..x.", "..xx"]]


def test_all_three_hold_at_once() -> None:
    mask = AttentionMask(
        causal=True,
        padding=torch.tensor([[True, False, True, True], [True, True, True, False]]),
        segments=torch.tensor([[0, 0, 0, 1], [0, 1, 1, 1]]),
    )
    assert rows(mask, 4, 4) == [
        ["x...", "x...", "x.x.", "...x"],
        ["x...", ".x..", ".xx.", ".xx."],
    ]
