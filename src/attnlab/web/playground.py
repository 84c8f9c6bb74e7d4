"""The playground: attention by hand, answered by the code behind ``attnlab attention solve``."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

router = APIRouter(prefix="/api/playground", tags=["playground"])

MOST_TOKENS, MOST_DIMENSIONS = 10, 10
"""An answer goes through the sets of tokens, 2^tokens of them: a request must end in seconds."""
LARGEST = 1e6
"""Of a coordinate that can still be dragged."""

Coordinate = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Row = Annotated[list[Coordinate], Field(min_length=1, max_length=MOST_DIMENSIONS)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=MOST_TOKENS)]


class Question(BaseModel):
    """Can a query give these tokens all the weight, the same to each?"""

    keys: Rows
    """One row per token."""
    values: Rows | None = None
    """One row per token; without them the output is the weights."""
    subset: Annotated[list[int], Field(max_length=MOST_TOKENS)]
    """The tokens, counted from 0; one alone is to be selected, several are to be averaged."""


class Heads(BaseModel):
    """How noisy keys are drawn; the defaults are those of ``attnlab attention solve heads``."""

    n_tokens: Annotated[int, Field(ge=2, le=100)] = 20
    beta: float = 10.0
    alpha: float = 1e-6
    length_variance: float = 0.5
    draws: Annotated[int, Field(ge=1, le=20_000)] = 20_000
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


@router.get("/examples")
def list_examples() -> dict[str, Any]:
    """List the examples by name, and how the command line words a verdict."""
    from attnlab.geometry.examples import EXAMPLES
    from attnlab.report.geometry.terminal import VERDICTS

    words = {
        verdict: {"words": words, "color": color} for verdict, (words, color) in VERDICTS.items()
    }
    return {"examples": [_example(name) for name in EXAMPLES], "verdicts": words}


@router.post("/solve")
def solve(question: Question) -> dict[str, Any]:
    """Answer as ``attnlab attention solve select`` and ``average`` do."""
    from attnlab.geometry.explain.answer import Request
    from attnlab.geometry.explain.weights import explain_weights
    from attnlab.geometry.instance import make_instance
    from attnlab.geometry.targets import average
    from attnlab.report.geometry.plain_data import explanation_data

    instance = make_instance(question.keys, question.values)
    target = average(instance.n_tokens, question.subset)
    return explanation_data(explain_weights(instance, target, request=Request()))


@router.get("/heads")
def heads(drawn: Annotated[Heads, Query()]) -> dict[str, Any]:
    """Draw noisy keys for one head and for two, as ``attnlab attention solve heads`` does."""
    from attnlab.recipes.attention.solve import heads
    from attnlab.report.geometry.plain_data import explanation_data

    return explanation_data(heads(**drawn.model_dump()))


def _example(name: str) -> dict[str, Any]:
    from attnlab.geometry.examples import ARGMAX_QUERY, EXAMPLES, example
    from attnlab.geometry.instance import shows_weights

    instance, about = example(name), EXAMPLES[name].__doc__ or ""
    return {
        "name": name,
        "about": about.replace("*", ""),
        "keys": instance.keys.tolist(),
        "values": None if shows_weights(instance) else instance.values.tolist(),
        "query": list(ARGMAX_QUERY) if name == "argmax" else [0.0] * instance.keys.shape[1],
    }
