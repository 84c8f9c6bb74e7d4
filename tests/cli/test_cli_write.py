"""``attnlab knowledge write``, and plain text as a user meets it: results, pipes, mistakes."""

import json
import sys
from pathlib import Path

import pytest
from command_line import Attnlab, flowing
from knowledge_files import PRETRAIN, TINY, make_world

from attnlab.cli import write as module
from attnlab.recipes.knowledge.opened import open_model
from attnlab.recipes.knowledge.write import WritingSession
from attnlab.recipes.knowledge.write_settings import WriteSettings
from attnlab.runs.directory import Run

pytestmark = [pytest.mark.precision, pytest.mark.usefixtures("short_answers")]

PROSE = "".join(f"the {i}th wave came up the shore and\nwent, as waves do.\n\n" for i in range(40))
WRITE = ["knowledge", "write", "waves"]


def go(attnlab: Attnlab, *words: str) -> str:
    done = attnlab(*words)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def waves(attnlab: Attnlab, tmp_path: Path) -> str:
    """Train on prose; return what the command printed."""
    (tmp_path / "prose.txt").write_text(PROSE, encoding="utf-8")
    return go(attnlab, "knowledge", "pretrain", "prose.txt", "--name", "waves", *TINY)


def test_plain_text_ends_with_a_perplexity_that_other_commands_show(
    attnlab: Attnlab, waves: str
) -> None:
    assert "held_out_text  perplexity" in waves
    assert "(token frequencies)" in waves
    assert "bits per character" in waves
    assert "test: none" in waves
    settings = Run.open(Path("runs/waves")).config["settings"]
    assert settings["objective"]["name"] == "running_text", "the recipe text was chosen"
    assert "bits per character" in go(attnlab, "runs", "show", "waves")
    go(attnlab, "knowledge", "pretrain", "prose.txt", "--name", "other", *TINY, "--seed", "1",
       "--attention", "sliding_window")  # fmt: skip
    assert "perplexity on held_out_text" in go(attnlab, "runs", "compare", "waves", "other")
    page = go(attnlab, "runs", "report", "waves").strip().splitlines()[-1]
    assert "bits per character" in Path(page).read_text(encoding="utf-8")


@pytest.mark.usefixtures("waves")
def test_writing_goes_on_from_the_prompt_and_a_pipe_gets_the_text_alone(attnlab: Attnlab) -> None:
    done = attnlab(*WRITE, "the wave", "--tokens", "15")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("the wave")
    assert len(done.out) > len("the wave\n")
    assert attnlab("knowledge", "write", "runs/waves", "the wave", "--tokens", "15") == done
    three = attnlab(*WRITE, "the wave", "--tokens", "15", "--samples", "3")
    assert three.err == "sample 1 of 3:\nsample 2 of 3:\nsample 3 of 3:\n"
    assert three.out.startswith(done.out), "a sample does not depend on their number"
    assert attnlab(*WRITE, "the wave", "--tokens", "15", "--seed", "1").out != done.out


@pytest.mark.usefixtures("waves")
def test_json_has_every_sample_on_a_line(attnlab: Attnlab) -> None:
    words = [*WRITE, "the", "--tokens", "9", "--samples", "2", "--top-k", "40", "--top-p", "0.9"]
    lines = [json.loads(line) for line in go(attnlab, *words, "--json").splitlines()]
    assert [line.keys() for line in lines] == [
        {"prompt", "sample", "text", "tokens", "ended", "warnings"} for _ in range(2)
    ]
    plain = go(attnlab, *words)
    assert plain == "\n".join(f"the{line['text']}\n" for line in lines)


@pytest.mark.usefixtures("waves")
def test_greedy_texts_are_all_the_same(attnlab: Attnlab) -> None:
    words = [*WRITE, "the", "--tokens", "9", "--temperature", "0", "--samples", "2", "--json"]
    first, second = map(json.loads, go(attnlab, *words).splitlines())
    assert first["text"] == second["text"]


@pytest.mark.usefixtures("waves")
def test_every_piece_is_shown_at_once_and_together_they_are_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = WritingSession(open_model(Path("runs/waves")))
    settings = WriteSettings(tokens=12)
    pieces: list[str] = []
    streamed = session.write("the wave", settings, show=pieces.append)
    assert len(pieces) > 5
    assert "".join(pieces) == "the wave" + streamed.text
    assert session.write("the wave", settings) == streamed

    class Stream:
        text, flushed = "", ""

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None:
            self.flushed = self.text

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    module._put("wave")
    assert stream.flushed == "wave", "not kept back until a line ends"


def test_a_model_of_entries_writes_as_well(attnlab: Attnlab, tmp_path: Path) -> None:
    make_world(tmp_path)
    go(attnlab, *PRETRAIN, "--name", "waves")
    go(attnlab, "knowledge", "finetune", "world/birth_places_train.tsv", "--start", "runs/waves",
       "--length", "1 step", "--name", "tuned")  # fmt: skip
    for run in ("waves", "tuned"):
        out = go(attnlab, "knowledge", "write", run, "Where was", "--tokens", "5")
        assert out.startswith("Where was")


BAD = {
    "temperature": (["--temperature", "-1"], "--temperature -1.0: temperature = -1.0 is not"),
    "top_k": (["--top-k", "0"], "--top-k 0: top_k = 0 is not possible: input should be greater"),
    "top_p zero": (["--top-p", "0"], "--top-p 0.0: top_p = 0.0 is not possible"),
    "top_p large": (["--top-p", "1.1"], "--top-p 1.1: top_p = 1.1 is not possible"),
    "samples": (["--samples", "0"], "--samples 0: samples = 0 is not possible"),
    "tokens": (["--tokens", "0"], "--tokens 0: tokens = 0 is not possible"),
    "seed": (["--seed", "-1"], "--seed -1: seed = -1 is not possible"),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_impossible_option_is_reported_before_the_run_is_looked_for(
    attnlab: Attnlab, kind: str
) -> None:
    words, message = BAD[kind]
    done = attnlab("knowledge", "write", "nowhere", "the", *words)
    assert (done.code, done.out) == (2, "")
    assert flowing(done.err).startswith(f"attnlab: {message}")


def test_an_empty_or_reserved_prompt_is_reported_before_the_run_is_looked_for(
    attnlab: Attnlab,
) -> None:
    done = attnlab("knowledge", "write", "nowhere", "")
    assert done.err == ("attnlab: the prompt is empty: give the beginning of a text to continue.\n")
    done = attnlab("knowledge", "write", "nowhere", "a □")
    assert done.err == "attnlab: the prompt contains the reserved character '□'. Remove it.\n"


def test_a_run_that_is_not_there_or_has_no_model_is_reported(attnlab: Attnlab) -> None:
    done = attnlab("knowledge", "write", "nowhere", "the")
    assert done.code == 2
    assert "nowhere" in done.err


def test_a_character_that_the_model_does_not_know_is_reported(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    (tmp_path / "prose.txt").write_text(PROSE, encoding="utf-8")
    go(attnlab, "knowledge", "pretrain", "prose.txt", "--name", "waves", *TINY,
       "--set", "tokenizer.kind=characters")  # fmt: skip
    done = attnlab(*WRITE, "the ß")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("attnlab: the character 'ß' of 'the ß' is not in the tokenizer")
