"""What several questions show: the query that comes near enough, and the keys and values."""

from attnlab.geometry.explanation import Explanation, Part, Table
from attnlab.geometry.instance import Instance
from attnlab.geometry.weights import Reached, WeightSolution
from attnlab.geometry.words import exponential, number, vector

OURS = "our query"
"""Its name in figures."""


def way_parts(solution: WeightSolution, reached: Reached) -> list[Part]:
    """Say along which path the weights are reached, and what they are at its end."""
    path, facts = solution.path, {}
    if solution.verdict == "limit" and path is not None:
        factor = exponential(path.margin)
        facts = {
            "q₀": vector(path.start, 6),
            "u": f"{vector(path.direction, 6)}, which scores the wanted keys {number(path.margin)}"
            " or more above the others",
            "t": f"{number(reached.scale, 6)} for an error of at most {number(reached.wanted)};"
            f" each further 1 divides what is left by {factor}",
            "bound": f"the others together get at most {number(reached.bound, 2)}",
        }
    facts["query"] = vector(reached.query, 9)
    facts["output"] = f"{vector(reached.output)}, error {number(reached.output_error, 2)}"
    rows = zip(range(len(solution.target)), solution.target, reached.weights, strict=True)
    return [facts, Table(("token", "wanted", "weight"), list(rows))]


def given(instance: Instance) -> Explanation:
    """Show what a question is about: the keys and values, and where they come from."""
    origin = f" of {instance.name}" if instance.name else ""
    return Explanation(f"Keys and values{origin}", parts=[tokens_table(instance)])


def tokens_table(instance: Instance) -> Table:
    """Show keys and values, one row per token."""
    rows = enumerate(zip(instance.keys, instance.values, strict=True))
    return Table(("token", "key", "value"), [(i, key, value) for i, (key, value) in rows])
