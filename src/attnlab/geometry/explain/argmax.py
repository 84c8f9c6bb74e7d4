"""What does attention to the most similar key alone return, and which parameters still learn?"""

import math

import numpy as np

from attnlab.geometry.argmax import HardAttention, argmax_attention
from attnlab.geometry.explain.way import given
from attnlab.geometry.explanation import Explanation, Table
from attnlab.geometry.instance import Instance, weights_of
from attnlab.geometry.panels import Bars, Space
from attnlab.geometry.shapes import Vector
from attnlab.geometry.words import listed, number, vector

NO_GRADIENT = ("query.weight", "query.bias", "key.weight", "key.bias")
LEARNS = ("value.weight", "value.bias", "proj.weight", "proj.bias")
"""The parameters of attnlab.attention.variants.hard; a test keeps the two lists true."""


def explain_argmax(instance: Instance, query: Vector) -> Explanation:
    """Answer one query with argmax attention and with softmax."""
    hard, soft = argmax_attention(instance, query), weights_of(instance.keys, query)
    soft_output, weights = soft @ instance.values, np.zeros(instance.n_tokens)
    weights[list(hard.winners)] = 1 / len(hard.winners)
    winner = f"a tie of {listed(hard.winners)}" if hard.is_tie else f"token {hard.winners[0]}"
    rows = zip(range(instance.n_tokens), hard.scores, weights, soft, strict=True)
    return Explanation(
        f"Argmax attention: {winner}",
        parts=[
            given(instance),
            Table(("token", "score", "argmax", "softmax"), list(rows)),
            {
                "query": vector(query),
                "output": vector(hard.output),
                "softmax": vector(soft_output),
            },
            _radius_words(hard),
            "In hard attention (attnlab attention show hard) therefore no gradient reaches"
            f" {', '.join(NO_GRADIENT)}; {', '.join(LEARNS)} still learn. straight_through=true"
            " chooses as hard and learns as softmax does.",
        ],
        data={
            "instance": instance,
            "query": query,
            "hard": hard,
            "soft_weights": soft,
            "soft_output": soft_output,
        },
        panels=[
            Bars({"argmax": weights, "softmax": soft}),
            Space(instance.keys, directions={"query": query}, chosen=hard.winners),
        ],
    )


def _radius_words(hard: HardAttention) -> str:
    if hard.radius == 0:
        return "A tie is a matter of convention; the mean is what an ever sharper softmax tends to."
    if math.isinf(hard.radius):
        return "No query changes the choice, so queries and keys get no gradient."
    return (
        f"The query may move by {number(hard.radius)} in any direction without changing the output:"
        " its slope with respect to queries and keys is 0."
    )
