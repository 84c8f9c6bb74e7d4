"""Claims that compare runs, held against the paired test on their stored predictions."""

from collections.abc import Iterator, Sequence

from attnlab.errors import UserError
from attnlab.evaluation.accuracy import against_guessing
from attnlab.evaluation.claims.citations import Cited
from attnlab.evaluation.claims.comparatives import Comparative, Said
from attnlab.evaluation.claims.quantities import LOSS, OWN, PERPLEXITY, SPLIT_NAMES
from attnlab.evaluation.claims.recorded import values_of
from attnlab.evaluation.claims.verdicts import (
    Judgement,
    Verdict,
    negated,
    unfair,
    worthless,
)
from attnlab.evaluation.common_splits import scored_splits
from attnlab.evaluation.comparison import Comparison, Condition, compare, conditions_of
from attnlab.evaluation.significance import SIGNIFICANT
from attnlab.evaluation.standings import ALIKE
from attnlab.runs.directory import Run

SUPERLATIVES: dict[Said, Said] = {"best": "better", "highest": "higher", "lowest": "lower"}


def judge_pair(
    one: Cited, other: Cited, claim: Comparative, *, split: str, text: str
) -> Iterator[Judgement]:
    """Say whether one is what a report says of it against another, and by as much.

    A whole study has no single score, so nothing is said of it.
    """
    if any(len(conditions_of(side.runs)) > 1 for side in (one, other)) or one == other:
        return
    if claim.quantity and claim.quantity.kind == "size":
        yield _by_size(one, other, claim)
        return
    try:
        found = _compared([*one.runs, *other.runs], claim, split)
    except UserError as error:
        yield Judgement("open", str(error))
        return
    if len(found.pairs) != 1:
        yield Judgement("open", "they differ in the seed alone: one condition, nothing to compare")
        return
    yield _judge(found, claim, one.runs, other.runs, text)
    yield from _how_far(found, claim, theirs=_condition_of(found, other.runs[0]))


def judge_best(
    one: Cited, others: Sequence[Cited], claim: Comparative, *, split: str, text: str
) -> Judgement | None:
    """Say whether one is the best of all that a report compares it with."""
    if len(conditions_of(one.runs)) > 1 or not others:
        return None
    mine = {run.path for run in one.runs}
    rivals = {run.path: run for other in others for run in other.runs if run.path not in mine}
    try:
        found = _compared([*one.runs, *rivals.values()], claim, split)
    except UserError as error:
        return Judgement("open", str(error))
    return _judge_best(found, claim, one.runs, text)


def judge_guessing(one: Cited, claim: Comparative, *, split: str) -> Judgement | None:
    """Say whether a run is better than always giving one answer."""
    run, wanted = one.runs[0], SPLIT_NAMES.get(split, ())
    if not run.finished or len(one.runs) > 1:
        return None
    for name in scored_splits(run):
        score = run.record["scores"][name]
        sentence = against_guessing(name, score, run.predictions(name))
        if sentence is None or (wanted and name not in wanted):
            continue
        gap = score["value"] - score["baseline"]["value"]
        is_so = gap < 0 if claim.said in ("worse", "lower") else gap > 0
        verdict: Verdict = "open" if "not distinguishable" in sentence else "supported"
        if score.get("verdict"):
            sentence = f"{run.name} {score['verdict']}."
        return negated(
            Judgement(verdict if is_so else "contradicted", sentence), is_negated=claim.is_negated
        )
    return None


def _compared(runs: Sequence[Run], claim: Comparative, split: str) -> Comparison:
    """Compare on the split that is named, by the metric that is named."""
    metric = claim.quantity.name if claim.quantity and claim.quantity is not OWN else None
    if claim.quantity is LOSS:
        metric = PERPLEXITY.name  # which falls and rises with the loss per token
    if split == "train":
        raise UserError("scores on what was trained on are not compared.")
    wanted = [name for name in SPLIT_NAMES.get(split, ()) if _has(runs[0], name)]
    if split and not wanted:
        raise UserError(f"{runs[0].name} has no score on {split}.")
    return compare(runs, split=wanted[0] if wanted else None, metric=metric, all_pairs=False)


def _has(run: Run, split: str) -> bool:
    return run.finished and split in scored_splits(run)


def _judge(
    found: Comparison, claim: Comparative, ones: Sequence[Run], others: Sequence[Run], text: str
) -> Judgement:
    (pair,) = found.pairs
    gap = _condition_of(found, ones[0]).score - _condition_of(found, others[0]).score
    is_shown = pair.corrected_p < SIGNIFICANT
    if claim.said == "different":
        return Judgement("supported" if is_shown else "contradicted", pair.verdict)
    if claim.said == "equal":
        return Judgement("contradicted" if is_shown else "supported", pair.verdict)
    wants_more = _wants_more(claim.said, found)
    is_so = gap != 0 and (gap > 0) == wants_more
    favoured = ones if wants_more == found.metric.higher_is_better else others
    if claim.is_negated:
        return Judgement("contradicted" if is_so and is_shown else "supported", pair.verdict)
    if doubt := worthless(favoured, found.metric.name, found.splits[favoured[0].name], text):
        return doubt
    if not is_so or (claim.is_significant and not is_shown):
        return Judgement("contradicted", pair.verdict)
    if not is_shown:
        return Judgement("open", pair.verdict)
    if doubts := unfair([*ones, *others], found.splits):
        return Judgement("open", f"{pair.verdict} But {doubts}.")
    if len(ones) == len(others) == 1:
        verdict: Verdict = "open" if claim.is_significant else "supported"
        return Judgement(verdict, f"{pair.verdict} One seed each: another seed may differ.")
    return Judgement("supported", pair.verdict)


def _judge_best(found: Comparison, claim: Comparative, ones: Sequence[Run], text: str) -> Judgement:
    mine, write = _condition_of(found, ones[0]), found.metric.write
    sign = 1 if _wants_more(SUPERLATIVES[claim.said], found) else -1
    top = max(found.conditions, key=lambda condition: sign * condition.score)
    if top.score != mine.score:
        is_higher = f"{top.name} has {write(top.score)} on {found.split}"
        return negated(
            Judgement("contradicted", f"{is_higher}, {mine.name} {write(mine.score)}."),
            is_negated=claim.is_negated,
        )
    equal = [one.name for one in found.conditions if one.score == mine.score and one is not mine]
    if equal:
        same = f"{mine.name} and {', '.join(equal)} have {write(mine.score)} on {found.split}"
        return Judgement("contradicted", f"{same}, the same to the last bit: none of them is best.")
    if doubt := worthless(ones, found.metric.name, found.splits[ones[0].name], text):
        return doubt
    alike = [standing.name for standing in found.standings if standing.group == ALIKE]
    score = f"{write(mine.score)} on {found.split}, n = {found.n:,}"
    if alike:
        return Judgement("open", f"{score}: not distinguishable from {', '.join(alike)}.")
    return negated(Judgement("supported", f"{score}."), is_negated=claim.is_negated)


def _how_far(found: Comparison, claim: Comparative, *, theirs: Condition) -> Iterator[Judgement]:
    """Judge by how much two are said to differ, and the p-value that is given."""
    (pair,) = found.pairs
    gap, metric = abs(pair.difference), found.metric
    if number := claim.difference:
        sizes = [gap * 100] if metric.in_percent else [gap]
        sizes += [gap] if metric.in_percent and number.value < 1 else []
        sizes += [100 * gap / theirs.score] if number.in_percent and theirs.score else []
        is_so = any(number.fits(size) for size in sizes)
        reason = f"They differ by {metric.write_difference(gap)}."
        yield Judgement("supported" if is_so else "contradicted", reason)
    if number := claim.p_value:
        is_so = number.fits(pair.p_value)
        reason = f"p = {pair.p_value:.2g} ({pair.method})."
        is_other_side = (number.value < SIGNIFICANT) != (pair.p_value < SIGNIFICANT)
        wrong: Verdict = "contradicted" if number.bound or is_other_side else "open"
        yield Judgement("supported" if is_so else wrong, reason)


def _by_size(one: Cited, other: Cited, claim: Comparative) -> Judgement:
    assert claim.quantity is not None
    mine, theirs = (values_of(side.runs, claim.quantity) for side in (one, other))
    if not mine or not theirs:
        return Judgement("open", f"not both have recorded {claim.quantity.name}.")
    gap = mine[-1].value - theirs[-1].value
    is_so = gap > 0 if claim.said == "higher" else gap < 0
    reason = f"{one.name}: {mine[-1].written}; {other.name}: {theirs[-1].written}."
    return negated(
        Judgement("supported" if is_so else "contradicted", reason), is_negated=claim.is_negated
    )


def _wants_more(said: Said, found: Comparison) -> bool:
    """Say whether a claim means a larger number."""
    if said in ("better", "worse"):
        return (said == "better") == found.metric.higher_is_better
    return said == "higher"


def _condition_of(found: Comparison, run: Run) -> Condition:
    return next(one for one in found.conditions if run.name in one.runs)
