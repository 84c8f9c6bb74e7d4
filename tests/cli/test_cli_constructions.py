"""attnlab attention solve heads, kqv, subspaces, sharpness and argmax, and every figure."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from command_line import Attnlab, as_json, flowing, solve

from attnlab.attention.variants.hard import Hard
from attnlab.geometry.explain import answer
from attnlab.geometry.explain.argmax import LEARNS, NO_GRADIENT

PNG = b"\x89PNG"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _few_random_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep it quick: every function checks its arguments here."""
    monkeypatch.setattr(answer, "DRAWS", 12)


def shown_blocks() -> list[tuple[str, str]]:
    """Give the manual's blocks: their language, and their text."""
    page = (ROOT / "docs" / "geometry.md").read_text(encoding="utf-8")
    return re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)


def test_every_command_of_the_manual_works_and_prints_what_is_shown(attnlab: Attnlab) -> None:
    printed, ran = "", 0
    for language, text in shown_blocks():
        if not language:
            assert flowing(text) in printed
            continue
        for line in text.splitlines():
            words = shlex.split(line, comments=True)[3:]
            printed = solve(attnlab, *words, code=int("5*(k0+k1)" in words))
            ran += 1
    assert ran == 15
    assert Path("heads.png").exists()


def test_two_heads_vary_less_than_one(attnlab: Attnlab) -> None:
    found = as_json(attnlab, "heads")["data"]
    assert found["heads"]["1"]["deviation"] == pytest.approx(0.44, abs=5e-3)
    assert found["heads"]["2"]["deviation"] == pytest.approx(0.16, abs=5e-3)
    assert found["heads"]["1"]["deviation_without_ignored"] == pytest.approx(0.43, abs=6e-3)
    assert found["heads"]["2"]["deviation_without_ignored"] == pytest.approx(0.113, abs=3e-3)
    for heads, deviation in found["steady"].items():
        assert deviation["deviation"] == pytest.approx(0, abs=6e-3), heads
    out = solve(attnlab, "heads", "--draws", "500", "--seed", "3")
    assert "500 draws of 20 keys, β = 10" in out
    assert "(7.9% expected)" in out


def test_keys_without_noise_deviate_by_0(attnlab: Attnlab) -> None:
    found = as_json(attnlab, "heads", "--alpha", "0", "--draws", "50")["data"]
    assert [found["steady"][heads]["deviation"] for heads in "12"] == [0, 0]
    assert found["heads"]["1"]["deviation"] > 0.3
    out = solve(attnlab, "heads", "--alpha", "0", "--draws", "50")
    assert "0 1 0.500 0.000 0.000 0.500 0.500 0.500 2 0.500 0.000" in out


def test_the_variance_of_the_length_is_chosen(attnlab: Attnlab) -> None:
    def deviation(variance: str) -> float:
        words = ("heads", "--length-variance", variance, "--draws", "400")
        return float(as_json(attnlab, *words)["data"]["heads"]["2"]["deviation"])

    assert deviation("0") < deviation("0.1") < deviation("0.5")
    out = solve(attnlab, "heads", "--length-variance", "0", "--draws", "50")
    assert "points away" not in out  # there is nothing to leave out
    done = attnlab("attention", "solve", "heads", "--length-variance", "-1")
    assert (done.code, done.out) == (2, "")
    assert "length_variance = -1 is not possible: give 0 to 1e+100." in done.err


def test_the_construction_gives_both_contexts(attnlab: Attnlab) -> None:
    out = solve(attnlab, "kqv")
    assert "u_c u_a + u_c 0.00037 3" in out  # the token finds itself, with a word added or not
    assert "The construction: right: largest error 0.00074" in out
    assert "falls like β·exp(-1.00 β²)" in out


def test_matrices_of_ones_own_are_checked(attnlab: Attnlab) -> None:
    right = np.zeros((4, 4))
    right[3, 0] = right[2, 3] = 1  # u_a asks for u_d, u_d for u_c
    np.savetxt("q.csv", right, delimiter=",")
    out = solve(attnlab, "kqv", "--query-matrix", "q.csv")
    assert out.startswith("Your matrices: right")
    assert "Q u_a 0 0 0 1 Q u_b 0 0 0 0 Q u_c 0 0 0 0 Q u_d 0 0 1 0" in out  # images, not rows
    Path("wrong.json").write_text(json.dumps(np.eye(4).tolist()), encoding="utf-8")
    out = solve(attnlab, "kqv", "--query-matrix", "wrong.json", code=1)
    assert "Your matrices: wrong" in out
    assert "The error does not fall as words grow." in out


def test_short_words_are_not_told_apart(attnlab: Attnlab) -> None:
    assert "The construction: wrong" in solve(attnlab, "kqv", "--beta", "1")


def test_one_vector_is_taken_out_of_a_sum_and_out_of_a_mean(attnlab: Attnlab) -> None:
    found = as_json(attnlab, "subspaces")["data"]
    of_sum, of_mean = (np.array(found[name]["matrix"]) for name in ("of_sum", "of_mean"))
    assert of_mean == pytest.approx(2 * of_sum)
    assert found["is_projection"]
    basis = np.array(found["first"])
    assert of_sum == pytest.approx(basis.T @ basis)


def test_a_matrix_of_ones_own_is_tried_on_both_subspaces(attnlab: Attnlab) -> None:
    Path("a.csv").write_text("1,0\n", encoding="utf-8")
    Path("b.csv").write_text("1,1\n", encoding="utf-8")
    Path("right.csv").write_text("1,-1\n0,0\n", encoding="utf-8")
    Path("wrong.csv").write_text("1,0\n0,0\n", encoding="utf-8")
    words = ("subspaces", "--first", "a.csv", "--second", "b.csv", "--matrix")
    assert "Your M: right" in solve(attnlab, *words, "right.csv")
    out = solve(attnlab, *words, "wrong.csv", code=1)
    assert "A Aᵀ will not do" in out
    assert "Your M: wrong: error up to 0.707" in out


def test_subspaces_that_share_a_vector_cannot_be_told_apart(attnlab: Attnlab) -> None:
    Path("a.csv").write_text("1,0,0\n0,1,0\n", encoding="utf-8")
    out = solve(attnlab, "subspaces", "--first", "a.csv", "--second", "a.csv")
    assert "impossible" in out
    assert "no matrix can tell the two apart" in out


def test_the_smallest_scale_for_a_mass(attnlab: Attnlab) -> None:
    out = solve(attnlab, "sharpness", "--tokens", "10")
    assert "smallest β 5.98141" in out  # ln(99 · 8 / 2)
    assert "47.8513" in out  # √64 times that
    assert "gives each 0.110" in out


def test_argmax_returns_the_first_value_and_says_what_learns(attnlab: Attnlab) -> None:
    out = solve(attnlab, "argmax")
    assert "Argmax attention: token 0" in out
    assert "output [3, 2, -4]" in out
    assert "no gradient reaches query.weight, query.bias, key.weight, key.bias" in out
    assert "a tie of 0 and 1" in solve(attnlab, "argmax", "--query", "0,1,0.5")


def test_what_is_said_about_hard_attention_is_what_it_declares() -> None:
    layer = Hard(12, 3, 7)
    assert layer.null_directions == NO_GRADIENT
    assert {name for name, _ in layer.named_parameters()} == {*NO_GRADIENT, *LEARNS}


@pytest.mark.parametrize(
    "words",
    [
        "average",
        "select --example interior --token 3",
        "weights --weights 0.1,0.2,0.3,0.4",
        "output --example midpoint --target v2 --answer 4*k0-4*k3",
        "identity --example interior",
        "repair-key --unit --subset 2",
        "heads --draws 300",
        "kqv",
        "sharpness",
        "argmax",
        "average --example orthonormal",
        "select --keys line.csv",
        "select --keys number.csv --token 1",
        "average --keys flat.csv --subset 0,3",
    ],
)
def test_every_kind_of_figure_is_drawn(attnlab: Attnlab, words: str) -> None:
    Path("line.csv").write_text("1,2\n2,4\n3,6\n", encoding="utf-8")
    Path("number.csv").write_text("1\n2\n3\n", encoding="utf-8")
    Path("flat.csv").write_text("0,0,1\n1,0,1\n0,1,1\n1,1,1\n", encoding="utf-8")
    out = solve(attnlab, *words.split(), "--figure", "f.png", code=int("k3" in words))
    assert out.endswith("f.png")
    assert Path("f.png").read_bytes().startswith(PNG)


def test_a_figure_as_vectors_keeps_its_words(attnlab: Attnlab) -> None:
    solve(attnlab, "average", "--figure", "f.svg")
    text = Path("f.svg").read_text(encoding="utf-8")
    for word in ("10*(k0+k1)", "S·(k0+k1)", "allowed 0.05", "length of the query"):
        assert word in text


def test_what_cannot_be_drawn_is_told(attnlab: Attnlab) -> None:
    words = ("output", "--example", "orthonormal", "--target", "2,0,0,0,0", "--figure", "f.png")
    done = attnlab("attention", "solve", *words)
    assert done.code == 2
    assert "there is nothing to draw" in done.err
    assert not Path("f.png").exists()
