"""Which smallest change of one key makes an unchanged query average some tokens?"""

from attnlab.geometry.answers import Exercise
from attnlab.geometry.explain.answer import Request, explain_answer
from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, output_error, weights_of
from attnlab.geometry.panels import Bars, Space
from attnlab.geometry.repair import Repair, repair_key, with_key
from attnlab.geometry.words import number, target_words, vector


def explain_repair(instance: Instance, task: Exercise, *, request: Request) -> Explanation:
    """Find the nearest key that does, and judge the user's."""
    assert task.token is not None
    assert task.query is not None
    token, (target,), tolerance = task.token, task.target, request.tolerance
    query = vector_of(task.query, names_of(instance), width=instance.keys.shape[1], what="query")
    repair = repair_key(
        instance, query, token=token, target=target, tolerance=tolerance, unit=task.unit
    )
    before = weights_of(instance.keys, query)
    before_error = output_error(instance, query, target=target)
    after = weights_of(with_key(instance, token, repair.key).keys, query)
    kind = "key of unit length" if task.unit else "key"
    facts = {
        "query": f"{task.query} = {vector(query)}, unchanged",
        "old key": f"{vector(instance.keys[token])}, error {number(before_error)}",
        "new key": f"{vector(repair.key, 9)}, error {number(repair.error)}",
        "moved by": number(repair.moved),
    }
    rows = zip(range(len(target)), target, before, after, strict=True)
    series = {"wanted": target, "old key": before, "new key": after}
    moved = {f"new k{token}": repair.key}
    answer = explain_answer(instance, task, request=request)
    if answer is not None:
        here = answer.data.here
        series[answer.data.text], moved[answer.data.text] = here.weights[0], here.value[0]
    return Explanation(
        f"A new {kind} for token {token}, to have {target_words(target)}",
        "possible" if repair.attained else "impossible",
        parts=[
            _limit_words(task, repair, tolerance=tolerance),
            facts,
            Table(("token", "wanted", "before", "after"), list(rows)),
        ],
        data={
            "instance": instance,
            "task": task,
            "tolerance": tolerance,
            "query": query,
            "before": before,
            "before_error": before_error,
            "after": after,
            "repair": repair,
        },
        panels=[
            Bars(series),
            Space(
                instance.keys,
                directions={f"q = {task.query}": query},
                marks=moved,
                chosen=[token],
            ),
        ],
        answer=answer,
    )


def _limit_words(task: Exercise, repair: Repair, *, tolerance: float) -> str:
    """Say what limits the change."""
    least = f"{number(repair.best_error)} with a weight of {number(repair.best_weight)} on it"
    only, allowed = f"Only the weight on token {task.token} can change", number(tolerance)
    if repair.attained:
        return (
            f"{only}. The nearest key within {allowed} is shown; the smallest error that any key"
            f" has is {least}."
        )
    longer = " A longer query could do more." if task.unit else ""
    return (
        f"{only}, and the smallest error that any allowed key has is {least}, above {allowed}."
        f"{longer}"
    )
