"""Retrieved or made up? The signals recorded with each answer, and what they are worth."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.data.entries import has_entries, split_name
from attnlab.data.knowledge_files import Question
from attnlab.errors import UserError
from attnlab.evaluation.calibration import CALIBRATION, UNSEEN, judge_confidence
from attnlab.evaluation.counterfactuals import PARTS, driven_by, names_asked, replaced
from attnlab.randomness import rng
from attnlab.recipes.knowledge.language_model import LanguageModel

ASKED_AT_ONCE = 64
REPLACEMENTS = 4
"""How often each part of a name is replaced."""


@dataclass(frozen=True)
class Examination:
    """Answers by split, and what can be said about their confidence."""

    answers: Mapping[str, Sequence[dict[str, Any]]]
    confidence: dict[str, Any]


def examine(
    lm: LanguageModel,
    eval_splits: Mapping[str, Sequence[Question]],
    *,
    samples: int,
    corpus: Sequence[str],
    calibration: Sequence[dict[str, Any]] = (),
    is_lost: bool = False,
) -> Examination:
    """Ask everything, look at the doubts, and judge them.

    ``calibration`` are answers about held-out training people from before, if none are asked now.
    Of a corpus that ``is_lost``, nobody knows whom it is about.
    """
    names = names_of(corpus) if has_entries(corpus) else None
    answers: dict[str, Sequence[dict[str, Any]]] = {
        split: with_signals(lm, questions, lm.ask(questions), samples=samples, names=names)
        for split, questions in eval_splits.items()
    }
    before: dict[str, Sequence[dict[str, Any]]] = {}
    if calibration:
        before[CALIBRATION] = calibration
    confidence = judge_confidence(before | answers)
    if UNSEEN in answers and not is_lost:
        confidence["name_parts"] = name_parts(lm, answers[UNSEEN], names or frozenset())
    return Examination(answers, confidence)


def names_of(corpus: Iterable[str]) -> frozenset[str]:
    """Return whom a corpus is about."""
    return frozenset(name for line in corpus if (name := split_name(line)[0]))


def named_in(question: str, names: frozenset[str]) -> str | None:
    """Return the longest of the names that stands in a question, as whole words."""
    found = (
        name
        for name in names
        if name in question and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question)
    )
    return max(found, key=len, default=None)


def with_signals(
    lm: LanguageModel,
    questions: Sequence[Question],
    answers: Sequence[Mapping[str, Any]],
    *,
    samples: int,
    names: frozenset[str] | None,
) -> list[dict[str, Any]]:
    """Add to every answer how drawn answers agree with it, and whether its name was read."""
    rows = [dict(answer) for answer in answers]
    if names is not None:
        for row, question in zip(rows, questions, strict=True):
            row["was_read"] = named_in(question.text, names) is not None
    if samples:
        for row, drawn in zip(rows, _drawn(lm, questions, samples), strict=True):
            row |= agreement(row["prediction"], drawn)
    return rows


def agreement(answer: str, drawn: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """Compare an answer with drawn ones: how many are the same, which is the likeliest other."""
    others = {text: likely for text, likely in drawn if text != answer}
    runner_up = max(others, key=others.__getitem__, default=None)
    return {
        "agreement": sum(text == answer for text, _ in drawn) / len(drawn),
        "runner_up": runner_up,
        "runner_up_probability": others[runner_up] if runner_up is not None else 0.0,
    }


def name_parts(
    lm: LanguageModel, answers: Sequence[Mapping[str, Any]], read: frozenset[str]
) -> dict[str, Any]:
    """Replace parts of the names that were asked about, and see how often the answer changes.

    A new name may not be one that was read about, nor too long for the model.
    """
    questions = [str(answer["input"]) for answer in answers]
    names = names_asked(questions)
    changed = {}
    for number, part in enumerate(PARTS):
        others = replaced(names, part, count=REPLACEMENTS, generator=rng(0, "names", number))
        asked = [
            [
                changed_question
                for other in some
                if other not in read
                and _fits(lm, changed_question := _question(text.replace(name, other)))
            ]
            for text, name, some in zip(questions, names, others, strict=True)
        ]
        given = iter(lm.ask([question for some in asked for question in some]))
        changed[part] = [
            [next(given)["prediction"] != answer["prediction"] for _ in some]
            for answer, some in zip(answers, asked, strict=True)
        ]
    return driven_by(changed)


def _question(text: str) -> Question:
    return Question(text, None, "a changed name")


def _fits(lm: LanguageModel, question: Question) -> bool:
    try:
        lm.prompt(question)
    except UserError:
        return False
    return True


def _drawn(
    lm: LanguageModel, questions: Sequence[Question], samples: int
) -> Iterable[list[tuple[str, float]]]:
    for begin in range(0, len(questions), ASKED_AT_ONCE):
        some = questions[begin : begin + ASKED_AT_ONCE]
        yield from lm.sample(some, count=samples, seed=begin)
