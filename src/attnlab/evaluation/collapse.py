"""Detects models that did not learn, and scores that are suspiciously equal."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence


def collapse_verdict(gold: Sequence[str], predicted: Sequence[str]) -> str | None:
    """Say if a classifier gives one answer to everything, or scores just what that would give."""
    n = len(gold)
    given = Counter(predicted)
    if len(given) == 1 and len(set(gold)) > 1:
        right = Counter(gold)[predicted[0]]
        return f"did not learn: it answers {predicted[0]!r} to all {n:,} examples ({right:,} right)"
    right = sum(a == b for a, b in zip(gold, predicted, strict=True))
    commonest, count = Counter(gold).most_common(1)[0]
    if right == count and n > 1 and len(set(gold)) > 1:
        return (
            f"scores exactly what always answering {commonest!r} gives ({count:,} of {n:,}):"
            " it may not have learned"
        )
    return None


def identical_scores(scores: Mapping[str, Hashable]) -> list[list[str]]:
    """Group the names whose scores are equal to the last bit; different models rarely are."""
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, score in scores.items():
        groups[score].append(name)
    return [names for names in groups.values() if len(names) > 1]
