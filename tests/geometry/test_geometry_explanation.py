"""Questions with all that is worth knowing, and the small things that words are made of."""

import math

import numpy as np
import pytest

from attnlab.errors import UserError
from attnlab.geometry.certificates import Certificate, objections
from attnlab.geometry.examples import cse517, interior, midpoint
from attnlab.geometry.explain.answer import Request, usual_answer
from attnlab.geometry.explain.kqv import explain_kqv
from attnlab.geometry.explain.output import explain_output
from attnlab.geometry.explain.repair import explain_repair
from attnlab.geometry.explain.sharpness import explain_sharpness
from attnlab.geometry.explain.subspaces import explain_subspaces
from attnlab.geometry.explain.weights import explain_identity, explain_weights
from attnlab.geometry.expressions import evaluate, names_of, split_scale, vector_of
from attnlab.geometry.instance import Instance, make_instance, output_of, weights_of
from attnlab.geometry.kqv import without_matrices
from attnlab.geometry.outputs import solve_output
from attnlab.geometry.targets import average, select
from attnlab.geometry.weights import errors_by_length

CSE = cse517()
NAMES = names_of(CSE)


@pytest.mark.parametrize("error", [1e-2, 1e-6, 1e-9])
def test_the_query_keeps_the_asked_error_in_weights_and_output(error: float) -> None:
    wide = Instance(CSE.keys, 100 * CSE.values)
    for target in (select(4, 2), average(4, [0, 3])):
        found = explain_weights(wide, target, request=Request(error=error)).data["reached"]
        assert np.abs(found.weights - target).max() <= found.bound <= error
        assert found.output_error <= error
        assert found.output == pytest.approx(output_of(wide, found.query))


def test_the_usual_answers() -> None:
    assert usual_answer(select(4, 2)) == "S*k2"
    assert usual_answer(average(4, [0, 3])) == "10*(k0+k3)"
    assert usual_answer(average(4, range(4))) == "mean(K)"
    assert usual_answer(np.array([0.1, 0.2, 0.7, 0])) is None


def test_only_a_users_own_answer_is_called_wrong() -> None:
    target = select(4, 3)
    usual = explain_weights(interior(), target, request=Request())
    own = explain_weights(interior(), target, request=Request(answer="S*k3"))
    assert usual.answer is not None
    assert own.answer is not None
    assert usual.answer.verdict == own.answer.verdict == "wrong"
    assert (usual.is_wrong, own.is_wrong) == (False, True)


def test_the_scale_of_an_answer_is_the_number_before_it() -> None:
    assert split_scale("10*(k0+k1)", NAMES) == (10, "(k0+k1)")
    assert split_scale("5·(k0 − k1)", NAMES) == (5, "(k0 - k1)")
    assert split_scale("S*k0", NAMES) == (1e6, "k0")
    for text in ("10*k0+k1", "k0", "(k0+k1)/2", "k0*10", "0", "(2*k0)+k1"):
        assert split_scale(text, NAMES) == (1, text)


def test_the_multiples_of_an_answer_pass_through_it() -> None:
    request = Request(answer="10*(k0+k1)")
    answer = explain_weights(CSE, average(4, [0, 1]), request=request).answer
    assert answer is not None
    ray = answer.data.ray
    at = np.abs(ray.curve.scales - ray.scale).argmin()
    assert ray.curve.errors[at] == pytest.approx(answer.data.here.error)
    zero = explain_weights(CSE, average(4, range(4)), request=Request(answer="0")).answer
    assert zero is not None
    assert zero.data.ray is None


def test_the_error_along_a_path_falls_with_the_length_of_the_query() -> None:
    solution = explain_weights(CSE, average(4, [0, 1]), request=Request()).data["solution"]
    lengths, errors = errors_by_length(CSE, solution, most=20.0)
    assert (np.diff(lengths) > 0).all()
    assert (np.diff(errors) <= 1e-12).all()


def test_the_identity_is_told_token_by_token() -> None:
    found = explain_identity(interior(), request=Request(answer="S*K", solution=True))
    assert found.verdict == "never"
    verdicts = [s.verdict for s in found.data["solutions"]]
    assert verdicts == ["limit", "limit", "limit", "never"]
    assert [r is None for r in found.data["reached"]] == [False, False, False, True]
    assert found.is_wrong


def test_an_output_is_asked_for_by_name_and_an_answer_worked_out() -> None:
    found = explain_output(
        midpoint(), "(v0+v1)/2", request=Request(answer="5*(k1-k3)", solution=True)
    )
    assert found.verdict == "limit"
    assert found.answer is not None
    given = found.answer.data
    assert given["output"] == pytest.approx(output_of(midpoint(), given["query"]))
    assert given["error"] == pytest.approx(np.abs(given["output"] - 0.5).max())


def test_a_repair_is_told_with_the_weights_before_and_after() -> None:
    target = average(4, [0, 1, 2])
    explained = explain_repair(CSE, 2, query_text="10*(k0+k1)", target=target, request=Request())
    found = explained.data
    assert found["before"] == pytest.approx(weights_of(CSE.keys, found["query"]))
    assert found["after"][2] == pytest.approx(found["repair"].weight)
    assert found["before_error"] > 0.05
    assert found["repair"].error == pytest.approx(0.0008, abs=5e-5)


def test_bare_numbers_are_a_vector() -> None:
    assert evaluate("-2, 1, 1", NAMES) == pytest.approx(np.array([-2.0, 1, 1]))
    assert vector_of("1,2,3", NAMES, width=3, what="query").tolist() == [1, 2, 3]
    with pytest.raises(UserError, match="the query is a vector of 2, but must be a vector of 3"):
        vector_of("1,2", NAMES, width=3, what="query")
    with pytest.raises(UserError, match=r"^a target has 1 to 300 characters"):
        vector_of("", NAMES, width=3, what="target")


def test_a_certificates_sum_of_logs_vanishes_for_every_querys_weights() -> None:
    keys = np.array([[0.0], [1.0], [2.0]])
    certificate = Certificate(np.array([0.5, -1, 0.5]), "by hand")
    for q in (-3.0, 0.0, 0.7):
        assert certificate.log_sum(weights_of(keys, np.array([q]))) == pytest.approx(0, abs=1e-12)
    wanted = np.array([0.5, 0.25, 0.25])
    assert certificate.log_sum(wanted) == pytest.approx(math.log(2) / 2)
    assert objections(certificate, keys, wanted) == []
    assert certificate.log_sum(np.array([0.0, 1, 0])) == -math.inf


class TestOutputsOfValuesInGeneralPosition:
    """Then the output determines the weights, and what holds of them holds of it."""

    KEYS = ((0.0, 1.0), (1.0, 1.0), (2.0, 1.0))

    def test_weights_out_of_reach_put_their_output_out_of_reach(self) -> None:
        found = solve_output(make_instance(self.KEYS), np.array([0.5, 0.25, 0.25]))
        assert found.verdict == "never"
        assert "only one choice of weights on tokens 0, 1, 2" in found.reason
        assert found.weights is not None
        assert found.weights.certificate is not None
        checked = objections(found.weights.certificate, np.array(self.KEYS), found.weights.target)
        assert checked == []

    def test_weights_of_a_query_have_their_output(self) -> None:
        instance = make_instance(self.KEYS, [[1, 0, 2], [0, 3, 1], [5, 0, 0]])
        wanted = output_of(instance, np.array([0.7, -0.2]))
        found = solve_output(instance, wanted)
        assert found.verdict == "exact"
        assert found.weights is not None
        assert found.weights.path is not None
        assert output_of(instance, found.weights.path.start) == pytest.approx(wanted)

    def test_values_that_depend_on_each_other_are_left_to_the_search(self) -> None:
        keys = [[0.0], [1.0], [2.0], [3.0]]
        found = solve_output(make_instance(keys, np.eye(4)[:, :2]), np.array([0.3, 0.2]))
        assert "only one choice" not in found.reason


def test_sharpness_multiplies_by_the_root_of_the_width() -> None:
    found = explain_sharpness(0.99, n_tokens=10, wanted=2, width=16).data
    assert found["query_scale"] == pytest.approx(4 * found["beta"])
    assert found["even_weight"] == 0.1 < found["plain_weight"]


def test_the_token_finds_itself_whatever_is_added() -> None:
    assert [one.added for one in without_matrices(4.0)] == ["nothing", "u_c", "u_d"]
    for one in without_matrices(4.0):
        assert one.to_itself < 1e-4
        assert one.to_u_b == pytest.approx(4, abs=1e-4)


def test_matrices_are_checked_at_one_length_and_followed_over_many() -> None:
    found = explain_kqv(3.0, tolerance=1e-3).answer
    assert found is not None
    assert found.verdict == "right"
    assert found.data["rate"].rate == pytest.approx(1, abs=0.01)
    short = explain_kqv(1.0, tolerance=1e-3)
    assert short.answer is not None
    assert short.answer.verdict == "wrong"
    assert not short.is_wrong  # the construction is ours, not the user's
    with pytest.raises(UserError, match="beta = nan is not possible"):
        explain_kqv(math.nan)


def test_bases_that_are_not_orthonormal_together_have_no_projection() -> None:
    found = explain_subspaces(np.array([[1.0, 0]]), np.array([[1.0, 1]]))
    assert not found.data["is_projection"]
    assert found.data["of_sum"].matrix == pytest.approx(np.array([[1, -1], [0, 0]]))
