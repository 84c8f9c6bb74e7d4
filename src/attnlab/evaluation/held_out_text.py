"""What a language model is worth on text it has not read: perplexity, and bits per character.

Perplexity is per token, so that only models with the same tokens can be compared by it; bits per
character do not depend on what a token is. Guessing is to know how often each token occurs, and
nothing of the text before it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attnlab.evaluation.intervals import percent
from attnlab.evaluation.metrics import Answers
from attnlab.evaluation.metrics.bits_per_character import BITS_PER_CHARACTER
from attnlab.evaluation.metrics.perplexity import LARGEST_LOSS, PERPLEXITY

SPLIT = "held_out_text"
LONG_LINE = 40
"""Characters of a line that does not come again by chance."""
MANY_REPEATS = 0.01
"""Share of repeated lines from which a score is called optimistic."""


def score_text(rows: Answers, *, guessing: float, repeats: Mapping[str, int]) -> dict[str, Any]:
    """Score rows of losses with their interval.

    ``guessing`` is the perplexity of the baseline, ``repeats`` what ``repeated_lines`` counted.
    """
    from attnlab.evaluation.bootstrap import Bootstrap

    estimate = Bootstrap([PERPLEXITY.features([rows])], PERPLEXITY.finish).score(0)
    return {
        "metric": PERPLEXITY.name,
        "value": estimate.value,
        "n": len(rows),
        "interval": list(PERPLEXITY.within_bounds(estimate.interval())),
        **text_metrics(rows),
        "tokens": sum(row["tokens"] for row in rows),
        "characters": sum(row["characters"] for row in rows),
        "repeats": dict(repeats),
        "baseline": {"name": "token frequencies", "value": guessing},
        "verdict": _verdict(estimate.value, guessing),
    }


def text_metrics(rows: Answers) -> dict[str, float]:
    """Return the loss per token in nats, and per character in bits."""
    loss, tokens = (sum(row[name] for row in rows) for name in ("loss", "tokens"))
    return {"loss": loss / tokens, BITS_PER_CHARACTER.name: BITS_PER_CHARACTER.score(rows)}


def repeated_lines(learned: Iterable[str], held_out: Iterable[str]) -> dict[str, int]:
    """Count the held-out lines that were also learned from, among those long enough to tell.

    A short line, such as a speaker's name, comes again in any text and says nothing of a copy.
    """
    seen = set(_long_lines(learned))
    asked = _long_lines(held_out)
    repeated = sum(line in seen for line in asked)
    return {"repeated": repeated, "lines": len(asked), "shortest": LONG_LINE}


def repeats_warning(score: Mapping[str, Any]) -> str | None:
    """Say so if enough of a held-out text was also learned from to make its score doubtful."""
    counted = score.get("repeats", {})
    if not counted.get("repeated") or counted["repeated"] < MANY_REPEATS * counted["lines"]:
        return None
    share = percent(counted["repeated"] / counted["lines"])
    return f"{share} of its long lines also stand in the training text: this score is optimistic"


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


def perplexity_of_pairs(
    learned: Iterable[Sequence[int]], asked: Iterable[Sequence[int]], *, vocab_size: int
) -> float:
    """Return the perplexity of predicting each token from the one before it by counting pairs.

    Pairs that were never seen get the share that frequencies alone would give them, as if each
    token had been followed by one more. No attention is needed for this much.
    """
    rows = list(learned)
    seen = Counter(token for row in rows for token in row)
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    followed = Counter[int]()
    for (before, _), count in pairs.items():
        followed[before] += count
    total = seen.total() + vocab_size
    predicted = [pair for row in asked for pair in pairwise(row)]
    shares = (
        (pairs[before, token] + (seen[token] + 1) / total) / (followed[before] + 1)
        for before, token in predicted
    )
    return math.exp(min(-sum(map(math.log, shares)) / len(predicted), LARGEST_LOSS))


def text_sentence(split: str, score: dict[str, Any]) -> str | None:
    """Say in a sentence what a perplexity is over; None for a score that is no perplexity."""
    if "bits_per_character" not in score:
        return None
    return (
        f"On {split}: {score['bits_per_character']:.2f} bits per character, over"
        f" {score['tokens']:,} tokens of text ({score['characters']:,} characters) in windows that"
        f" begin without what stands before them. {_repeats_sentence(score['repeats'])}"
    )


def _repeats_sentence(counted: Mapping[str, int]) -> str:
    which = f"held-out lines of {counted['shortest']} or more characters"
    if not counted["lines"]:
        return f"There are no {which}, so repeated lines were not looked for."
    return (
        f"Of {counted['lines']:,} {which}, {counted['repeated']:,} also stand in the training text."
    )


def _long_lines(lines: Iterable[str]) -> list[str]:
    spaced = (" ".join(line.split()) for line in lines)
    return [line for line in spaced if len(line) >= LONG_LINE]


def _verdict(value: float, guessing: float) -> str | None:
    if value < guessing:
        return None
    return "did not learn: knowing how often each token occurs is as good"
