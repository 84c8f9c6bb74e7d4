"""Synthetic questions: everybody in the corpus is asked about in training, with a reader's answers.

The people of dev and test are among them. Their labels stay unknown; but a score on them is not
that of "their question was never trained", and the run says so wherever it shows the score.
"""

from dataclasses import replace
from typing import Any

from attnlab.errors import UserError
from attnlab.evaluation.intervals import percent
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.recipe_choice import is_plain_text
from attnlab.recipes.knowledge.settings import PretrainSettings, SyntheticSettings
from attnlab.recipes.knowledge.texts import KnowledgeTexts
from attnlab.training.session import Session


def refuse_unwritable(settings: PretrainSettings) -> None:
    """Refuse, before a run begins, synthetic questions that nothing can be written from."""
    synthetic = settings.synthetic
    if synthetic.least_probability and not synthetic.questions:
        raise UserError(
            f"synthetic.least_probability = {synthetic.least_probability} chooses among synthetic"
            " questions, but there are none. Leave it out, or set synthetic.questions=true."
        )
    if synthetic.questions and not settings.questions:
        raise UserError(
            "synthetic questions are written as the training questions ask, but none are given."
            " Give them with --questions, or choose --recipe recall."
        )
    if synthetic.questions and is_plain_text(settings.corpus):
        raise UserError(
            "synthetic questions are about the names that lines begin with, but hardly a line of"
            f" {settings.corpus} is `Name. Text`. Choose another corpus, or --recipe recall."
        )


def with_synthetic(
    texts: KnowledgeTexts, settings: SyntheticSettings, lm: LanguageModel, session: Session
) -> KnowledgeTexts:
    """Add a question about everybody who is not asked about in training, if that is wanted.

    What the model has no room for is left out.
    """
    if not settings.questions:
        return texts
    assert texts.reader
    written = texts.reader.questions(texts.train, least_probability=settings.least_probability)
    questions = [question for question in written if lm.has_room_for(question)]
    texts = replace(texts, synthetic=questions)
    session.say(f"{_described(texts)}.")
    return texts


def synthetic_record(texts: KnowledgeTexts) -> dict[str, Any]:
    """Return what the record says of a reader and its questions: nothing if there are none."""
    if not texts.reader:
        return {}
    reader = dict(texts.reader.accuracy)
    if not texts.synthetic:
        return {"reader": reader}
    asked = {question.text for question in texts.synthetic}
    counts = {
        split: sum(question.text in asked for question in questions)
        for split, questions in texts.eval_splits.items()
    }
    return {
        "reader": reader,
        "synthetic_questions": len(texts.synthetic),
        "split_notes": {
            split: f"{n:,} of {len(texts.eval_splits[split]):,} asked in training, with the"
            " reader's answers"
            for split, n in counts.items()
            if n
        },
    }


def synthetic_warnings(texts: KnowledgeTexts) -> list[str]:
    """Say what no score of this run is."""
    if not texts.synthetic:
        return []
    return [
        f"trained on {_described(texts)}. They include the people of dev and test, never with their"
        " labels"
    ]


def _described(texts: KnowledgeTexts) -> str:
    assert texts.reader
    accuracy = texts.reader.accuracy
    return (
        f"{len(texts.synthetic):,} synthetic questions, answered by a reader of the corpus that has"
        f" {percent(accuracy['value'], 1)} of {accuracy['n']:,} held-out training questions right"
    )
