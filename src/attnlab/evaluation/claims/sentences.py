"""Claims in sentences: their numbers, intervals and comparisons, and what these are about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attnlab.evaluation.claims.attribution import Span
from attnlab.evaluation.claims.citations import Cited, Read
from attnlab.evaluation.claims.clauses import claiming, clauses_of
from attnlab.evaluation.claims.comparatives import Comparative, comparatives_in
from attnlab.evaluation.claims.comparison_claims import (
    SUPERLATIVES,
    judge_best,
    judge_guessing,
    judge_pair,
)
from attnlab.evaluation.claims.interval_claims import intervals_in, judge_interval
from attnlab.evaluation.claims.markdown import Sentence
from attnlab.evaluation.claims.number_claims import found_in, judge, owners_of
from attnlab.evaluation.claims.quantities import splits_in
from attnlab.evaluation.claims.verdicts import Claim, Judgement

LONGEST = 60
ELSEWHERE = ("et al", "paper", "arxiv", "literature", "published", "leaderboard", "human")
"""Words of a sentence that is about others' results, unless it names a run."""
_PRONOUN = re.compile(r"\W*(?:it|its|this|that|here)\b", re.I)
Judged = tuple[Span, Sequence[Cited], Judgement]


@dataclass(frozen=True)
class Around:
    """What is cited in a sentence and before it, and the paragraph it stands in."""

    here: Sequence[Cited]
    before: Sequence[Cited]
    of_section: Sequence[Cited]
    by_now: Sequence[Cited]
    paragraph: str


def sentence_claims(part: Sentence, read: Read, around: Around) -> Iterator[Claim]:
    """Judge what a sentence claims about the runs that it names, or else those named before."""
    if not around.here and any(word in part.text.lower() for word in ELSEWHERE):
        return
    read = replace(read, plain=claiming(read.plain))
    for judged in (_numbers, _intervals, _comparisons):
        for span, cited, found in judged(read, around):
            names = tuple(one.name for one in cited)
            quote = _quote(part.text, span)
            yield Claim(part.line_at(span.start), quote, names, found.verdict, found.reason)


def _numbers(read: Read, around: Around) -> Iterator[Judged]:
    found = found_in(read.plain)
    if around.here:
        mentions = [(Span(one.start, one.end), one.cited) for one in read.mentions]
        owners = owners_of(read.plain, found, mentions)
        begin = max(c.start for c in clauses_of(read.plain) if c.start <= read.mentions[0].start)
        if around.before:  # "Its accuracy is 84 %, and that of `a` is 82 %"
            owners = [
                around.before if one.number.start < begin else owner
                for one, owner in zip(found, owners, strict=True)
            ]
    else:
        found = [replace(one, is_firm=False) for one in found]
        owners = [around.before] * len(found)
    for one, cited in zip(found, owners, strict=True):
        judgement = judge(one, cited, around.paragraph) if cited else None
        if judgement and judgement.verdict == "contradicted" and not around.here:
            # "The three models reach …" is about all of a section, "It reaches …" is not
            everyone = around.of_section if not _PRONOUN.match(read.plain) else ()
            wider = judge(one, everyone, around.paragraph) if everyone else None
            judgement = wider if wider and wider.verdict != "contradicted" else judgement
        if judgement:
            yield Span(one.number.start, one.number.end), cited, judgement


def _intervals(read: Read, around: Around) -> Iterator[Judged]:
    for span in intervals_in(read.plain):
        named = [mention.cited for mention in read.mentions if mention.end <= span.start]
        cited = named[-1:] or around.here or around.before
        if judgement := judge_interval(read.plain[span.start : span.end], cited):
            yield span, cited, judgement


def _comparisons(read: Read, around: Around) -> Iterator[Judged]:
    names = [Span(mention.start, mention.end) for mention in read.mentions]
    splits = {split for *_, split in splits_in(read.plain)}
    split = splits.pop() if len(splits) == 1 else ""
    for one in comparatives_in(read.plain, names):
        subjects = [read.mentions[i].cited for i in one.subjects] or list(around.before)
        objects = [read.mentions[i].cited for i in one.objects]
        begin = max(clause.start for clause in clauses_of(read.plain) if clause.start <= one.start)
        earlier = [mention.cited for mention in read.mentions if mention.end <= begin]
        near = replace(around, before=earlier or around.before)  # "While `a` …, `b` is better"
        compare = _best if one.said in SUPERLATIVES else _pairs
        if one.with_guessing:
            compare = _guessing
        for cited, judgement in compare(one, subjects, objects, split, near):
            yield Span(one.start, one.end), cited, judgement


Compared = Iterator[tuple[Sequence[Cited], Judgement]]


def _best(
    claim: Comparative,
    subjects: Sequence[Cited],
    objects: Sequence[Cited],
    split: str,
    around: Around,
) -> Compared:
    """Compare with what is named, or else with all of the section, or else of the report."""
    for group in (objects, around.of_section, around.by_now):
        rivals = [cited for cited in group if cited not in subjects[:1]]
        if subjects and rivals:
            text = around.paragraph
            if found := judge_best(subjects[0], rivals, claim, split=split, text=text):
                yield subjects[:1], found
            return


def _guessing(
    claim: Comparative,
    subjects: Sequence[Cited],
    objects: Sequence[Cited],  # noqa: ARG001 - all comparisons are called alike
    split: str,
    around: Around,  # noqa: ARG001
) -> Compared:
    for subject in subjects:
        if found := judge_guessing(subject, claim, split=split):
            yield [subject], found


def _pairs(
    claim: Comparative,
    subjects: Sequence[Cited],
    objects: Sequence[Cited],
    split: str,
    around: Around,
) -> Compared:
    """Compare each with each; with what was cited before, where a sentence names one side only."""
    if claim.said in ("equal", "different") and not objects:
        subjects, objects = subjects[:1], subjects[1:]
    objects = objects or [cited for cited in around.before if cited not in subjects]
    for subject in subjects:
        for other in objects:
            for found in judge_pair(subject, other, claim, split=split, text=around.paragraph):
                yield [subject, other], found


def _quote(text: str, span: Span) -> str:
    """Return the words around a place, on one line."""
    room = max(0, LONGEST - (span.end - span.start)) // 2
    left, right = max(0, span.start - room), min(len(text), span.end + room)
    left = text.rfind(" ", 0, left) + 1 if left else 0
    right = text.find(" ", right) if text.find(" ", right) > 0 else len(text)
    shown = " ".join(text[left:right].split())
    return f"{'… ' if left else ''}{shown}{' …' if right < len(text.rstrip()) else ''}"
