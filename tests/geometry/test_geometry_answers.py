"""Answers as text: the grammar, its refusals, and what an answer is worth elsewhere."""

import inspect
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.errors import UserError
from attnlab.geometry import answers
from attnlab.geometry.answers import Exercise, attempt, check_answer, random_instances
from attnlab.geometry.examples import cse517
from attnlab.geometry.expressions import as_rows, evaluate, names_of
from attnlab.geometry.instance import Instance
from attnlab.geometry.targets import average, select

CSE = cse517()
NAMES = names_of(CSE)
K, V = CSE.keys, CSE.values
FIRST, FIRST_TWO = Exercise(select(4, 0)[None]), Exercise(average(4, [0, 1])[None])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10*(k0+k1)", 10 * (K[0] + K[1])),
        ("S*k0", 1e6 * K[0]),
        ("mean(k0,k1)", (K[0] + K[1]) / 2),
        ("mean(K)", K.mean(axis=0)),
        ("sum(K)", K.sum(axis=0)),
        ("sum(k0, v1)", K[0] + V[1]),
        ("k2/norm(k2)", K[2] / np.linalg.norm(K[2])),
        ("-k2 - +k3", -K[2] - K[3]),
        ("dot(k0, k1)*k2", (K[0] @ K[1]) * K[2]),
        ("[0.1, -2, 3e1]", np.array([0.1, -2, 30])),
        ("[k0, 2*k1]", np.stack([K[0], 2 * K[1]])),
        ("k0*2/4", K[0] / 2),
        ("1 - 2 - 3", -4.0),
        ("mean(1, 2, 6)", 3.0),
        ("mean([1, 2, 6])", 3.0),
        ("5·(k0 − k1)", 5 * (K[0] - K[1])),
        ("  S * K\n", 1e6 * K),
        ("0", 0.0),
    ],
)
def test_an_expression_means_what_it_says(text: str, value: float | np.ndarray) -> None:
    assert np.asarray(evaluate(text, NAMES)) == pytest.approx(np.asarray(value))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "an answer has 1 to 300 characters, this one 0"),
        ("x" * 301, "an answer has 1 to 300 characters, this one 301"),
        ("10*(k0+k9)", r"column 8: 'k9' is not known"),
        ("k0*k1", r"column 1: a vector of 3 and a vector of 3 are not multiplied: write dot"),
        ("2*(k0+1)", r"column 4: a vector of 3 and a number, 1 do not go together with '\+'"),
        ("k0-K", "do not go together with '-'"),
        ("k0/0", "a number, 0 cannot divide"),
        ("k0/k1", "a vector of 3 cannot divide"),
        ("mean()", "mean cannot take nothing"),
        ("mean(3)", "mean cannot take a number, 3"),
        ("mean(k0, K)", "mean cannot take a vector of 3, a matrix of 4 × 3"),
        ("norm(K)", "norm cannot take a matrix"),
        ("norm(k0, k1)", "norm cannot take"),
        ("dot(k0)", "dot cannot take a vector of 3"),
        ("max(k0)", r"'max\(k0\)' is not in the grammar"),
        ("mean(*K)", r"column 6: '\*K' is not in the grammar"),
        ("norm(x=k0)", "is not in the grammar"),
        ("__import__('os').system('true')", "is not in the grammar"),
        ("k0.T", "'k0.T' is not in the grammar"),
        ("k0[0]", "is not in the grammar"),
        ("k0**2", "is not in the grammar"),
        ("k0 @ k1", "is not in the grammar"),
        ("[x for x in K]", "is not in the grammar"),
        ("lambda: 0", "is not in the grammar"),
        ("(k := 3)", "is not in the grammar"),
        ("True*k0", "'True' is not in the grammar"),
        ("1j*k0", "'1j' is not in the grammar"),
        ("'k0'", "is not in the grammar"),
        ("[]", "is not in the grammar"),
        ("[k0, 1]", "a list holds numbers, or vectors of one length"),
        ("[K]", "a list holds numbers, or vectors of one length"),
        ("10 k0", "column 4: no expression"),
        ("k0 +", "no expression"),
        ("import os", "no expression"),
        ("k0; k1", "no expression"),
        ("é*k0", "column 1: the character 'é' means nothing here"),
        ("k0\0", "means nothing here"),
        ("(" * 250 + "k0", "no expression"),
        ("9" * 299, r"a number beyond 1e\+100"),
        ("1e999*k0", r"a number beyond 1e\+100"),
        ("*".join(["S"] * 20 + ["k0"]), "too large or not a number at all"),
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        evaluate(text, NAMES)


def test_a_refusal_says_what_is_allowed() -> None:
    allowed = (
        r"Allowed: numbers, .* mean, sum, norm, dot and the names K, V, S, k0, v0 \(… up to k3"
    )
    with pytest.raises(UserError, match=allowed):
        evaluate("kO", NAMES)


def test_a_nested_answer_is_worked_out() -> None:
    assert evaluate("-" * 99 + "k0", NAMES) == pytest.approx(-K[0])
    assert evaluate("(" * 90 + "k0" + ")" * 90, NAMES) == pytest.approx(K[0])


def test_an_answer_nested_beyond_the_interpreters_stack_is_refused() -> None:
    def deeper(frames: int) -> None:
        if frames:
            deeper(frames - 1)
        else:
            evaluate("-" * 290 + "k0", NAMES)

    room = sys.getrecursionlimit() - len(inspect.stack()) - 250
    with pytest.raises(UserError, match="too deeply nested"):
        deeper(room)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="k0123 vKVS+-*/()[].,meansum·@_:=", max_size=40))
def test_any_text_is_a_value_or_a_users_mistake(text: str) -> None:
    try:
        value = evaluate(text, NAMES)
    except UserError:
        return
    assert np.isfinite(value).all()


@pytest.mark.parametrize(
    ("value", "rows", "problem"),
    [
        (3.0, 1, "the answer is a number, 3, but must be a vector of 3 numbers"),
        (np.ones(2), 1, "a vector of 2, but must be a vector of 3"),
        (np.ones(3), 4, "a vector of 3, but must be a matrix of 4 rows of 3"),
        (np.ones((4, 3)), 1, "a matrix of 4 × 3, but must be a vector of 3"),
    ],
)
def test_a_value_of_the_wrong_shape_is_refused(
    value: float | np.ndarray, rows: int, problem: str
) -> None:
    with pytest.raises(UserError, match=problem):
        as_rows(value, rows=rows, width=3)


def test_zero_stands_for_a_vector_of_zeros() -> None:
    assert as_rows(0.0, rows=2, width=3).tolist() == [[0, 0, 0]] * 2


def test_the_zero_query_averages_everything_everywhere() -> None:
    report = check_answer("0", CSE, task=Exercise(average(4, range(4))[None]))
    assert report.here.passes
    assert report.is_general
    assert report.here.error < 1e-15
    assert [t.counterexample for t in report.elsewhere] == [None, None]


def test_an_answer_that_is_not_general_has_a_counterexample_that_can_be_tried() -> None:
    report = check_answer("10*(k0+k1)", CSE, task=FIRST_TWO, draws=50)
    assert report.here.passes
    assert report.here.error == pytest.approx(0.0058, abs=5e-5)
    assert report.is_general is False
    for trials in report.elsewhere:
        assert trials.counterexample is not None
        again = attempt("10*(k0+k1)", trials.counterexample, task=FIRST_TWO)
        assert again.error == trials.counterexample_error
        assert again.error > 0.05
        assert trials.worst_error >= again.error


def test_a_matrix_answers_the_identity() -> None:
    report = check_answer("S*K", CSE, task=Exercise(np.eye(4)), draws=30)
    assert report.here.passes
    assert report.here.value.shape == (4, 3)
    assert report.here.weights == pytest.approx(np.eye(4), abs=1e-6)


def test_numbers_that_fit_one_instance_do_not_fit_others() -> None:
    report = check_answer("[1, 2, 3]", CSE, task=FIRST, draws=30)
    assert report.here.passes
    assert report.is_general is False


def test_a_key_of_the_wrong_length_does_not_pass() -> None:
    task = Exercise(select(4, 2)[None], token=2, query="10*(k0+k1)", unit=True)
    report = check_answer("q", CSE, task=task, draws=10)
    assert report.here.error < 1e-6
    assert report.here.breaks_length
    assert not report.here.passes


def test_nothing_is_said_of_instances_on_which_nothing_is_right() -> None:
    task = Exercise(select(4, 2)[None], token=2, query="0")
    report = check_answer("S*k2", CSE, task=task, draws=10)
    assert report.is_general is None
    assert [trials.tried for trials in report.elsewhere] == [0, 0]


def test_instances_on_which_the_target_is_out_of_reach_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bug put in: every instance counts, also those with the wanted key inside the hull."""
    flat = Instance(np.arange(5.0)[:, None], np.eye(5))
    task = Exercise(select(5, 0)[None])
    honest = check_answer("[-S]", flat, task=task, draws=60)
    monkeypatch.setattr(answers, "_can_be_right", lambda *_: True)
    unfair = check_answer("[-S]", flat, task=task, draws=60)
    assert sum(t.tried for t in honest.elsewhere) < sum(t.tried for t in unfair.elsewhere) == 120


def test_random_instances_are_the_same_for_the_same_seed_and_as_the_family_says() -> None:
    first = list(random_instances("unit", CSE, draws=3, seed=1))
    again = list(random_instances("unit", CSE, draws=3, seed=1))
    assert all(np.array_equal(a.keys, b.keys) for a, b in zip(first, again, strict=True))
    assert np.linalg.norm(first[0].keys, axis=1) == pytest.approx(np.ones(4))
    (other,) = random_instances("any", CSE, draws=1, seed=1)
    assert np.ptp(np.linalg.norm(other.keys, axis=1)) > 0.1


def test_a_task_about_other_tokens_is_refused() -> None:
    with pytest.raises(UserError, match="the task is about 3 tokens, the instance has 4"):
        check_answer("k0", CSE, task=Exercise(select(3, 0)[None]))
