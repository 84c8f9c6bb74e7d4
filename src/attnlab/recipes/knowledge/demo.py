"""The first minute: a tiny GPT reads about made-up people and is asked where they were born.

The people it is asked about never had their question in training; it must find the answer in what
it has read about them.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from rich.console import Console

from attnlab.data.batches import Batches, TokenRow
from attnlab.data.characters import CharacterVocabulary
from attnlab.data.people import Person
from attnlab.data.world import World, make_world
from attnlab.data.world_words import PLACES
from attnlab.evaluation.accuracy import score_answers, share_right
from attnlab.evaluation.leakage import Leak, model_leak, refuse_undeclared
from attnlab.evaluation.ledger import split_ledger
from attnlab.models.decoding import continue_prompts
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken, row_losses
from attnlab.recipes.attention.settle import settle_attention
from attnlab.recipes.knowledge.settings import DemoSettings
from attnlab.registry import telling_the_line
from attnlab.runs import machine
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.inference import inference
from attnlab.training.loop import TrainingState, train
from attnlab.training.randomness import seed_torch
from attnlab.training.session import Session, open_session
from attnlab.training.task import Evaluation

JOB = "knowledge-demo"
MAX_ANSWER = max(map(len, PLACES)) + 1
LEAK_ROWS = 2


def run_demo(settings: DemoSettings, *, place: RunPlace, console: Console) -> Run:
    """Train, ask everybody in test, and leave the run with its record; resumes by itself."""
    with open_session(JOB, settings, settings.training, place=place, console=console) as session:
        if not session.run.finished:
            settle_attention(session, settings.model.attention)
            world = make_world(settings.world)
            subject = Subject(world, settings)
            session.world.from_lead(lambda: _leak(subject).to_dict())
            state = train(subject.task, settings.training, session)
            session.world.from_lead(lambda: _write_results(session, subject, world, state))
        return session.run


class Subject:
    """The model under test with its vocabulary: what it learns from, and how it is asked."""

    def __init__(self, world: World, settings: DemoSettings) -> None:
        self.world, self.attention = world, settings.model.attention
        questions = [p.question for p in (*world.train, *world.dev, *world.test)]
        self.vocabulary = CharacterVocabulary([*world.texts, *questions, *PLACES])
        rows = self._rows()
        longest_row = max(len(row.tokens) for row in rows)
        longest_dialogue = max(map(len, questions)) + 1 + MAX_ANSWER
        seed_torch(settings.training.seed, "weights")
        self.model = GPT(
            len(self.vocabulary), max(longest_row, longest_dialogue), **vars(settings.model)
        )
        batches = Batches(rows, batch_size=settings.batch_size, seed=settings.training.seed)
        self.task = NextToken(self.model, batches, evaluate=self.evaluate)

    def evaluate(self) -> Evaluation:
        """Score the answers about the people of dev; as many of train are asked to compare."""
        asked = {"train": self.world.train[: len(self.world.dev)], "dev": self.world.dev}
        logged = {}
        for split, people in asked.items():
            rows = self.ask(people)
            gold, predicted = [r["gold"] for r in rows], [r["prediction"] for r in rows]
            logged[f"{split}_accuracy"] = share_right(gold, predicted)
            logged[f"{split}_loss"] = fmean(row["loss"] for row in rows)
        return Evaluation(logged["dev_accuracy"], logged)

    def ask(self, people: Sequence[Person]) -> list[dict[str, Any]]:
        """Return the model's answer about each person, and the probability it gives it."""
        mark = self.vocabulary.mark
        continuations = continue_prompts(
            self.model,
            [[*self.vocabulary.encode(person.question), mark] for person in people],
            stop=mark,
            max_new=MAX_ANSWER,
        )
        rows = [self._question_row(person, whole=False) for person in people]
        losses = row_losses(self.model, rows)
        return [
            {
                "id": person.name,
                "question": person.question,
                "gold": person.place,
                "prediction": self.vocabulary.decode(continuation.tokens),
                "confidence": continuation.probability,
                "loss": loss,
            }
            for person, continuation, loss in zip(people, continuations, losses, strict=True)
        ]

    def score(self, answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Say what the answers are worth."""
        return score_answers(
            [answer["gold"] for answer in answers],
            [answer["prediction"] for answer in answers],
            train_gold=[person.place for person in self.world.train],
        )

    def _rows(self) -> list[TokenRow]:
        """Every biography, and the question with its answer for the people of train."""
        encode, mark = self.vocabulary.encode, self.vocabulary.mark
        texts = [
            TokenRow(f"text {i}: {text}", [*encode(text), mark])
            for i, text in enumerate(self.world.texts, 1)
        ]
        return texts + [self._question_row(person) for person in self.world.train]

    def _question_row(self, person: Person, *, whole: bool = True) -> TokenRow:
        """The question, then the answer; scored as a whole, or the answer alone."""
        encode, mark = self.vocabulary.encode, self.vocabulary.mark
        question, answer = [*encode(person.question), mark], [*encode(person.place), mark]
        scored_from = 1 if whole else len(question)
        return TokenRow(f"question: {person.question}", question + answer, scored_from)


def _leak(subject: Subject) -> Leak:
    """Measure what the model sees of the future; refuse one that does not say it does."""
    with telling_the_line(subject.attention.name):
        leak = model_leak(subject.model, subject.task.batch(1).inputs[:LEAK_ROWS])
    refuse_undeclared(leak, subject.model)
    return leak


def _write_results(session: Session, subject: Subject, world: World, state: TrainingState) -> None:
    """Ask the people of dev and test, store every answer, and close the run with its record."""
    splits = {"train": world.train, "dev": world.dev, "test": world.test}
    leak = _leak(subject)
    scores = {}
    for split in ("dev", "test"):
        with inference(subject.model, session.hardware):
            answers = subject.ask(splits[split])
        session.run.write_predictions(split, answers)
        scores[split] = subject.score(answers)
    session.run.finish(
        {
            "job": JOB,
            "scores": scores,
            "leak": leak.to_dict(),
            "ledger": split_ledger(
                {name: [_ledger_row(person) for person in rows] for name, rows in splits.items()},
                inputs=["question"],
            ),
            "steps_per_epoch": subject.task.steps_in(1, "epochs"),
            **state.summary(),
            "hardware": session.run.config["resolved"],
            **machine.describe(),
        }
    )


def _ledger_row(person: Person) -> dict[str, str]:
    return {"question": person.question, "answer": person.place}
