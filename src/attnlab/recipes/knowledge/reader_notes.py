"""What a run says of a reader that helped it: in its record, in its tables, among its warnings.

A reader learns from the training questions alone, but it picks answers for everybody in the corpus,
and the people of dev and test are in it. A score on them is worth what it is worth only if whoever
sees it knows that: views may favour the reader's answers, and questions with them may be trained
on. No label of an evaluation split is ever involved.
"""

from collections.abc import Collection, Mapping
from typing import Any

from attnlab.evaluation.intervals import percent
from attnlab.recipes.knowledge.texts import KnowledgeTexts
from attnlab.recipes.seen_rows import lineage
from attnlab.runs.directory import Run

FAVOURED = "the reader's answers"


def reader_record(texts: KnowledgeTexts) -> dict[str, Any]:
    """Return what the record says of a reader and what it did: nothing if there is none."""
    if not texts.reader:
        return {}
    record = {
        "reader": dict(texts.reader.accuracy),
        "reader_seconds": round(texts.reader_seconds, 2),
    }
    notes: dict[str, str] = {}
    if texts.views_favour_reader:
        picked = {question for question, found in texts.reader.answers.items() if found}
        notes |= _notes(texts, picked, "with views that favour a reader's answer")
        record["views_favour"] = FAVOURED
    if texts.synthetic:
        asked = {question.text for question in texts.synthetic}
        notes |= _notes(texts, asked, "asked in training, with the reader's answers")
        record["synthetic_questions"] = len(texts.synthetic)
    return {**record, "split_notes": notes} if notes else record


def reader_warnings(texts: KnowledgeTexts) -> list[str]:
    """Say what no score of this run is."""
    return said_of(reader_record(texts))


def inherited_warnings(run: Run | None) -> list[str]:
    """Say it of a model that another run, or one before that, has trained."""
    runs = lineage(run) if run else ()
    return [f"{one.name}: {warning}" for one in runs for warning in said_of(one.record)]


def said_of(record: Mapping[str, Any]) -> list[str]:
    """Say what a record has of a reader."""
    found = []
    if record.get("views_favour"):
        found.append(
            f"its views favour the span that a reader picks: {describe(record['reader'])}. The"
            " people of dev and test are among those it picks for, never with their labels"
        )
    if count := record.get("synthetic_questions"):
        found.append(
            f"trained on {count:,} synthetic questions, answered by a reader of the corpus:"
            f" {describe(record['reader'])}. They include the people of dev and test, never with"
            " their labels"
        )
    return found


def describe(accuracy: Mapping[str, Any]) -> str:
    """Say what a reader has learned from, and how often it is right."""
    return (
        "it learned from the training questions and has"
        f" {percent(accuracy['value'], 1)} of {accuracy['n']:,} right that were held out from it"
    )


def _notes(texts: KnowledgeTexts, questions: Collection[str], what: str) -> dict[str, str]:
    """Say of every split how many of its questions something is true of, if of any."""
    counts = {
        split: sum(question.text in questions for question in asked)
        for split, asked in texts.eval_splits.items()
    }
    return {
        split: f"{n:,} of {len(texts.eval_splits[split]):,} {what}"
        for split, n in counts.items()
        if n
    }
