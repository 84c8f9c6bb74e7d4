"""Which smallest change of one key makes an unchanged query average some tokens?"""

from attnlab.geometry.answers import Exercise
from attnlab.geometry.explain.answer import Request, explain_answer
from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.expressions import names_of, vector_of
from attnlab.geometry.instance import Instance, output_error, weights_of
from attnlab.geometry.panels import Bars, Space
from attnlab.geometry.repair import Repair, repair_key, with_key
from attnlab.geometry.shapes import Weights
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
    """Find the nearest key that does, and judge the user's."""
    tolerance = request.tolerance
    query = vector_of(query_text, names_of(instance), width=instance.keys.shape[1], what="query")
    repair = repair_key(instance, query, token=token, target=target, tolerance=tolerance, unit=unit)
    before = weights_of(instance.keys, query)
    before_error = output_error(instance, query, target=target)
    after = weights_of(with_key(instance, token, repair.key).keys, query)
    kind = "key of unit length" if unit else "key"
    facts = {
        "query": f"{query_text} = {vector(query)}, unchanged",
        "old key": f"{vector(instance.keys[token])}, error {number(before_error)}",
        "new key": f"{vector(repair.key, 9)}, error {number(repair.error)}",
        "moved by": number(repair.moved),
    }
    rows = zip(range(len(target)), target, before, after, strict=True)
    series = {"wanted": target, "old key": before, "new key": after}
    moved = {f"new k{token}": repair.key}
    task = Exercise(target[None], token=token, query=query_text, unit=unit, tolerance=tolerance)
    answer = explain_answer(instance, task, request=request)
    if answer is not None:
        here = answer.data.here
        series[answer.data.text], moved[answer.data.text] = here.weights[0], here.value[0]
    return Explanation(
        f"A new {kind} for token {token}, to have {target_words(target)}",
        "possible" if repair.attained else "impossible",
        parts=[
            _limit_words(task, repair),
            facts,
            Table(("token", "wanted", "before", "after"), list(rows)),
        ],
        data={
            "instance": instance,
            "request": request,
            "task": task,
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
                directions={f"q = {query_text}": query},
                marks=moved,
                chosen=[token],
            ),
        ],
        answer=answer,
    )


def _limit_words(task: Exercise, repair: Repair) -> str:
    """Say what limits the change."""
    least = f"{number(repair.best_error)} with a weight of {number(repair.best_weight)} on it"
    only, allowed = f"Only the weight on token {task.token} can change", number(task.tolerance)
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
