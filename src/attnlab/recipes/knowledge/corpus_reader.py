"""What a reader finds in the corpus about everybody in it, having learned from training questions.

It reads with the book open: it sees a person's lines and picks an answer from them. The language
model has to answer with the book closed. Its answers are synthetic questions to learn from (as in
PAQ, Lewis et al. 2021, arXiv:2102.07033), and agreeing with it is a sign that an answer is right.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from attnlab.data.answer_candidates import AnswerCandidates
from attnlab.data.entries import has_entries
from attnlab.data.knowledge_files import Question
from attnlab.data.names import Names
from attnlab.data.objectives import Preference
from attnlab.data.question_forms import QuestionForm, by_form
from attnlab.errors import UserError
from attnlab.evaluation.intervals import wilson
from attnlab.models.reader import Example, Reader
from attnlab.phases import phase
from attnlab.randomness import rng
from attnlab.runs.directory import Run
from attnlab.runs.files import parse_object, replace_file, to_json
from attnlab.runs.manifest import read_sealed

FILE = "reader.json"
FEWEST, MOST = 20, 10_000
"""Training questions of one form that a reader needs, and those that it learns from at most."""
FOLDS, MOST_EXAMINED = 5, 2_000
KEPT, DIGITS = 3, 3
"""Answers about a person that are kept, and digits of their probability: few, so that machines
agree on them."""

Asked = Sequence[tuple[str, Question]]


@dataclass(frozen=True)
class CorpusReader:
    """Its most likely answers to every question that can be asked about somebody in the corpus."""

    answers: Mapping[str, Mapping[str, float]]
    """By question: answers with their probability, the likeliest first."""
    accuracy: Mapping[str, Any]
    """On training questions that it had not learned from."""

    def preference(self, names: Names) -> Preference:
        """Prefer what it would answer; who can be asked several questions has several answers."""
        likely: dict[tuple[str, str], float] = {}
        for question, found in self.answers.items():
            name = names.in_question(question) or ""
            for answer, probability in found.items():
                likely[name, answer] = max(probability, likely.get((name, answer), 0.0))
        return lambda name, span: likely.get((name, span), 0.0)

    def questions(
        self, asked: Sequence[Question], *, least_probability: float = 0.0
    ) -> list[Question]:
        """Write a question with its answer for everybody who is not ``asked`` about."""
        known = {question.text for question in asked}
        return [
            Question(text, answer, f"the reader's answer to {text!r}")
            for text, found in self.answers.items()
            if text not in known
            for answer, probability in list(found.items())[:1]
            if probability >= least_probability
        ]

    def opinion(self, question: str, answer: str) -> dict[str, Any]:
        """Return what it thinks of an answer, and how likely it finds its own best other one."""
        found = self.answers.get(question, {})
        others = [probability for text, probability in found.items() if text != answer]
        return {
            "reader_answer": next(iter(found), None),
            "reader_probability": min(1.0, found.get(answer, 0.0)),
            "reader_runner_up": min(1.0, max(others, default=0.0)),
        }

    def sha256(self) -> str:
        """Hash its answers."""
        return hashlib.sha256(to_json(self.answers)).hexdigest()

    def save(self, run: Run) -> None:
        """Save its answers with the run, to compare the model's with."""
        replace_file(run.path / FILE, to_json(self.__dict__))


def load_corpus_reader(run: Run) -> CorpusReader | None:
    """Return the reader of a finished run, if it has one."""
    path = run.path / FILE
    return CorpusReader(**parse_object(read_sealed(path), path)) if path.exists() else None


def need_corpus_reader(corpus: Sequence[str], train: Sequence[Question]) -> CorpusReader:
    """Make the reader, or say what it lacks."""
    if found := learn_to_read(corpus, train):
        return found
    raise UserError(
        f"synthetic.questions needs at least {FEWEST} training questions of one form, such as"
        " `Where was NAME born?`, about names that begin lines of the corpus, and answers that are"
        f" capitalised words of those lines. None of the forms of the {len(train)} training"
        " questions does. Give other questions with --questions, or choose --recipe recall."
    )


@phase("teaching a reader to find answers in the corpus")
def learn_to_read(corpus: Sequence[str], train: Sequence[Question]) -> CorpusReader | None:
    """Make a reader of every common form of question; None if there is none."""
    if not train or not has_entries(corpus):
        return None
    candidates, names = AnswerCandidates(corpus), Names.of(corpus)
    forms = {form: asked for form, asked in by_form(train, names).items() if len(asked) >= FEWEST}
    lessons = [_FormLessons(form, asked, candidates) for form, asked in forms.items()]
    answers = {text: found for one in lessons for text, found in one.read_everything().items()}
    examined = [hit for one in lessons for hit in one.examine()]
    hits, n = sum(examined), len(examined)
    if not hits:
        return None
    accuracy = {"value": hits / n, "interval": list(wilson(hits, n)), "n": n, "folds": FOLDS}
    return CorpusReader(answers, accuracy)


class _FormLessons:
    """Questions of one form, and the reader that learns from them."""

    def __init__(self, form: QuestionForm, asked: Asked, candidates: AnswerCandidates) -> None:
        self.form, self.candidates = form, candidates
        order = rng(0, "reader").permutation(len(asked))[:MOST].tolist()
        self.asked: Asked = [asked[i] for i in order]

    def read_everything(self) -> dict[str, dict[str, float]]:
        """Return the likeliest answers about everybody."""
        reader, known = self._learn(self.asked)
        return {
            self.form.about(name): {
                answer: round(probability, DIGITS)
                for answer, probability in list(self._read(reader, name, known).items())[:KEPT]
            }
            for name in self.candidates.names
        }

    def examine(self) -> list[bool]:
        """Return which questions are answered right by a reader that learned from others.

        A question without candidates, or whose answer is not in the lines, counts as wrong.
        """
        asked, right = self.asked[:MOST_EXAMINED], list[bool]()
        for fold in range(FOLDS):
            reader, known = self._learn([one for i, one in enumerate(asked) if i % FOLDS != fold])
            for name, question in asked[fold::FOLDS]:
                best = next(iter(self._read(reader, name, known)), None)
                right.append(best == question.answer)
        return right

    def _learn(self, asked: Asked) -> tuple[Reader, Counter[str]]:
        known = Counter(str(question.answer) for _, question in asked)
        examples = []
        for name, question in asked:
            answer = str(question.answer)
            with _left_out(answer, known) as others:  # its own answer would give itself away
                about = list(self.candidates.about(name, self.form.cues, others))
            examples.append(Example(about, answer))
        return Reader.fit(examples), known

    def _read(self, reader: Reader, name: str, known: Counter[str]) -> dict[str, float]:
        return reader.probabilities(list(self.candidates.about(name, self.form.cues, known)))


@contextmanager
def _left_out(answer: str, counts: Counter[str]) -> Iterator[Counter[str]]:
    """Count an answer once less for a while; a copy of thousands for each question takes longer."""
    counts[answer] -= 1
    if not counts[answer]:
        del counts[answer]
    yield counts
    counts[answer] += 1
