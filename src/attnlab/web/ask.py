"""The view of questions: the answers of ``attnlab knowledge ask``, and what speaks for them."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from attnlab.errors import UserError
from attnlab.runs.directory import Run
from attnlab.runs.model_kind import LANGUAGE_MODEL, need_model
from attnlab.web.inside import run_folder
from attnlab.web.models import ASK, HeldModels
from attnlab.web.runs import Named
from attnlab.web.settings import settings_of
from attnlab.web.words import in_form_words

router = APIRouter(prefix="/api/ask", tags=["ask"])

MOST_EXAMPLES = 8
MOST_LINES = 10
MOST_PARTS = 200
DIGITS = 4


class Question(BaseModel):
    """A question to a run's model."""

    run: Annotated[str, Field(max_length=500)]
    question: Annotated[str, Field(max_length=10_000)]


@router.get("/examples")
def examples(path: Named) -> dict[str, Any]:
    """Return some questions that the run has answered before."""
    need_model(path, LANGUAGE_MODEL)
    run = Run.open(path)
    rows = [
        row
        for split in run.record["scores"]
        if run.has_predictions(split)
        for row in run.predictions(split)[:MOST_EXAMPLES]
        if "prediction" in row
    ]
    return {"questions": [row["input"] for row in rows[:MOST_EXAMPLES]]}


@router.post("")
async def ask(request: Request, models: HeldModels, asked: Question) -> Any:
    """Answer a question as ``attnlab knowledge ask`` does, and show what speaks for the answer."""
    path = await run_in_threadpool(run_folder, asked.run, settings_of(request).runs)
    text = asked.question.strip()
    return await models.answer(ASK, path, lambda session: answer_json(session, text), key=text)


def answer_json(session: Any, text: str) -> dict[str, Any]:
    """Return an answer with its verdict, where the model looked, and what the corpus says."""
    answer = session.answer(text)
    lines = session.corpus_lines(text)
    return {
        "question": text,
        **asdict(answer),
        "reason": in_form_words(answer.reason),
        "person": session.person(text),
        "corpus": _corpus(session),
        "lines": lines[:MOST_LINES],
        "n_lines": len(lines),
        "name_parts": _name_parts(session),
        "looks": _looks(session, text),
    }


def _corpus(session: Any) -> Literal["known", "lost", "no names"]:
    """Say whether it is known whom the corpus is about."""
    if session.names_are_lost:
        return "lost"
    return "no names" if session.context.names is None else "known"


def _name_parts(session: Any) -> dict[str, list[str]]:
    """Return first and last names of the corpus, to change a question with."""
    names = [words for name in session.context.names or () if len(words := name.split()) > 1]
    first, last = ({words[place] for words in names} for place in (0, -1))
    return {"first": sorted(first)[:MOST_PARTS], "last": sorted(last)[:MOST_PARTS]}


def _looks(session: Any, text: str) -> dict[str, Any]:
    """Return the weights of every layer, mean of its heads; why not, if it has none."""
    from attnlab.report.looks import mean_looks

    try:
        looks = session.looks(text)
    except UserError as error:
        return {"problem": in_form_words(str(error))}
    n = looks.n_question
    layers = [mean_looks(layer.numpy(), n_question=n).round(DIGITS) for layer in looks.weights]
    return {
        "tokens": list(looks.tokens),
        "n_question": n,
        "layers": [layer.tolist() for layer in layers],
    }
