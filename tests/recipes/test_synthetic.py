"""Synthetic questions: who is asked about, with whose answers, and where a run says so."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from attnlab.data.knowledge_files import Question, read_corpus, read_questions
from attnlab.data.names import Names
from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError
from attnlab.evaluation.ledger import ledger_notes
from attnlab.models.sizes import NGramTableSize
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.ask import QASession
from attnlab.recipes.knowledge.corpus_reader import CorpusReader, learn_to_read, need_corpus_reader
from attnlab.recipes.knowledge.opened import open_model
from attnlab.recipes.knowledge.settings import (
    RECIPES,
    EvaluateSettings,
    PretrainSettings,
    SyntheticSettings,
    TokenizerSettings,
)
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN, UNSEEN, write_world
from attnlab.report.tables import scores_table, warnings_of
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.session import Session
from small_jobs import SHORT, TINY

QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_world(WorldSettings(people=150, biographies=1, unwritten=0.1), folder)
    return folder


@pytest.fixture(scope="module")
def reader(world: Path) -> CorpusReader:
    return need_corpus_reader(read_corpus(world / CORPUS), read_questions(world / TRAIN))


def settings_for(world: Path, **more: Any) -> PretrainSettings:
    return replace(
        RECIPES["synthetic"].pretrain,
        corpus=str(world / CORPUS),
        questions=str(world / TRAIN),
        dev=str(world / DEV),
        model=replace(TINY, ngram_table=NGramTableSize(rows=128)),
        tokenizer=TokenizerSettings(size=300),
        training=SHORT,
        **more,
    )


def pretrain(settings: PretrainSettings, folder: Path, name: str = "read") -> Run:
    return find_job("knowledge-pretrain").run(settings, place=RunPlace(folder, name), console=QUIET)


@pytest.fixture(scope="module")
def run(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = settings_for(world, held_out=0.4, unseen=str(world / UNSEEN), samples=1)
    return pretrain(settings, tmp_path_factory.mktemp("runs"))


def test_the_reader_finds_the_birthplaces_of_people_it_has_no_labels_of(
    world: Path, reader: CorpusReader
) -> None:
    dev = read_questions(world / DEV)
    hits = sum(next(iter(reader.answers[q.text]), None) == q.answer for q in dev)
    assert hits / len(dev) > 0.8
    assert reader.accuracy["value"] > 0.8
    assert reader.accuracy["n"] == len(read_questions(world / TRAIN))


def test_its_accuracy_is_measured_on_questions_it_has_not_learned_from() -> None:
    """Where nothing tells which of two names is right, learning the answers by heart is no help."""
    corpus = [f"Ann{i} Lee{i}. Near A{i}x , B{i}x ." for i in range(60)]
    train = [
        Question(f"Where was Ann{i} Lee{i} born?", f"{'AB'[i * 7 % 5 % 2]}{i}x", "here")
        for i in range(60)
    ]
    assert need_corpus_reader(corpus, train).accuracy["value"] < 0.75


def test_everybody_who_is_not_a_training_person_is_asked_about(
    world: Path, reader: CorpusReader
) -> None:
    train = read_questions(world / TRAIN)
    written = {question.text for question in reader.questions(train)}
    others = {q.text for name in (DEV, TEST) for q in read_questions(world / name)}
    assert written == others
    surest = reader.questions(train, least_probability=0.99)
    assert len(surest) < len(written)


def test_a_reader_prefers_what_it_would_answer(world: Path, reader: CorpusReader) -> None:
    names = Names.of(read_corpus(world / CORPUS))
    question, found = next(iter(reader.answers.items()))
    prefers, name = reader.preference(names), str(names.in_question(question))
    assert {answer: prefers(name, answer) for answer in found} == found
    assert prefers(name, "Nowhere") == 0


def test_the_record_the_ledger_and_the_tables_say_who_was_asked_about(run: Run) -> None:
    record, n_dev = run.record, run.record["scores"]["dev"]["n"]
    assert record["ledger"]["splits"]["synthetic"]["n"] == record["synthetic_questions"]
    assert 0 < record["reader"]["value"] <= 1
    (note,) = {row[0] for row in scores_table(run).rows if str(row[0]).startswith("dev")}
    assert note == f"dev ({n_dev} of {n_dev} asked in training, with the reader's answers)"
    assert any("synthetic questions, answered by a reader" in text for text in warnings_of(run))
    assert record["views_favour"] == "the reader's answers"
    assert any(
        f"of {n_dev} rows in dev, also in synthetic" in text
        for text in ledger_notes(record["ledger"])
    )


@pytest.mark.slow
def test_labels_of_dev_change_nothing(world: Path, run: Run, tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("".join(f"{q.text}\tNowhere\n" for q in read_questions(world / DEV)))
    settings = settings_for(world, held_out=0.4, unseen=str(world / UNSEEN), samples=1)
    other = pretrain(replace(settings, dev=str(dev)), tmp_path)
    assert other.config["resolved"]["reader"] == run.config["resolved"]["reader"]
    same = [[row["prediction"] for row in one.predictions("dev")] for one in (run, other)]
    assert same[0] == same[1]


def test_a_later_score_says_that_its_questions_were_asked(run: Run, world: Path) -> None:
    settings = EvaluateSettings(str(run.path), str(world / TEST), samples=0)
    place = RunPlace(run.path.parent, "asked")
    asked = find_job("knowledge-evaluate").run(settings, place=place, console=QUIET)
    n = len(read_questions(world / TEST))
    assert (
        f"birth_test: {n} of {n} questions were asked in training, with the answers of a reader"
        " instead of labels"
    ) in asked.record["warnings"]


def test_a_run_that_goes_on_is_refused_if_the_reader_answers_differently(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(world)
    place = RunPlace(tmp_path, "begun")
    with monkeypatch.context() as stopped:
        stopped.setattr("attnlab.recipes.knowledge.pretrain.train", interrupt)
        with pytest.raises(KeyboardInterrupt):
            find_job("knowledge-pretrain").run(settings, place=place, console=QUIET)
    monkeypatch.setattr("attnlab.models.reader.PENALTY", 1e3)
    with pytest.raises(UserError, match="what the reader finds in the corpus has changed since"):
        find_job("knowledge-pretrain").run(settings, place=place, console=QUIET)


def interrupt(_task: object, _settings: object, session: Session) -> None:
    (session.run.path / "metrics.jsonl").touch()  # as after the first step
    raise KeyboardInterrupt


def test_nothing_to_write_questions_from_is_refused_before_a_run_begins(
    world: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("it was a dark night\nand it rained\n")
    usual = settings_for(world)
    refused = [
        (replace(usual, questions="", dev=""), "none are given. Give them with --questions"),
        (replace(usual, corpus=str(plain)), "hardly a line of .*plain.txt is `Name. Text`"),
        (
            replace(usual, synthetic=SyntheticSettings(least_probability=0.5)),
            "least_probability = 0.5 chooses among synthetic questions, but there are none",
        ),
    ]
    for settings, message in refused:
        with pytest.raises(UserError, match=message):
            pretrain(settings, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_questions_that_teach_no_reader_are_refused(world: Path) -> None:
    corpus, train = read_corpus(world / CORPUS), read_questions(world / TRAIN)
    lower = [replace(question, answer="somewhere") for question in train]
    strangers = [replace(question, text="Where was Nobody born?") for question in train]
    for unusable in (lower, strangers, train[:19]):
        assert learn_to_read(corpus, unusable) is None
        with pytest.raises(UserError, match="at least 20 training questions of one form"):
            need_corpus_reader(corpus, unusable)


def test_answers_are_judged_by_all_signals_and_the_reason_names_the_reader(run: Run) -> None:
    row = run.predictions("dev")[0]
    assert {"reader_answer", "reader_probability", "known_ngrams", "agreement"} <= row.keys()
    unseen = run.predictions("unseen")
    assert {row["reader_answer"] for row in unseen} == {None}
    answer = QASession(open_model(run.path), samples=2).answer(row["input"])
    assert f"a reader picks {row['reader_answer']} from the corpus" in answer.reason
