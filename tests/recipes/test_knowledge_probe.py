"""The probe job: three places, every layer, on people that it did not learn from."""

from pathlib import Path

import pytest
from rich.console import Console

from attnlab.data.knowledge_files import Question
from attnlab.data.settings import WorldSettings
from attnlab.errors import UserError
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.language_model import load_language_model
from attnlab.recipes.knowledge.linear_probe import PLACES, Person, Probing
from attnlab.recipes.knowledge.settings import PretrainSettings
from attnlab.recipes.knowledge.study_settings import LinearProbeSettings
from attnlab.runs.directory import Run, RunPlace
from small_jobs import SHORT, TINY

QUIET = Console(quiet=True)


def run(job: str, settings: object, folder: Path, name: str) -> Run:
    found = find_job(job).run(settings, place=RunPlace(folder, name), console=QUIET)
    assert isinstance(found, Run)
    return found


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("probe")
    world = run("knowledge-world", WorldSettings(people=40, biographies=1), folder, "world")
    reading = PretrainSettings(corpus=str(world.path / "wiki.txt"), model=TINY, training=SHORT)
    return run("knowledge-pretrain", reading, folder, "read")


def files(read: Run) -> list[str]:
    world = read.path.parent / "world"
    return [str(world / f"birth_{name}.tsv") for name in ("places_train", "dev", "test")]


def test_every_place_and_layer_has_a_score_with_what_guessing_gives(
    read: Run, tmp_path: Path
) -> None:
    probed = run(
        "knowledge-linear-probe", LinearProbeSettings(str(read.path), *files(read)), tmp_path, "p"
    )
    found = probed.record["linear_probes"]
    assert [(one["place"], one["layer"]) for one in found] == [
        (place, layer) for place in PLACES for layer in range(TINY.n_layers + 1)
    ]
    assert all(one["n"] == 8 and "baseline" in one for one in found)
    assert all(0 <= one["interval"][0] <= one["value"] <= one["interval"][1] <= 1 for one in found)


def test_a_probe_finds_an_answer_that_the_text_ends_with(read: Run) -> None:
    """At the end of such a text the answer has just been read; the name alone does not tell."""
    lm = load_language_model(read)

    def people(split: str, count: int) -> list[Person]:
        found = []
        for i in range(count):
            name, answer = f"{split} {i}", ("Oslo", "Rome", "Paris")[i * i % 3]
            question = Question(f"Where was {name} born?", answer, split)
            texts = {"name": name, "before": f"{name}. Born in", "end": f"{name}. Born in {answer}"}
            found.append(Person(question, texts))
        return found

    probing = Probing(
        lm, {"train": people("Ada", 60), "dev": people("Bo", 20), "test": people("C", 9)}
    )
    probes = {(one["place"], one["layer"]): one for one in probing.probes()}
    assert probes["end", 0]["answers"] == [p.question.answer for p in probing.people["test"]]


def test_questions_about_nobody_in_the_corpus_are_refused(read: Run, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody.tsv"
    nobody.write_text("Where was No One born?\tOslo\nWhere was Ada Nobody born?\tRome\n")
    train, dev, _ = files(read)
    settings = LinearProbeSettings(str(read.path), train, dev, str(nobody))
    with pytest.raises(UserError, match=r"nobody\.tsv: the model has read nothing that gives"):
        run("knowledge-linear-probe", settings, tmp_path, "p")
