"""Retrieved or made up? The signals recorded with each answer, and what they are worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attnlab.data.entries import has_entries
from attnlab.data.knowledge_files import Question
from attnlab.data.names import Names
from attnlab.evaluation.answer_judge import AnswerJudge, judge_each_by_others
from attnlab.evaluation.calibration import (
    CALIBRATION,
    INVENTED,
    UNSEEN,
    judge_confidence,
    right,
)
from attnlab.evaluation.counterfactuals import PARTS, driven_by, names_asked, replaced
from attnlab.randomness import rng
from attnlab.recipes.knowledge.corpus_reader import CorpusReader
from attnlab.recipes.knowledge.language_model import LanguageModel

ASKED_AT_ONCE = 64
REPLACEMENTS = 4
"""How often each part of a name is replaced."""
FEWEST = 20
"""Right answers, and wrong ones, that a judge of answers is fitted on."""


Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Context:
    """What a model's answers are compared with."""

    names: Names | None
    """Whom the corpus is about; None if its lines do not begin with names."""
    reader: CorpusReader | None = None
    calibration: Rows = ()
    """Answers about held-out training people from before, if none are asked about now."""
    invented: Rows = ()
    """Answers about invented people from before."""
    judge: AnswerJudge | None = None
    """What was fitted on both."""


@dataclass(frozen=True)
class Examination:
    """Answers by split, and what can be said about their confidence."""

    answers: Mapping[str, Rows]
    confidence: dict[str, Any]


def names_of(corpus: Sequence[str]) -> Names | None:
    """Return whom a corpus of lines ``Name. Text`` is about; of any other, None."""
    return Names.of(corpus) if has_entries(corpus) else None


def examine(
    lm: LanguageModel,
    eval_splits: Mapping[str, Sequence[Question]],
    context: Context,
    *,
    samples: int,
    is_lost: bool = False,
) -> Examination:
    """Ask everything, collect the signals, and judge them.

    Of a corpus that ``is_lost``, nobody knows whom it is about.
    """
    asked = dict(eval_splits)
    if context.names and len(asked.get(CALIBRATION, ())) >= FEWEST:
        asked[INVENTED] = invented_questions(lm, asked[CALIBRATION], context.names)
    asked = {split: questions for split, questions in asked.items() if questions}
    answers: dict[str, Rows] = {
        split: with_signals(lm, questions, context, samples=samples)
        for split, questions in asked.items()
    }
    judge, fitted = context.judge, dict[str, Rows]()
    if CALIBRATION in answers:
        judge, fitted = _fit_judge(answers[CALIBRATION], answers.get(INVENTED, ()))
    if judge:
        answers = {s: fitted.get(s) or judge.judge(rows) for s, rows in answers.items()}
    before = {CALIBRATION: context.calibration, INVENTED: context.invented}
    confidence = judge_confidence({split: rows for split, rows in before.items() if rows} | answers)
    if judge:
        confidence["judge"] = asdict(judge)
    if UNSEEN in answers and not is_lost:
        confidence["name_parts"] = name_parts(lm, answers[UNSEEN], context.names or Names(()))
    return Examination(answers, confidence)


def with_signals(
    lm: LanguageModel, questions: Sequence[Question], context: Context, *, samples: int
) -> list[dict[str, Any]]:
    """Ask, and add to every answer all that speaks for it or against it."""
    answers = lm.ask(questions)
    rows = [with_own_signals(lm, row, context) for row in answers]
    if samples:
        for row, drawn in zip(rows, _drawn(lm, questions, samples), strict=True):
            row |= agreement(row["prediction"], drawn)
    return rows


def with_own_signals(
    lm: LanguageModel, answer: Mapping[str, Any], context: Context
) -> dict[str, Any]:
    """Add what can be known of an answer without drawing others."""
    row, text = dict(answer), answer["input"]
    if context.names is not None:
        row["was_read"] = context.names.in_question(text) is not None
    if context.reader:
        row |= context.reader.opinion(text, row["prediction"])
    if (known := lm.known_ngrams(_question(text))) is not None:
        row["known_ngrams"] = known
    return row


def invented_questions(
    lm: LanguageModel, questions: Sequence[Question], names: Names
) -> list[Question]:
    """Ask about people who do not exist: another's first or last name in every name."""
    named = [(q.text, name) for q in questions if (name := names.in_question(q.text))]
    asked = [name for _, name in named]
    half = (len(asked) + 1) // 2
    others = [
        *replaced(asked, "first", count=1, generator=rng(0, INVENTED, 0))[:half],
        *replaced(asked, "last", count=1, generator=rng(0, INVENTED, 1))[half:],
    ]
    return [
        question
        for (text, name), some in zip(named, others, strict=True)
        for other in some
        if other not in names and lm.has_room_for(question := _question(text.replace(name, other)))
    ]


def _fit_judge(held_out: Rows, invented: Rows) -> tuple[AnswerJudge | None, dict[str, Rows]]:
    """Fit a judge, and return the answers it was fitted on as judges without them see them."""
    rows, is_right = [*held_out, *invented], [*right(held_out), *[False] * len(invented)]
    if sum(is_right) < FEWEST or len(rows) - sum(is_right) < FEWEST:
        return None, {}
    n, judged = len(held_out), judge_each_by_others(rows, is_right)
    fitted: dict[str, Rows] = {CALIBRATION: judged[:n], INVENTED: judged[n:]}
    return AnswerJudge.fit(rows, is_right), fitted


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
    lm: LanguageModel, answers: Sequence[Mapping[str, Any]], read: Names
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
                and lm.has_room_for(changed_question := _question(text.replace(name, other)))
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


def _drawn(
    lm: LanguageModel, questions: Sequence[Question], samples: int
) -> Iterable[list[tuple[str, float]]]:
    for begin in range(0, len(questions), ASKED_AT_ONCE):
        some = questions[begin : begin + ASKED_AT_ONCE]
        yield from lm.sample(some, count=samples, seed=begin)
