"""attnlab attention solve …, as a user gives it."""

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Attnlab, as_json, flowing, solve

from attnlab.geometry.examples import cse517
from attnlab.geometry.explain import answer
from attnlab.geometry.instance import weights_of

CSE = cse517()


@pytest.fixture(autouse=True)
def _few_random_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep it quick: every function checks its arguments here."""
    monkeypatch.setattr(answer, "DRAWS", 12)


class TestAverage:
    WORDS = ("average", "--example", "cse517", "--subset", "0,1")

    def test_its_error_is_below_a_millionth_and_the_reason_for_58_ten_thousandths_is_told(
        self, attnlab: Attnlab
    ) -> None:
        out = solve(attnlab, *self.WORDS)
        assert "Equal weight on tokens 0 and 1, none elsewhere: in the limit" in out
        error = re.search(r"output \[0.15, -0.905, 0.2\], error (\S+)", out)
        assert error
        assert float(error[1]) < 1e-6
        assert "The usual answer 10*(k0+k1)" in out
        assert "largest error 0.0058" in out
        assert "It scores key 1 higher than key 0 by 0.043" in out
        assert "error 1.4e-08" in out
        assert "least at S = 3.92 (0.0021), within 0.05 from S = 1.4 to 87.1" in out
        assert "as S grows the weight goes to token 1 (error 0.27)" in out

    def test_the_printed_query_does_what_is_said(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, *self.WORDS)
        query = re.search(r"query \[([^\]]*)\]", out)
        assert query
        weights = weights_of(CSE.keys, np.array([float(x) for x in query[1].split(",")]))
        assert weights == pytest.approx([0.5, 0.5, 0, 0], abs=1e-6)

    def test_a_smaller_error_takes_a_longer_query(self, attnlab: Attnlab) -> None:
        near, far = (
            as_json(attnlab, *self.WORDS, "--error", e)["data"]["reached"] for e in ("1e-3", "1e-9")
        )
        assert near["scale"] < far["scale"]
        assert far["output_error"] <= 1e-9
        assert near["bound"] <= 1e-3

    def test_an_answer_that_passes_here_but_not_elsewhere(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, *self.WORDS, "--answer", "10*(k0+k1)")
        assert "Your answer 10*(k0+k1)" in out
        assert "Not general" in out
        assert "Counter-example" in out

    def test_the_mean_of_all_keys_passes_by_luck(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, "average", "--subset", "0,1,2,3", "--answer", "mean(K)")
        assert "The error of S·mean(K) is least as S → 0 (0), within 0.05 for every S > 0 up" in out
        assert "[0.2282, 0.2858, 0.2396, 0.2464]" in out
        assert "largest error 0.02," in out
        words = ("average", "--subset", "0,1,2,3", "--answer", "0", "--solution")
        found = as_json(attnlab, *words)
        assert found["data"]["reached"]["query"] == [0, 0, 0]
        assert found["answer"]["data"]["is_general"] is True

    def test_tokens_across_a_square_are_never_averaged(self, attnlab: Attnlab) -> None:
        Path("k.csv").write_text("0,0\n1,0\n0,1\n1,1\n", encoding="utf-8")
        out = solve(attnlab, "average", "--keys", "k.csv", "--subset", "0,3")
        assert "none elsewhere: never" in out
        assert "0.5·k1 + 0.5·k2 = 0.5·k0 + 0.5·k3" in out
        assert "0.5·log a1 + 0.5·log a2 = 0.5·log a0 + 0.5·log a3" in out
        assert "log 0 = -∞" in out


class TestSelect:
    def test_a_key_inside_the_hull_is_never_selected_and_neither_is_its_value(
        self, attnlab: Attnlab
    ) -> None:
        out = solve(attnlab, "select", "--example", "interior", "--token", "3")
        assert "All weight on token 3: never" in out
        assert "k3 = 0.5·k0 + 0.25·k1 + 0.25·k2: key 3 is a mean of other keys" in out
        assert "its weight never exceeds 0.2612" in out
        assert "Their output alone, [0, -1]: never" in out
        assert out.count("never exceeds") == 1  # the same proof is not told twice

    def test_a_key_inside_whose_value_is_a_mean_too_has_its_output(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, "select", "--example", "midpoint", "--token", "2")
        assert "All weight on token 2: never" in out
        assert "Their output alone, [0.5, 0.5]: in the limit" in out
        assert "The weights: [0.3333, 0.3333, 0.3333, 0]" in out
        found = as_json(attnlab, "select", "--example", "midpoint", "--token", "2")
        assert found["parts"][-1]["data"]["reached"]["output_error"] < 1e-6

    def test_a_multiple_of_a_short_key_selects_a_long_one(self, attnlab: Attnlab) -> None:
        words = ("select", "--example", "unequal", "--answer", "S*k0", "--solution")
        out = solve(attnlab, *words, code=1)
        assert "All weight on token 0: in the limit" in out
        assert "wrong: largest error 1, allowed 0.05" in out
        assert "Key 1, which should get nothing, scores higher than a wanted one" in out

    def test_a_multiple_of_a_unit_key_is_within_the_tolerance_from_some_scale_on(
        self, attnlab: Attnlab
    ) -> None:
        out = solve(attnlab, "select", "--answer", "S*k0")
        assert "S·k0 is within 0.05 from S = 3.46 on" in out

    def test_an_answer_must_keep_the_asked_tolerance(self, attnlab: Attnlab) -> None:
        solve(attnlab, "select", "--answer", "4*k0")
        solve(attnlab, "select", "--answer", "4*k0", "--tolerance", "0.001", code=1)

    def test_equal_keys_share(self, attnlab: Attnlab) -> None:
        Path("k.json").write_text("[[1, 0], [1, 0], [0, 1]]", encoding="utf-8")
        out = solve(attnlab, "select", "--keys", "k.json", "--token", "0")
        assert "k0 = k1" in out
        assert "never exceeds 0.5" in out


class TestWeights:
    def test_any_weights_of_keys_in_general_position(self, attnlab: Attnlab) -> None:
        found = as_json(attnlab, "weights", "--weights", "0.1,0.2,0.3,0.4")
        assert found["verdict"] == "exact"
        assert found["data"]["reached"]["weights"] == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-12)
        assert found["answer"] is None  # there is no usual one

    def test_an_answer_with_wrong_ratios(self, attnlab: Attnlab) -> None:
        words = ("weights", "--weights", "0.1,0.2,0.3,0.4", "--answer", "k0")
        assert "Its scores of the wanted keys are off by up to" in solve(attnlab, *words, code=1)

    def test_weights_on_a_line_must_keep_its_equation(self, attnlab: Attnlab) -> None:
        np.save("k.npy", np.array([[1.0, 2], [2, 4], [3, 6]]))
        out = solve(attnlab, "weights", "--keys", "k.npy", "--weights", "0.5,0.25,0.25")
        assert "0.5·log a0 + 0.5·log a2 = log a1" in out
        assert "the two sides differ by 0.3466" in out
        assert "Their output alone, [0.5, 0.25, 0.25]: never" in out


class TestOutput:
    def test_an_output_as_an_expression_or_as_numbers(self, attnlab: Attnlab) -> None:
        by_name = as_json(attnlab, "output", "--example", "midpoint", "--target", "v2")
        by_number = as_json(attnlab, "output", "--example", "midpoint", "--target", "0.5,0.5")
        assert by_name == by_number
        assert by_name["verdict"] == "limit"

    def test_an_output_outside_the_hull(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, "output", "--target", "9,9,9")
        assert "The output [9, 9, 9]: never" in out
        assert "outside the hull of the values" in out
        assert "every value scores higher" in out

    def test_an_answer_is_worked_out(self, attnlab: Attnlab) -> None:
        solve(attnlab, "output", "--target", "mean(V)", "--answer", "0")
        out = solve(attnlab, "output", "--target", "mean(V)", "--answer", "S*k0", code=1)
        assert "wrong: largest error" in out


class TestIdentity:
    def test_every_token_selects_itself(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, "identity", "--answer", "S*K", "--solution")
        assert "Every token selects itself: in the limit" in out
        assert "each token gives itself [1, 1, 1, 1]" in out

    def test_a_token_that_cannot_is_named_with_its_proof(self, attnlab: Attnlab) -> None:
        words = ("identity", "--example", "interior", "--answer", "S*K", "--solution")
        out = solve(attnlab, *words, code=1)
        assert "Every token selects itself: never" in out
        assert "Token 3: k3 = 0.5·k0" in out


class TestRepairKey:
    def test_a_key_of_unit_length_depends_on_the_querys_scale(self, attnlab: Attnlab) -> None:
        words = ("repair-key", "--unit", "--subset", "2", "--answer", "q/norm(q)")
        assert "largest error 0.031" in solve(attnlab, *words)
        out = solve(attnlab, *words, "--query", "5*(k0+k1)", "--solution", code=1)
        assert "impossible" in out
        assert "the smallest error that any allowed key has is 0.1184" in out

    def test_the_query_itself_is_no_third_key_to_average(self, attnlab: Attnlab) -> None:
        out = solve(attnlab, "repair-key", "--answer", "q", code=1)
        assert "largest error 0.27" in out
        solve(attnlab, "repair-key", "--answer", "(k0+k1)/2")

    def test_a_key_of_another_length_is_refused(self, attnlab: Attnlab) -> None:
        words = ("repair-key", "--unit", "--subset", "2", "--answer", "q")
        assert "the key must have length 1, it has 15.98" in solve(attnlab, *words, code=1)

    def test_the_new_key_does_what_is_said(self, attnlab: Attnlab) -> None:
        found = as_json(attnlab, "repair-key")
        keys = CSE.keys.copy()
        keys[2] = found["data"]["repair"]["key"]
        made = weights_of(keys, 10 * (CSE.keys[0] + CSE.keys[1])) @ CSE.values
        assert np.abs(made - CSE.values[:3].mean(axis=0)).max() == pytest.approx(8e-4, abs=5e-5)

    def test_its_own_printed_key_is_right(self, attnlab: Attnlab) -> None:
        for more in ([], ["--unit", "--subset", "2"]):
            printed = re.search(r"new key (\[[^\]]*\])", solve(attnlab, "repair-key", *more))
            assert printed
            out = solve(attnlab, "repair-key", *more, "--answer", printed[1])
            assert out.startswith(f"Your answer {printed[1]}: right")


QUESTIONS = {
    ("select", "--answer", "S*k0"): "q₀",
    ("average", "--answer", "10*(k0+k1)"): "q₀",
    ("weights", "--weights", "0.1,0.2,0.3,0.4", "--answer", "k0"): "query [",
    ("output", "--target", "v2", "--answer", "S*k2"): "q₀",
    ("identity", "--answer", "S*K"): "in the limit",
    ("repair-key", "--answer", "(k0+k1)/2"): "new key [",
}


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_the_verdict_comes_first_and_the_solution_on_request(
    attnlab: Attnlab, words: tuple[str, ...]
) -> None:
    code = int(words[0] == "weights")
    out = solve(attnlab, *words, code=code)
    assert out.startswith(f"Your answer {words[-1]}: {'wrong' if code else 'right'}")
    assert QUESTIONS[words] not in out
    assert QUESTIONS[words] in solve(attnlab, *words, "--solution", code=code)
    assert QUESTIONS[words] in solve(attnlab, *words[:-2])
    hidden = as_json(attnlab, *words, code=code)
    assert hidden["hides_solution"]
    assert not {"solution", "solutions", "reached", "repair"} & hidden["data"].keys()
    assert "our query" not in str(hidden["panels"])


def test_what_mends_an_answer_is_part_of_the_solution(attnlab: Attnlab) -> None:
    words = ("average", "--answer", "10*(k0+k1)")
    assert "11.5044" not in solve(attnlab, *words)
    assert "mended" not in str(as_json(attnlab, *words))
    assert "without that part it is [11.095, 11.5044" in solve(attnlab, *words, "--solution")


@pytest.mark.parametrize("question", ["select", "average", "identity", "repair-key"])
def test_keys_values_and_the_examples_name_are_printed(attnlab: Attnlab, question: str) -> None:
    for words in ((), ("--answer", "0")):
        out = flowing(attnlab("attention", "solve", question, *words).out)
        assert "Keys and values of the example cse517 token key value 0 [0.47, 0.65, 0.6]" in out
        assert "3 [0.43, -0.83, 0.35] [0.94, 0.2, 0.28]" in out


def test_files_are_named_where_their_keys_are_shown(attnlab: Attnlab) -> None:
    Path("k.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    assert "Keys and values of k.csv" in solve(attnlab, "select", "--keys", "k.csv")
    assert "of k.csv and k.csv" in solve(attnlab, "select", "--keys", "k.csv", "--values", "k.csv")
    assert "Keys and values of the example argmax" in solve(attnlab, "argmax")


def test_an_answer_of_numbers_is_no_multiple(attnlab: Attnlab) -> None:
    for numbers in ("1,2,3", "2*[1,2,3]"):
        out = solve(attnlab, "select", "--answer", numbers)
        assert "as S grows" not in out
        assert "S·" not in out
    assert "The error of S·(k0+k1) is" in solve(attnlab, "average", "--answer", "k0+k1", code=1)


def test_orthonormal_keys_stay_orthonormal_elsewhere(attnlab: Attnlab) -> None:
    out = solve(attnlab, "average", "--example", "orthonormal", "--answer", "10*(k0+k1)")
    assert "General as far as tried: right on 12 of 12 with orthonormal keys" in out
    assert "keys of any length" not in out
    assert "Counter-example" not in out


def test_nothing_is_called_general_after_0_of_0(attnlab: Attnlab) -> None:
    out = solve(attnlab, "repair-key", "--answer", "(k0+k1)/2")
    assert "0 of 0" not in out
    assert "No drawn instance with keys of any length has a right answer." in out


MISTAKES = {
    ("select", "--token", "4"): "token 4 is not there: the 4 tokens are counted 0 … 3",
    ("average", "--subset", ""): "the subset is empty",
    ("average", "--subset", "0,9"): "token 9 is not there",
    ("average", "--subset", "0,a"): "--subset '0,a': give whole numbers with commas between",
    ("weights", "--weights", "0.5,x"): "--weights '0.5,x': give numbers with commas between",
    ("weights", "--weights", "1,1,0,0"): "the weights sum to 2, not to 1",
    ("output", "--target", "1,2"): "the target is a vector of 2, but must be a vector of 3",
    ("select", "--answer", ""): "an answer has 1 to 300 characters, this one 0",
    ("identity", "--answer", " "): "an answer has 1 to 300 characters, this one 0",
    ("select", "--answer", "10 k0"): "answer '10 k0', column 4: no expression",
    ("select", "--answer", "k0.T"): "'k0.T' is not in the grammar",
    ("identity", "--answer", "k0"): "must be a matrix of 4 rows of 3 numbers",
    ("repair-key", "--query", "k9"): "query 'k9', column 1: 'k9' is not known",
    ("select", "--example", "cse571"): "no example is called 'cse571'. Did you mean 'cse517'?",
    ("select", "--values", "v.csv"): "--values needs --keys",
    ("select", "--keys", "k.csv", "--example", "cse517"): "give --example or --keys, not both",
    ("select", "--keys", "no.csv"): "there is no file no.csv",
    ("select", "--keys", "k.csv", "--values", "v.csv"): "there are 2 keys and 1 values",
    ("select", "--keys", "nan.csv"): "nan.csv, line 2: 'nan' is not possible",
    ("select", "--error", "0"): "--error 0 is not possible: between 0 and 1",
    ("select", "--tolerance", "-1"): "--tolerance -1 is not possible",
    ("select", "--figure", "a.pdf"): "a figure is written as .png or .svg",
    ("argmax", "--example", "cse517"): "give --query",
    ("argmax", "--query", "1,2"): "the query is a vector of 2, but must be a vector of 3",
    ("kqv", "--key-matrix", "k.csv"): "k.csv is 2 × 2: the matrix must be 4 × 4",
    ("kqv", "--beta", "0"): "beta = 0 is not possible",
    ("subspaces", "--first", "k.csv"): "give both --first and --second",
    ("subspaces", "--first", "k.csv", "--second", "w.csv"): "k.csv has vectors of 2 numbers, w.csv",
    ("subspaces", "--matrix", "k.csv"): "k.csv is 2 × 2: the matrix must be 4 × 4",
    ("sharpness", "--mass", "1"): "a mass of 1 cannot be reached",
    ("sharpness", "--mass", "nan"): "a mass of nan cannot be reached",
    ("sharpness", "--tokens", "100", "--width", "4"): "100 keys of width 4 are not possible",
    ("sharpness", "--width", "0"): "10 keys of width 0 are not possible",
    ("heads", "--draws", "0"): "0 draws are not enough",
    ("heads", "--alpha", "nan"): "alpha = nan and beta = 10 are not possible: alpha from 0 to",
    ("heads", "--alpha", "inf"): "alpha = inf and beta = 10 are not possible",
    ("heads", "--alpha", "-1"): "alpha = -1 and beta = 10 are not possible",
    ("heads", "--beta", "nan"): "beta = nan are not possible",
    ("heads", "--beta", "1e300"): "beta = 1e+300 are not possible",
    ("kqv", "--beta", "nan"): "beta = nan is not possible",
    ("kqv", "--tolerance", "nan"): "--tolerance nan is not possible: above 0 and finite",
    ("subspaces", "--tolerance", "inf"): "--tolerance inf is not possible",
    ("subspaces", "--tolerance", "-1"): "--tolerance -1 is not possible",
    ("select", "--tolerance", "inf"): "--tolerance inf is not possible",
    ("select", "--error", "nan"): "--error nan is not possible",
    ("weights", "--weights", "nan,0,0,1"): "weights[0] = nan is not possible",
}


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_clear_line(attnlab: Attnlab, words: tuple[str, ...]) -> None:
    Path("k.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    Path("v.csv").write_text("1,2\n", encoding="utf-8")
    Path("w.csv").write_text("1,2,3\n", encoding="utf-8")
    Path("nan.csv").write_text("1,2\n1,nan\n", encoding="utf-8")
    done = attnlab("attention", "solve", *words)
    assert (done.code, done.out) == (2, "")
    assert MISTAKES[words] in done.err
    assert done.err.count("\n") == 1


def test_the_examples_are_offered_to_the_shell() -> None:
    from attnlab.cli.explained import complete_example

    assert complete_example("m") == ["midpoint"]
    assert "cse517" in complete_example("")
