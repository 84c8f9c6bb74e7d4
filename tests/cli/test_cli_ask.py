"""``attnlab knowledge ask``, and the doubts in ``evaluate``: verdicts, figures, mistakes."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from knowledge_files import PRETRAIN, TEST, TRAIN

from attnlab.data.settings import WorldSettings
from attnlab.models.course_format import write_params
from attnlab.models.gpt import GPT
from attnlab.models.sizes import SIZES
from attnlab.recipes.knowledge.texts import characters_of
from attnlab.recipes.knowledge.world import write_world
from attnlab.runs.directory import Run

pytestmark = pytest.mark.precision

Attnlab = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.usefixtures("short_answers")

ASK = ["knowledge", "ask", "runs/read"]
UNSEEN = "world/birth_unseen.tsv"


@pytest.fixture
def question(tmp_path: Path) -> str:
    """Make a world with an unseen person; return what is asked about somebody in it."""
    write_world(WorldSettings(people=12, biographies=2, unwritten=0.1), tmp_path / "world")
    line = (tmp_path / TEST).read_text(encoding="utf-8").splitlines()[0]
    return line.split("\t")[0]


def go(attnlab: Attnlab, *words: str) -> str:
    code, out, err = attnlab(*words)
    assert code == 0, err
    return out


def read(attnlab: Attnlab, *more: str) -> None:
    go(attnlab, *PRETRAIN, "--name", "read", *more)


def test_an_answer_comes_with_what_it_is_worth(
    attnlab: Attnlab, question: str, tmp_path: Path
) -> None:
    read(attnlab, "--held-out", "0.4", "--unseen", UNSEEN, "--set", "samples=3")
    record = Run.open(Path("runs/read")).record
    assert record["confidence"]["thresholds"]["chosen_on"] == 3
    assert {"unseen", "test", "dev"} <= record["scores"].keys()
    assert record["confidence"]["name_parts"] == {}, "one name alone has no other parts"
    (row,) = Run.open(Path("runs/read")).predictions("unseen")
    assert row["was_read"] is False
    assert 0 <= row["agreement"] <= 1
    assert all(row["was_read"] for row in Run.open(Path("runs/read")).predictions("test"))

    out = go(attnlab, *ASK, question, "--samples", "4")
    assert "unsure: 3 held-out people are too few, or too often wrong, to choose" in out
    told = json.loads(go(attnlab, *ASK, question, "--samples", "4", "--json"))
    assert told.keys() == {
        "question", "text", "probability", "verdict", "reason", "agreement", "runners_up",
        "warnings", "certainty",
    }  # fmt: skip
    assert told["question"] == question

    nobody = "Where was Nemo Nobody born?"
    assert "made up: the corpus has nothing about a person of that name" in go(
        attnlab, *ASK, nobody
    )

    code, _, err = attnlab(*ASK, question, "--show", "looks.png")
    assert (code, err) == (0, "looks.png\n")
    assert (tmp_path / "looks.png").read_bytes().startswith(b"\x89PNG")

    page = go(attnlab, "runs", "report", "read").strip().splitlines()[-1]
    assert "Retrieved or made up?" in Path(page).read_text(encoding="utf-8")


def test_questions_may_come_through_a_pipe(
    attnlab: Attnlab, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(attnlab)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{question}\n\nWhere was X Ÿ{'y' * 99} born?\n"))
    code, out, err = attnlab(*ASK, "--samples", "2")
    assert code == 0
    assert out.count("sampled answers agree") == 1
    assert "no training people were held out" in out
    assert "your question: " in err
    assert "has room for" in err


def test_a_file_of_the_course_is_asked_with_its_corpus(attnlab: Attnlab, question: str) -> None:
    corpus = Path("world/wiki.txt").read_text(encoding="utf-8").splitlines()
    model = GPT(len(characters_of(corpus)), 128, **{**vars(SIZES["course"]), "n_layers": 1})
    write_params(model, Path("a.params"))
    params = ["knowledge", "ask", "a.params"]
    out = go(attnlab, *params, question, "--corpus", "world/wiki.txt", "--samples", "2")
    assert "unsure" in out
    unknown = "a.params does not say which characters it knows: only their number was compared"
    assert unknown in " ".join(out.split())
    evaluated = go(
        attnlab,
        *("knowledge", "evaluate", "a.params", TEST, "--corpus", "world/wiki.txt"),
        *("--unseen", UNSEEN, "--samples", "2"),
    )
    assert "Of the more confident half of the answers on birth_test," in evaluated
    assert unknown in " ".join(evaluated.split())
    for words, told in [
        ([*params, question], "give the corpus that it was trained on with --corpus"),
        ([*params, question, "--corpus", TRAIN], "Give the corpus it was trained on."),
        (
            ["knowledge", "finetune", TRAIN, "--start", "a.params"],
            "give the corpus that it was trained on with --corpus",
        ),
    ]:
        code, _, err = attnlab(*words)
        assert code == 2
        assert told in err


def test_mistakes_are_told(attnlab: Attnlab, question: str) -> None:
    read(attnlab)
    for words, told in [
        ([*ASK, " "], "the question is empty"),
        ([*ASK, "Where⁇"], "the question holds the reserved character '⁇'"),
        ([*ASK, question, "--show", "looks.pdf"], "looks.pdf: a figure is written as .png or .svg"),
        ([*ASK, "--show", "looks.png"], "--show needs the question on the command line"),
        ([*ASK, question, "--corpus", TEST], "does not go with the run runs/read"),
        (["knowledge", "ask", "runs/none", question], "runs/none"),
    ]:
        code, _, err = attnlab(*words)
        assert code == 2, words
        assert told in err
