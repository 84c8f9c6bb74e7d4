"""What a language model is worth on text it has not read: perplexity, and bits per character.

Perplexity is per token, so that only models with the same tokens can be compared by it; bits per
character do not depend on what a token is. Guessing is to know how often each token occurs, and
nothing of the text before it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attnlab.evaluation.metrics import Answers
from attnlab.evaluation.metrics.perplexity import LARGEST_LOSS, PERPLEXITY

SPLIT = "held_out_text"


def score_text(rows: Answers, *, characters: int, guessing: float) -> dict[str, Any]:
    """Score rows of losses with their interval; ``guessing`` is the perplexity of the baseline."""
    from attnlab.evaluation.bootstrap import Bootstrap

    estimate = Bootstrap([PERPLEXITY.features([rows])], PERPLEXITY.finish).score(0)
    return {
        "metric": PERPLEXITY.name,
        "value": estimate.value,
        "n": len(rows),
        "interval": list(PERPLEXITY.within_bounds(estimate.interval())),
        **text_metrics(rows, characters=characters),
        "tokens": sum(row["tokens"] for row in rows),
        "characters": characters,
        "baseline": {"name": "token frequencies", "value": guessing},
        "verdict": _verdict(estimate.value, guessing),
    }


def text_metrics(rows: Answers, *, characters: int) -> dict[str, float]:
    """Return the loss per token in nats, and per character in bits."""
    loss, tokens = (sum(row[name] for row in rows) for name in ("loss", "tokens"))
    return {"loss": loss / tokens, "bits_per_character": loss / math.log(2) / characters}


def perplexity_of_frequencies(
    learned: Iterable[Sequence[int]], asked: Iterable[Sequence[int]], *, vocab_size: int
) -> float:
    """Return the perplexity of predicting each token by how often it was seen, counting one more.

    The first token of every row is given and not predicted, as for a model.
    """
    seen = Counter(token for row in learned for token in row)
    total = seen.total() + vocab_size
    predicted = [token for row in asked for token in row[1:]]
    loss = sum(math.log(total / (seen[token] + 1)) for token in predicted)
    return math.exp(min(loss / len(predicted), LARGEST_LOSS))


def text_sentence(split: str, score: dict[str, Any]) -> str | None:
    """Say in a sentence what a perplexity is over; None for a score that is no perplexity."""
    if "bits_per_character" not in score:
        return None
    return (
        f"On {split}: {score['bits_per_character']:.2f} bits per character, over"
        f" {score['tokens']:,} tokens of text ({score['characters']:,} characters) in windows that"
        " begin without what stands before them."
    )


def _verdict(value: float, guessing: float) -> str | None:
    if value < guessing:
        return None
    return "did not learn: knowing how often each token occurs is as good"
