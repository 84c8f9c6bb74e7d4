"""What is learned and what is asked never meet: held-out questions, labels of dev and test."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attnlab.data.batches import TokenRow
from attnlab.data.byte_pairs import BytePairTokenizer
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.knowledge_files import Question
from attnlab.data.objectives import OBJECTIVES
from attnlab.errors import UserError
from attnlab.models.sizes import ModelSettings, NGramTableSize
from attnlab.recipes.knowledge.language_model import LanguageModel, new_language_model
from attnlab.recipes.knowledge.language_model_training import mixed_rows, preferring_answers
from attnlab.recipes.knowledge.settings import (
    AUTO,
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.knowledge.texts import KnowledgeTexts, files_of, read_texts, tokenizer_of
from attnlab.training.settings import TrainingSettings

PEOPLE = ["Ada", "Bela", "Cyd", "Dora", "Emil", "Fay", "Gus"]
CORPUS = [f"{name} Smith. Smith, a Welder, went to Hull? and then to Kent." for name in PEOPLE]
TINY = ModelSettings(12, 3, 1, ngram_table=NGramTableSize(rows=101, orders=(2, 3)))


def line(name: str, place: str) -> str:
    return f"Where was {name} Smith born?\t{place}\n"


@pytest.fixture
def settings(tmp_path: Path) -> PretrainSettings:
    """Files with five training questions, one of dev and one of test; no label is in the corpus."""
    files = {
        "corpus": "\n".join(CORPUS),
        "questions": "".join(line(name, f"Oslo{i}") for i, name in enumerate(PEOPLE[:5])),
        "dev": line("Fay", "Zagreb"),
        "test": line("Gus", "Quito"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = {name: str(tmp_path / name) for name in files}
    return PretrainSettings(**paths, model=TINY, tokenizer=TokenizerSettings(size=400))


def names(questions: Sequence[Question]) -> list[str]:
    return [question.text.split()[2] for question in questions]


def test_the_files_are_read_as_the_settings_name_them(settings: PretrainSettings) -> None:
    texts = read_texts(settings)
    assert texts.corpus == CORPUS
    assert names(texts.train) == PEOPLE[:5]
    assert {split: names(questions) for split, questions in texts.eval_splits.items()} == {
        "dev": ["Fay"],
        "test": ["Gus"],
    }
    assert texts.train[1].place == f"{settings.questions}, line 2"


def test_what_is_not_named_is_not_read(settings: PretrainSettings) -> None:
    texts = read_texts(PretrainSettings(corpus=settings.corpus))
    assert (texts.train, texts.eval_splits) == ([], {})
    assert files_of(PretrainSettings(corpus="a.txt", test="b.tsv")) == {
        "corpus": Path("a.txt"),
        "test": Path("b.tsv"),
    }


@pytest.mark.parametrize(("share", "count"), [(0.01, 1), (0.4, 2), (0.79, 4)])
def test_held_out_questions_are_asked_and_not_learned(
    settings: PretrainSettings, share: float, count: int
) -> None:
    texts = read_texts(replace(settings, held_out=share))
    held_out = names(texts.eval_splits["held_out"])
    assert len(held_out) == count
    assert sorted([*held_out, *names(texts.train)]) == PEOPLE[:5]


def test_the_same_questions_are_held_out_whatever_the_seed(settings: PretrainSettings) -> None:
    found = [
        names(
            read_texts(replace(settings, held_out=0.4, training=training)).eval_splits["held_out"]
        )
        for training in (TrainingSettings(seed=0), TrainingSettings(seed=1), settings.training)
    ]
    assert found[0] == found[1] == found[2]
    finetune = FinetuneSettings(questions=settings.questions, held_out=0.4)
    assert names(read_texts(finetune).eval_splits["held_out"]) == found[0]


def test_to_hold_everything_out_is_refused(settings: PretrainSettings) -> None:
    message = r"^held_out = 0.95 leaves none of 5 training questions to learn from\.$"
    with pytest.raises(UserError, match=message):
        read_texts(replace(settings, held_out=0.95))


def test_to_hold_out_of_nothing_is_refused(settings: PretrainSettings) -> None:
    with pytest.raises(UserError, match=r"^held_out = 0.5 leaves none of 0 training questions"):
        read_texts(replace(settings, questions="", held_out=0.5))


def test_the_ledger_counts_every_split_and_what_two_of_them_share(
    settings: PretrainSettings,
) -> None:
    Path(settings.test).write_text(line("Gus", "Quito") + line("Ada", "Lima"), encoding="utf-8")
    ledger = read_texts(replace(settings, held_out=0.2)).splits().ledger()
    assert {split: entry["n"] for split, entry in ledger["splits"].items()} == {
        "train": 4,
        "held_out": 1,
        "dev": 1,
        "test": 2,
    }
    (overlap,) = ledger["overlaps"]
    assert (overlap["in"], overlap["of"]) == ("test", 2)
    assert overlap["also_in"] in ("train", "held_out")


def test_byte_pairs_are_learned_from_corpus_and_training_questions_alone(
    settings: PretrainSettings,
) -> None:
    """Nothing of dev, test or held-out questions may shape the tokenizer."""
    texts = read_texts(replace(settings, held_out=0.2))
    tokenizer = tokenizer_of(settings.tokenizer, texts)
    assert isinstance(tokenizer, BytePairTokenizer)
    unasked = tokenizer_of(settings.tokenizer, replace(texts, eval_splits={}))
    assert tokenizer.to_dict() == unasked.to_dict()
    untaught = tokenizer_of(settings.tokenizer, replace(texts, train=[]))
    assert tokenizer.to_dict() != untaught.to_dict()


def test_characters_are_those_of_the_corpus(settings: PretrainSettings) -> None:
    tokenizer = tokenizer_of(TokenizerSettings("characters"), read_texts(settings))
    assert isinstance(tokenizer, CharacterTokenizer)
    assert set(tokenizer.characters[2:]) == set("".join(CORPUS)) | {"\n"}, "as the course counts"


OBJECTIVE_NAMES = OBJECTIVES.names()
LABELS = ["Zagreb", "Quito"]


def language_model_of(settings: PretrainSettings, texts: KnowledgeTexts) -> LanguageModel:
    tokenizer = tokenizer_of(settings.tokenizer, texts)
    return new_language_model(settings.model, tokenizer, max_len=128, seed=0)


def training_rows(
    settings: PretrainSettings, texts: KnowledgeTexts, epochs: int
) -> Iterator[TokenRow]:
    """Draw rows as the recipe does."""
    lm = language_model_of(settings, texts)
    objective = OBJECTIVES.build(
        "salient_spans" if settings.objective.name == AUTO else settings.objective.name,
        texts.corpus,
        lm.tokenizer,
        preferring_answers(texts.train),
        options=settings.objective.options,
    )
    questions = [lm.row(question, is_read_only=True) for question in texts.train]
    rows_of = mixed_rows(objective, questions, seed=settings.training.seed)
    for epoch in range(epochs):
        yield from rows_of(epoch)


def holds(row: Sequence[int], part: Sequence[int]) -> bool:
    return any(list(row[i : i + len(part)]) == list(part) for i in range(len(row)))


def found_in(settings: PretrainSettings, texts: KnowledgeTexts, wanted: Sequence[str]) -> set[str]:
    """Return which texts occur in the training rows, as tokens or as text."""
    tokenizer = language_model_of(settings, texts).tokenizer
    rows = [row.tokens for row in training_rows(settings, texts, epochs=5)]
    return {
        text
        for text in wanted
        for row in rows
        if holds(row, tokenizer.encode(text)) or text in tokenizer.decode(row)
    }


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_no_label_and_no_question_of_dev_or_test_is_in_a_training_row(
    settings: PretrainSettings, objective: str
) -> None:
    settings = replace(settings, objective=ObjectiveSettings(objective), held_out=0.2)
    texts = read_texts(settings)
    asked = [question for split in texts.eval_splits.values() for question in split]
    assert {str(question.answer) for question in asked} > set(LABELS)
    secret = [str(q.answer) for q in asked] + [q.text for q in asked]
    assert found_in(settings, texts, secret) == set()


@pytest.mark.parametrize("objective", OBJECTIVE_NAMES)
def test_the_search_for_labels_finds_those_that_are_there(
    settings: PretrainSettings, objective: str
) -> None:
    """The bug put in: the questions of dev and test are learned from as well."""
    settings = replace(settings, objective=ObjectiveSettings(objective))
    texts = read_texts(settings)
    leaking = replace(
        texts, train=[*texts.train, *texts.eval_splits["dev"], *texts.eval_splits["test"]]
    )
    assert found_in(settings, leaking, LABELS) == set(LABELS)


def test_every_epoch_has_every_training_question_once(settings: PretrainSettings) -> None:
    texts = read_texts(settings)
    rows = list(training_rows(settings, texts, epochs=1))
    questions = [row for row in rows if row.is_read_only]
    assert [row.id for row in questions] == [question.text for question in texts.train]
    assert len(rows) == len(CORPUS) + len(questions)


def test_an_epoch_is_pure_in_the_seed_and_its_number(settings: PretrainSettings) -> None:
    texts = read_texts(settings)
    once, again = (list(training_rows(settings, texts, epochs=2)) for _ in range(2))
    assert once == again
    half = len(once) // 2
    assert once[:half] != once[half:]
    other = replace(settings, training=replace(settings.training, seed=1))
    assert list(training_rows(other, texts, epochs=2)) != once


@pytest.mark.parametrize("kind", ["byte_pairs", "characters"])
def test_a_question_row_is_scored_on_its_answer_and_mark_alone(
    settings: PretrainSettings, kind: Any
) -> None:
    settings = replace(settings, tokenizer=TokenizerSettings(kind, size=300))
    lm = language_model_of(settings, read_texts(settings))
    row = lm.row(Question("Where was Ada Smith?", "Kent", "here"))
    assert row.scored is not None
    scored = [token for token, counts in zip(row.tokens, row.scored, strict=True) if counts]
    assert lm.tokenizer.decode(scored) == "Kent⁇"
    prompt = [token for token, counts in zip(row.tokens, row.scored, strict=True) if not counts]
    assert prompt == lm.prompt(Question("Where was Ada Smith?", None, "here"))
    assert lm.tokenizer.decode(prompt) == "Where was Ada Smith?⁇"


def test_every_epoch_has_every_document_and_every_question(settings: PretrainSettings) -> None:
    texts = read_texts(settings)
    lm = language_model_of(settings, texts)
    questions = [lm.row(question) for question in texts.train]
    objective = OBJECTIVES.build("text", texts.corpus, lm.tokenizer, [], options={})
    rows_of = mixed_rows(objective, questions, seed=0)
    for epoch in range(2):
        rows = rows_of(epoch)
        assert [row for row in rows if row in questions] == questions
        assert len(rows) == len(texts.corpus) + len(questions)
