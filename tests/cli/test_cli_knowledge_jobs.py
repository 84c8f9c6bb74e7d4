"""``attnlab knowledge pretrain``, ``finetune`` and ``evaluate``, and every bad file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import flowing
from knowledge_files import ASKED, DEV, PRETRAIN, TEST, TINY, TRAIN, everything, make_world

from attnlab.checks.leakage import Leak, model_leak
from attnlab.data.knowledge_files import read_questions
from attnlab.errors import StoppedError
from attnlab.recipes.knowledge import language_model
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.step import Stepper

pytestmark = [pytest.mark.precision, pytest.mark.usefixtures("short_answers")]

Attnlab = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]

FINETUNE = ["knowledge", "finetune", TRAIN]
EVALUATE = ["knowledge", "evaluate"]
COURSE = [
    *("--recipe", "course", "--length", "2 steps", "--set", "training.threads=1"),
    *("--set", "model={d_model: 12, n_heads: 3, n_layers: 1}"),
]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    make_world(tmp_path)
    return tmp_path / "world"


def go(attnlab: Attnlab, *words: str) -> str:
    code, out, err = attnlab(*words)
    assert code == 0, err
    return out


@pytest.mark.usefixtures("world")
def test_both_leak_measurements_of_a_run_have_a_limit(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[float] = []

    def noted(*given: Any, seconds: float) -> Leak:
        allowed.append(seconds)
        return model_leak(*given, seconds=seconds)

    monkeypatch.setattr(language_model, "model_leak", noted)
    go(attnlab, *PRETRAIN, "--name", "read")
    assert allowed == [0.5, 0.5]
    leak = Run.open(Path("runs/read")).record["leak"]
    assert 0 < leak["cuts"] <= leak["possible_cuts"]


def test_a_model_is_pretrained_finetuned_and_asked(attnlab: Attnlab, world: Path) -> None:
    go(attnlab, *PRETRAIN, "--name", "read", "--held-out", "0.4")
    read = Run.open(Path("runs/read"))
    assert {split: score["n"] for split, score in read.record["scores"].items()} == {
        "held_out": 2,
        "dev": 2,
        "test": 2,
    }
    splits = read.record["ledger"]["splits"]
    assert {name: split["n"] for name, split in splits.items()} == {
        "train": 4,
        "held_out": 2,
        "dev": 2,
        "test": 2,
    }
    assert read.record["best_step"] is None, "held-out people choose a step with patience only"
    assert read.config["resolved"]["data"].keys() == {"corpus", "questions", "dev", "test"}

    out = go(attnlab, *FINETUNE, "--start", "runs/read", "--test", TEST, "--length", "1 step")
    assert "Where was" in out
    tuned = Run.open(Path(out.splitlines()[-1]))
    assert tuned.record["scores"].keys() == {"test"}
    assert tuned.record["best_step"] is None
    models = [json.loads((run.path / "language_model.json").read_text()) for run in (read, tuned)]
    assert models[0] == models[1], "finetuning keeps the pretrained model's size and tokenizer"
    again = go(attnlab, *FINETUNE, "--start", "runs/read", "--test", TEST, "--length", "1 step")
    assert again == out

    out = go(attnlab, *EVALUATE, str(tuned.path), TEST, "--outputs", "answers.txt")
    assert "accuracy" in out
    evaluated = Run.open(Path(out.splitlines()[-1]))
    assert evaluated.record["scores"]["birth_test"]["n"] == 2
    assert evaluated.record["resolved"]["data"].keys() == {"test", "run"}
    asked = evaluated.predictions("birth_test")
    assert Path("answers.txt").read_text().splitlines() == [row["prediction"] for row in asked]
    same = ("input", "gold", "prediction")
    assert [[row[key] for key in same] for row in asked] == [
        [row[key] for key in same] for row in tuned.predictions("test")
    ]

    assert "were trained on" not in out
    out = go(attnlab, *EVALUATE, str(tuned.path), TRAIN, "--name", "known")
    n = len(read_questions(Path(TRAIN)))
    warning = f"birth_places_train: {n} of {n} rows were trained on: this is not a test score"
    assert warning in flowing(out)
    assert Run.open(Path("runs/known")).record["warnings"] == [warning]

    inputs = str(world / "birth_test_inputs.tsv")
    out = go(attnlab, *EVALUATE, str(tuned.path), inputs, "--name", "blind")
    assert "accuracy" not in out
    assert "wrong" not in out
    blind = Run.open(Path("runs/blind"))
    assert blind.record["scores"] == {}
    assert [
        (row["input"], row["prediction"]) for row in blind.predictions("birth_test_inputs")
    ] == [(row["input"], row["prediction"]) for row in asked]
    assert all(
        "gold" not in row and "loss" not in row for row in blind.predictions("birth_test_inputs")
    )


@pytest.mark.usefixtures("world")
def test_a_model_that_was_not_pretrained_learns_from_the_questions_alone(attnlab: Attnlab) -> None:
    go(attnlab, *FINETUNE, "--corpus", "world/wiki.txt", *ASKED, *TINY, "--name", "alone")
    record = Run.open(Path("runs/alone")).record
    assert record["scores"].keys() == {"dev", "test"}
    assert record["tokens"] > 0


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("objective", ["span_corruption", "text"])
def test_a_corpus_is_read_by_other_objectives_and_without_questions(
    attnlab: Attnlab, objective: str
) -> None:
    words = ["knowledge", "pretrain", "world/wiki.txt", *TINY, "--name", "read"]
    out = go(attnlab, *words, "--set", f"objective.name={objective}")
    assert out == "runs/read\n"
    record = Run.open(Path("runs/read")).record
    assert record["scores"] == {}


def test_the_courses_recipe_reads_characters(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "wiki.txt").write_text("Where was Ada born? Ada. Ada was born in Oslo.\n" * 3)
    (tmp_path / "dev.tsv").write_text("Where was Ada born?\tOslo\n")
    words = ["knowledge", "pretrain", "wiki.txt", "--dev", "dev.tsv", *COURSE, "--name", "read"]
    go(attnlab, *words)
    saved = json.loads((tmp_path / "runs/read/language_model.json").read_text())
    assert saved["tokenizer"]["characters"][:2] == ["□", "⁇"]
    assert saved["max_len"] == 128


@pytest.fixture
def refused(tmp_path: Path, attnlab: Attnlab) -> Refused:
    """Return what runs a command that must fail and change nothing, and returns its message."""

    def run(*words: str) -> str:
        Run.begin("job", {}, RunPlace(tmp_path / "runs", "older"))
        before = everything(tmp_path)
        code, out, err = attnlab(*words)
        assert (code, out) == (2, ""), err
        assert err.splitlines()[-1].startswith("attnlab: ")
        assert len(err.splitlines()) <= 2
        assert everything(tmp_path) == before
        return err

    return run


LONG = f"Where was {' '.join(map(str, range(130)))} born?\tOslo\n"
BAD_FILES = {
    "no tab in the training questions": (
        ["--questions", "bad"], "Where?\tOslo\nWho?\n",
        "bad, line 2: 'Who?' must be a question, a tab and an answer.",
    ),
    "no tab in dev": (
        ["--dev", "bad"], "\nWhere was she born?\n",
        "bad, line 2: 'Where was she born?' must be a question, a tab and an answer.",
    ),
    "no tab in test": (
        ["--test", "bad"], "Where?\tOslo\n\nWho?\n",
        "bad, line 3: 'Who?' must be a question, a tab and an answer.",
    ),
    "empty questions": (["--questions", "bad"], "\n", "bad is empty: there is no question in it."),
    "empty dev": (["--dev", "bad"], "", "bad is empty: there is no question in it."),
    "empty corpus": (
        ["--set", "corpus=bad"], " \n\n", "bad is empty: there is no text to learn from.",
    ),
    "reserved character": (
        ["--set", "corpus=bad"], "Ada. Born in Oslo.\nBela. Born⁇ in Lima.\n",
        "bad, line 2: the text contains the reserved character '⁇'. Remove it.",
    ),
    "no names": (
        ["--set", "corpus=bad", "--set", "objective.name=salient_spans"],
        "nothing is capital here.\n",
        "the corpus has no names to learn: salient_spans takes a corpus of lines `Name. Text`",
    ),
    "no text": (["--set", "corpus=bad"], b"\xff\xfe", "bad, line 1: the bytes ff fe at offset 0"),
    "long training question": (
        ["--questions", "bad"], f"Where?\tOslo\n{LONG}",
        " tokens, but the model has room for 108 before the answer. Ask a shorter question.",
    ),
    "long dev question": (["--dev", "bad"], LONG, "bad, line 1: 'Where was 0 1 2"),
    "long test question": (["--test", "bad"], LONG, "bad, line 1: 'Where was 0 1 2"),
}  # fmt: skip


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_cannot_be_used_is_told_with_its_line_and_changes_nothing(
    refused: Refused, tmp_path: Path, kind: str
) -> None:
    words, content, message = BAD_FILES[kind]
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "bad").write_bytes(raw)
    assert message in refused(*PRETRAIN, *words)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("option", ["--questions", "--dev", "--test", "--set=corpus"])
def test_a_missing_file_is_told_and_changes_nothing(refused: Refused, option: str) -> None:
    words = ["--set", "corpus=gone"] if option == "--set=corpus" else [option, "gone"]
    assert "/gone." in refused(*PRETRAIN, *words)


@pytest.mark.parametrize("option", ["--questions", "--dev", "--test"])
def test_a_character_that_the_corpus_has_not_is_told_with_its_line(
    refused: Refused, tmp_path: Path, option: str
) -> None:
    (tmp_path / "wiki.txt").write_text("Where was Ada born? In Oslo.\n")
    (tmp_path / "bad").write_text("Where was Ada born?\tOslo\nWhere was Zed born?\tOslo\n")
    words = ["knowledge", "pretrain", "wiki.txt", *COURSE, option, "bad"]
    err = refused(*words)
    assert "bad, line 2: the character 'Z' of 'Where was Zed born?' is not in the tokenizer" in err


@pytest.mark.parametrize("option", ["--questions", "--dev"])
def test_an_answer_that_has_no_room_is_told_with_its_line(
    refused: Refused, tmp_path: Path, option: str
) -> None:
    (tmp_path / "wiki.txt").write_text("Where was Ada born? In Oslo.\n")
    (tmp_path / "bad").write_text(f"Where?\tOslo\nWhere?\t{'Oslo' * 40}\n")
    words = ["knowledge", "pretrain", "wiki.txt", *COURSE, option, "bad"]
    assert "bad, line 2" in refused(*words)


FINETUNE_MISTAKES = {
    "nothing to do": (["knowledge", "finetune"], "there is nothing to do: give training questions"),
    "no tokenizer": (FINETUNE, "a model that was not pretrained needs --corpus, which its"),
    "no such start": ([*FINETUNE, "--start", "runs/none"], "there is no run 'none' in "),
    "a start that is no run": (
        [*FINETUNE, "--start", "world"], "world is not a run directory: it has no config.json."
    ),
    "a start that is not finished": (
        [*FINETUNE, "--start", "runs/older"],
        "runs/older is not a finished run of knowledge pretrain or finetune, so it has no model",
    ),
    "unknown recipe": ([*FINETUNE, "--recipe", "best"], "no recipe is called 'best'. Known:"),
    "missing questions": (["knowledge", "finetune", "gone"], "/gone."),
    "no corpus": (["knowledge", "pretrain"], "there is nothing to do: give a corpus to read"),
    "asked of no run": ([*EVALUATE, "runs/none", TEST], "there is no run 'none' in "),
    "asked of an unfinished run": (
        [*EVALUATE, "runs/older", TEST], "runs/older is not a finished run of knowledge pretrain"
    ),
}  # fmt: skip


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("mistake", FINETUNE_MISTAKES)
def test_a_mistake_in_what_is_finetuned_or_asked_changes_nothing(
    refused: Refused, mistake: str
) -> None:
    words, message = FINETUNE_MISTAKES[mistake]
    assert message in refused(*words)


@pytest.mark.usefixtures("world")
def test_bad_questions_to_a_finished_run_change_nothing(
    attnlab: Attnlab, refused: Refused, tmp_path: Path
) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    for content, message in {
        "": "bad is empty: there is no question in it.",
        "Where?\tOslo\nWho?\n": "bad, line 2: 'Who?' must be a question, a tab and an answer.",
        LONG: "bad, line 1: 'Where was 0 1 2",
    }.items():
        (tmp_path / "bad").write_text(content)
        assert message in refused(*EVALUATE, "runs/read", "bad")
    missing = refused(*EVALUATE, "runs/read", "gone")
    assert "/gone." in missing


def stop_at_the_second_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next run end as if a signal had come during its second step."""
    take = Stepper.take

    def wrapped(stepper: Stepper, step: int, **options: object) -> object:
        if step == 2:
            raise StoppedError("stopped", signal_number=15)
        return take(stepper, step, **options)

    monkeypatch.setattr(Stepper, "take", wrapped)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("changed", ["world/wiki.txt", TRAIN, DEV, TEST])
def test_a_run_does_not_go_on_with_other_data(
    attnlab: Attnlab,
    refused: Refused,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
) -> None:
    words = [*PRETRAIN, "--name", "cut", "--set", "training.save_every=1"]
    with monkeypatch.context() as stopping:
        stop_at_the_second_step(stopping)
        assert attnlab(*words).code == 128 + 15
    original = (tmp_path / changed).read_bytes()
    (tmp_path / changed).write_bytes(original.replace(b"Where", b"When").replace(b". ", b".  ", 1))
    err = refused(*words)
    assert f"{changed} has changed since cut was begun, so the run cannot resume" in err
    (tmp_path / changed).write_bytes(original)
    code, _, err = attnlab(*words)
    assert code == 0, err
    assert "resumed at step 1 of 2" in err


@pytest.mark.usefixtures("world")
def test_finetuning_does_not_go_on_from_another_start(
    attnlab: Attnlab, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    words = [*FINETUNE, "--start", "runs/read", "--length", "2 steps", "--name", "cut"]
    with monkeypatch.context() as stopping:
        stop_at_the_second_step(stopping)
        assert attnlab(*words, "--set", "training.save_every=1").code == 128 + 15
    record = tmp_path / "runs" / "read" / "record.json"
    record.write_text(record.read_text().replace('"steps": 2', '"steps":  2'))
    err = refused(*words, "--set", "training.save_every=1")
    assert "runs/read/record.json is not what the run wrote" in err


@pytest.mark.usefixtures("world")
def test_questions_that_changed_are_asked_anew_or_refused(attnlab: Attnlab, tmp_path: Path) -> None:
    """The old answers under the new questions would be wrong without a word."""
    go(attnlab, *PRETRAIN, "--name", "read")
    (tmp_path / "asked").write_text("Where was Ada born?\nWhere was Bela born?\n")
    go(attnlab, *EVALUATE, "runs/read", "asked", "--outputs", "answers.txt")
    (tmp_path / "asked").write_text("Where was Cyd born?\n")
    code, _, err = attnlab(*EVALUATE, "runs/read", "asked", "--outputs", "answers.txt")
    if code == 0:
        answers = (tmp_path / "answers.txt").read_text()
        assert len(answers.splitlines()) == len(read_questions(tmp_path / "asked"))
    else:
        assert code == 2
        assert "has changed since" in err


@pytest.mark.usefixtures("world")
def test_answers_stand_one_a_line_whatever_the_model_says(
    attnlab: Attnlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    monkeypatch.setattr("attnlab.data.byte_pairs.BytePairTokenizer.decode", lambda *_: "New\nYork")
    go(attnlab, *EVALUATE, "runs/read", TEST, "--outputs", "answers.txt")
    assert len((tmp_path / "answers.txt").read_text().splitlines()) == 2


@pytest.mark.usefixtures("world")
def test_finetuning_may_read_the_corpus_again(attnlab: Attnlab, tmp_path: Path) -> None:
    go(attnlab, *PRETRAIN, "--name", "read")
    words = [*FINETUNE, "--start", "runs/read", "--length", "1 epoch", "--name"]
    replay = ["--set", "replay.name=text"]
    go(attnlab, *words, "alone")
    go(attnlab, *words, "replayed", *replay)
    tokens = {n: Run.open(Path("runs") / n).record["tokens"] for n in ("alone", "replayed")}
    assert tokens["replayed"] > 2 * tokens["alone"]
    (tmp_path / "world" / "wiki.txt").unlink()
    code, _, err = attnlab(*words, "again", *replay)
    assert code == 2
    assert "/runs/read again, but its file is gone or changed." in err


@pytest.mark.usefixtures("world")
def test_a_finished_run_is_not_shown_as_that_of_other_files(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    words = [*PRETRAIN, "--name", "read"]
    go(attnlab, *words)
    path = tmp_path / TRAIN
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[1:]), encoding="utf-8")
    code, _, err = attnlab(*words)
    assert code == 2
    assert f"{TRAIN} has changed since read was begun" in err
    path.unlink()
    go(attnlab, *words)  # what is gone has not become something else


@pytest.mark.usefixtures("world")
def test_people_are_held_out_only_if_the_start_has_not_learned_them(attnlab: Attnlab) -> None:
    go(attnlab, *PRETRAIN, "--name", "all")
    go(attnlab, *PRETRAIN, "--name", "some", "--held-out", "0.4")
    words = [*FINETUNE, "--length", "1 step", "--held-out", "0.4", "--start"]
    code, _, err = attnlab(*words, "runs/all")
    assert code == 2
    assert "/runs/all may have been trained on" in err
    go(attnlab, *words, "runs/some")


@pytest.mark.usefixtures("world")
def test_a_model_that_was_only_finetuned_has_read_about_nobody(attnlab: Attnlab) -> None:
    model = ["--set", "model={d_model: 12, n_heads: 3, n_layers: 1}", "--length", "1 step"]
    corpus = ["--corpus", "world/wiki.txt", "--set", "tokenizer.size=300"]
    go(attnlab, *FINETUNE, *corpus, *model, "--test", TEST, "--name", "alone")
    assert all("was_read" not in row for row in Run.open(Path("runs/alone")).predictions("test"))
    out = go(attnlab, *EVALUATE, "runs/alone", TEST, "--samples", "0")
    evaluated = Run.open(Path(out.splitlines()[-1]))
    assert all("was_read" not in row for row in evaluated.predictions("birth_test"))
