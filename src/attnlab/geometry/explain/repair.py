"""With which new key does an unchanged query come nearest to averaging some tokens?"""

from dataclasses import replace

from attnlab.geometry.answers import Exercise
from attnlab.geometry.explain.answer import Request, explain_answer
from attnlab.geometry.explain.way import given
from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, output_error, weights_of
from attnlab.geometry.panels import Bars, Space
from attnlab.geometry.repair import Repair, repair_key, with_key
from attnlab.geometry.shapes import Vector, Weights
from attnlab.geometry.targets import token_index
from attnlab.geometry.words import number, target_words, vector


def explain_repair(
    instance: Instance,
    token: int,
    *,
    query_text: str,
    target: Weights,
    unit: bool = False,
    request: Request,
) -> Explanation:
    """Find the key that does best, and judge the user's."""
    token = token_index(instance.n_tokens, token)
    query = vector_of(query_text, names_of(instance), width=instance.keys.shape[1], what="query")
    tolerance, before = request.tolerance, weights_of(instance.keys, query)
    task = Exercise(target[None], token=token, query=query_text, unit=unit, tolerance=tolerance)
    answer = explain_answer(instance, task, request=request)
    before_error = output_error(instance, query, target=target)
    series, moved = {"wanted": target, "old key": before}, {}
    if answer is not None:
        here = answer.data.here
        series[answer.data.text], moved[answer.data.text] = here.weights[0], here.value[0]
    keys = Space(
        instance.keys, directions={f"q = {query_text}": query}, marks=moved, chosen=[token]
    )
    facts = {
        "query": f"{query_text} = {vector(query)}, unchanged",
        "old key": f"{vector(instance.keys[token])}, error {number(before_error)}",
    }
    asked = Explanation(
        f"A new {'key of unit length' if unit else 'key'} for token {token}, to have"
        f" {target_words(target)}",
        parts=[given(instance), facts],
        data={
            "instance": instance, "request": request, "task": task, "query": query,
            "before": before, "before_error": before_error,
        },
        panels=[Bars(series), keys],
        answer=answer,
        hides_solution=request.hides_solution,
    )  # fmt: skip
    return asked if request.hides_solution else _with_key(asked, instance, query=query, task=task)


def _with_key(
    asked: Explanation, instance: Instance, *, query: Vector, task: Exercise
) -> Explanation:
    """Add the key that comes nearest, and the weights before and after."""
    (target,), token = task.target, task.token
    assert token is not None
    tolerance, unit = task.tolerance, task.unit
    repair = repair_key(instance, query, token=token, target=target, tolerance=tolerance, unit=unit)
    after = weights_of(with_key(instance, token, repair.key).keys, query)
    facts = {
        "new key": f"{vector(repair.key, 9)}, error {number(repair.error)}",
        "moved by": number(repair.moved),
    }
    rows = zip(range(len(target)), target, asked.data["before"], after, strict=True)
    bars, keys = asked.panels
    assert isinstance(bars, Bars)
    assert isinstance(keys, Space)
    return replace(
        asked,
        verdict="possible" if repair.attained else "impossible",
        parts=[
            *asked.parts[:-1],
            _limit_words(task, repair),
            {**asked.parts[-1], **facts},  # type: ignore[dict-item]
            Table(("token", "wanted", "before", "after"), list(rows)),
        ],
        data={**asked.data, "after": after, "repair": repair},
        panels=[
            Bars({**bars.series, "new key": after}),
            replace(keys, marks={f"new k{token}": repair.key, **keys.marks}),
        ],
    )


def _limit_words(task: Exercise, repair: Repair) -> str:
    """Say what limits the change."""
    least = f"{number(repair.best_error)} with a weight of {number(repair.best_weight)} on it"
    only, allowed = f"Only the weight on token {task.token} can change", number(task.tolerance)
    if repair.attained:
        return (
            f"{only}. No key has a smaller error than {least}; of those with it, this is nearest."
        )
    longer = " A longer query could do more." if task.unit else ""
    return (
        f"{only}, and the smallest error that any allowed key has is {least}, above {allowed}."
        f"{longer}"
    )
