"""The input of the knowledge lab: a corpus, training questions, evaluation questions."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attnlab.data.byte_pairs import BytePairTokenizer
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.knowledge_files import Question, read_corpus, read_questions
from attnlab.data.tokenizer import Tokenizer
from attnlab.errors import UserError
from attnlab.evaluation.held_out_text import SPLIT as HELD_OUT_TEXT
from attnlab.phases import phase
from attnlab.randomness import rng
from attnlab.recipes.closing import Splits
from attnlab.recipes.files import need
from attnlab.recipes.knowledge.corpus_reader import CorpusReader
from attnlab.recipes.knowledge.running_text import (
    RUNNING_TEXT,
    choose_objective,
    running_text_parts,
)
from attnlab.recipes.knowledge.settings import (
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.seen_rows import SYNTHETIC
from attnlab.runs.files import to_json
from attnlab.training.session import Session

FILES = ("corpus", "questions", "dev", "test", "unseen")
LINE_END, QUESTION_MARK = "\n", "?"
"""A corpus may do without the second, the questions that come later do not."""


@dataclass(frozen=True)
class KnowledgeTexts:
    """All that is read from files; the evaluation splits are never trained on."""

    corpus: Sequence[str]
    train: Sequence[Question]
    eval_splits: Mapping[str, Sequence[Question]]
    """By split: held_out, dev, test, unseen."""
    synthetic: Sequence[Question] = ()
    """Questions with a reader's answers, which are trained on as well."""
    reader: CorpusReader | None = None
    """What has read the corpus, if something has."""
    reader_seconds: float = 0.0
    """How long that took: learning, reading the corpus, being examined."""
    views_favour_reader: bool = False
    """Whether views of the corpus favour what it picks."""
    held_out_text: str | None = None
    """The end of a running text, which may be empty; None for a corpus of documents."""
    has_lost_corpus: bool = False
    """Whether the model to start from has read something that is not known any more."""

    def splits(self, windows: Sequence[str] = ()) -> Splits:
        """Return the rows that the ledger compares; splits without any are left out.

        ``windows`` are those of the held-out text: rows like the others, without an answer.
        """
        text = [Question(window, None, "held-out text") for window in windows]
        learned = {"train": self.train, SYNTHETIC: self.synthetic}
        return question_splits({**learned, **self.eval_splits, HELD_OUT_TEXT: text})


def question_splits(splits: Mapping[str, Sequence[Question]]) -> Splits:
    """Return questions as the ledger compares them."""
    rows = {
        name: [{"question": q.text, "answer": q.answer or ""} for q in questions]
        for name, questions in splits.items()
        if questions
    }
    return Splits(rows, inputs=["question"])


def files_of(settings: PretrainSettings | FinetuneSettings) -> dict[str, Path]:
    """Return the files that the settings name; refuse to begin without what is learned from."""
    if isinstance(settings, PretrainSettings):
        need(settings.corpus, "a corpus to read: attnlab knowledge pretrain CORPUS")
    else:
        need(settings.questions, "training questions: attnlab knowledge finetune QUESTIONS")
    return {name: Path(path) for name in FILES if (path := getattr(settings, name))}


def read_texts(settings: PretrainSettings | FinetuneSettings) -> KnowledgeTexts:
    """Read the files that the settings name, and hold out what they say."""
    given = files_of(settings)
    corpus = read_corpus(given["corpus"]) if "corpus" in given else []
    train = read_questions(given["questions"], labelled=True) if "questions" in given else []
    asked: dict[str, Sequence[Question]] = {}
    if settings.held_out:
        train, asked["held_out"] = _hold_out(train, settings.held_out)
    if "dev" in given:
        asked["dev"] = read_questions(given["dev"], labelled=True)
    for split in ("test", "unseen"):
        if split in given:
            asked[split] = read_questions(given[split])
    return KnowledgeTexts(corpus, train, asked)


def read_pretraining(
    settings: PretrainSettings, session: Session
) -> tuple[KnowledgeTexts, ObjectiveSettings]:
    """Decide what is learned from the corpus, and read the files accordingly."""
    chosen, texts = choose_objective(settings, session), read_texts(settings)
    if chosen.name == RUNNING_TEXT:
        learned, held_out = running_text_parts(Path(settings.corpus), settings.text_held_out)
        texts = replace(texts, corpus=learned, held_out_text=held_out)
    return texts, chosen


def learn_tokenizer(
    settings: TokenizerSettings, texts: KnowledgeTexts, session: Session
) -> Tokenizer:
    """Make the tokenizer of a corpus; byte pairs also look at the training questions.

    A run does not resume with a library version that learns another tokenizer.
    """
    tokenizer = tokenizer_of(settings, texts)
    digest = hashlib.sha256(to_json(tokenizer.to_dict())).hexdigest()
    session.insist("tokenizer", digest, what="the tokenizer")
    return tokenizer


@phase("learning the tokenizer")
def tokenizer_of(settings: TokenizerSettings, texts: KnowledgeTexts) -> Tokenizer:
    """Make the tokenizer of a corpus."""
    if settings.kind == "characters":
        return characters_of([*texts.corpus, texts.held_out_text or ""])
    pieces = [part for q in texts.train for part in (q.text, q.answer or "")]
    if texts.held_out_text is None:
        return BytePairTokenizer.of([*texts.corpus, *pieces], size=settings.size)
    text = LINE_END.join(texts.corpus)
    return BytePairTokenizer.of([text, *pieces], size=settings.size, adds_space=False)


def characters_of(corpus: Sequence[str]) -> Tokenizer:
    """Collect the characters of a corpus; the course counts the end of a line among them."""
    return CharacterTokenizer.of([*corpus, LINE_END, QUESTION_MARK])


def _hold_out(questions: list[Question], share: float) -> tuple[list[Question], list[Question]]:
    """Set a share of the questions aside, always the same ones, whatever a run's seed."""
    count = max(1, round(share * len(questions)))
    if count >= len(questions):
        raise UserError(
            f"held_out = {share} leaves none of {len(questions)} training questions to learn from."
        )
    aside = set(rng(0, "held out").permutation(len(questions))[:count].tolist())
    learned = [q for i, q in enumerate(questions) if i not in aside]
    return learned, [questions[i] for i in sorted(aside)]
