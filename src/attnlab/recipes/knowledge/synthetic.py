"""Synthetic questions: everybody in the corpus is asked about in training, with a reader's answers.

The people of dev and test are among them. Their labels stay unknown; but a score on them is not
that of "their question was never trained", and the run says so wherever it shows the score.
"""

from dataclasses import replace

from attnlab.errors import UserError
from attnlab.recipes.knowledge.language_model import LanguageModel
from attnlab.recipes.knowledge.reader_notes import describe
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
    reader = texts.reader
    assert reader
    written = reader.questions(texts.train, least_probability=settings.least_probability)
    questions = [question for question in written if lm.has_room_for(question)]
    texts = replace(texts, synthetic=questions)
    session.say(
        f"{len(questions):,} synthetic questions, answered by a reader:"
        f" {describe(reader.accuracy)}."
    )
    return texts
