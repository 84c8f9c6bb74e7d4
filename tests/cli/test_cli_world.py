"""``attnlab knowledge world``: the course's files, whole or not at all, and never over others."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from attnlab.data.knowledge_files import read_corpus, read_questions
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world

Attnlab = Callable[..., tuple[int, str, str]]

WORLD = ("knowledge", "world")
TINY = ("--people", "20", "--biographies", "2")
FILES = {
    "wiki.txt",
    "birth_places_train.tsv",
    "birth_dev.tsv",
    "birth_test_inputs.tsv",
    "birth_test.tsv",
    "birth_unseen.tsv",
    "world.json",
}


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_world_is_written_as_the_courses_files(attnlab: Attnlab, tmp_path: Path) -> None:
    code, out, err = attnlab(*WORLD, "deep/mine", *TINY, "--seed", "7")
    assert (code, err) == (0, "")
    folder = tmp_path / "deep" / "mine"
    assert everything(folder).keys() == FILES
    world = make_world(replace(WorldSettings(), people=20, biographies=2, seed=7))
    assert read_corpus(folder / "wiki.txt") == world.texts
    for name, people in {
        "birth_places_train.tsv": world.train,
        "birth_dev.tsv": world.dev,
        "birth_test.tsv": world.test,
        "birth_unseen.tsv": world.unseen,
    }.items():
        questions = read_questions(folder / name, labelled=True)
        assert [(q.text, q.answer) for q in questions] == [(p.question, p.place) for p in people]
    inputs = read_questions(folder / "birth_test_inputs.tsv", labelled=False)
    assert [question.text for question in inputs] == [person.question for person in world.test]
    first, second, third, *samples = out.splitlines()
    assert first == "people: 11 train, 4 dev, 4 test, 1 unseen"
    assert second == "biographies: 38; 19 people are celebrities"
    assert third == f"most common birthplace: {world.commonest_place()[0]}, 5.0 % of the people"
    assert samples == ["", *world.texts[:3], "", "deep/mine"]


def test_the_same_world_again_changes_nothing(attnlab: Attnlab, tmp_path: Path) -> None:
    attnlab(*WORLD, "mine", *TINY)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").iterdir()}
    code, out, err = attnlab(*WORLD, "mine", *TINY)
    assert (code, err) == (0, "")
    assert out.endswith("\nmine held this world already; nothing was changed.\n")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").iterdir()} == times


def test_a_world_half_of_whose_files_were_written_is_completed(
    attnlab: Attnlab, tmp_path: Path
) -> None:
    attnlab(*WORLD, "mine", *TINY)
    before = everything(tmp_path / "mine")
    for name in ("world.json", "birth_test.tsv", "birth_unseen.tsv"):
        (tmp_path / "mine" / name).unlink()
    code, out, err = attnlab(*WORLD, "mine", *TINY)
    assert (code, err) == (0, "")
    assert out.endswith("\nmine\n")
    assert everything(tmp_path / "mine") == before


def test_another_world_is_not_written_over(attnlab: Attnlab, tmp_path: Path) -> None:
    attnlab(*WORLD, "mine", *TINY)
    before = everything(tmp_path / "mine")
    code, out, err = attnlab(*WORLD, "mine", *TINY, "--seed", "4", "--set", "sentences=1")
    assert (code, out) == (2, "")
    assert err == (
        "attnlab: mine holds another world (seed: 0 there, 4 now; sentences: 3 there, 1 now)."
        " Give another folder, or the settings of the world that is there.\n"
    )
    assert everything(tmp_path / "mine") == before


@pytest.mark.parametrize("name", ["wiki.txt", "birth_dev.tsv"])
def test_a_file_of_somebody_else_is_not_written_over(
    attnlab: Attnlab, tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("Ada Abel. Born in Oslo .\n", encoding="utf-8")
    code, out, err = attnlab(*WORLD, "mine", *TINY)
    assert (code, out) == (2, "")
    assert err == (
        f"attnlab: mine/{name} does not belong to this world. Give another folder, or remove the"
        " file first.\n"
    )
    assert [path.name for path in (tmp_path / "mine").iterdir()] == [name]


def test_without_people_held_out_there_is_no_file_of_them(attnlab: Attnlab, tmp_path: Path) -> None:
    nobody = (*TINY, "--set", "unwritten=0")
    assert attnlab(*WORLD, "mine", *nobody)[0] == 0
    assert everything(tmp_path / "mine").keys() == FILES - {"birth_unseen.tsv"}
    (tmp_path / "mine" / "birth_unseen.tsv").write_text("Where was I born?\tOslo\n")
    code, _, err = attnlab(*WORLD, "mine", *nobody)
    assert code == 2
    assert "mine/birth_unseen.tsv does not belong to this world." in err


def test_other_files_in_the_folder_stay(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine")
    assert attnlab(*WORLD, ".", *TINY)[0] == 0
    assert everything(tmp_path).keys() == FILES | {"notes.md"}


def test_the_settings_of_a_world_can_be_given_back(attnlab: Attnlab, tmp_path: Path) -> None:
    code, out, _ = attnlab(*WORLD, "--settings", *TINY, "--set", "order=fixed")
    assert code == 0
    assert yaml.safe_load(out)["order"] == "fixed"
    (tmp_path / "mine.yaml").write_text(out, encoding="utf-8")
    assert attnlab(*WORLD, "--config", "mine.yaml", "--settings") == (0, out, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


MISTAKES = {
    "too few people": (
        ["--people", "9"],
        "--people 9: people = 9 is not possible: input should be",
    ),
    "too many people": (
        ["--people", "150337"],
        "people = 150337 is not possible: there are 150336",
    ),
    "unknown key": (
        ["--set", "celebrity=1"],
        "no setting 'celebrity'. Did you mean 'celebrities'?",
    ),
    "unknown order": (["--set", "order=any"], "order = 'any' is not possible: input should be"),
    "too many celebrities": (["--set", "celebrities=0.9"], "celebrities = 0.9 is 18 people, but"),
    "nobody left": (["--set", "unwritten=0.7"], "leave none of 20 people for train. Lower one."),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_a_line_and_changes_nothing(
    attnlab: Attnlab, tmp_path: Path, mistake: str
) -> None:
    arguments, message = MISTAKES[mistake]
    code, out, err = attnlab(*WORLD, "mine", *TINY, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("attnlab: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(attnlab: Attnlab, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("here")
    code, out, err = attnlab(*WORLD, "mine", *TINY)
    assert (code, out) == (2, "")
    assert err == "attnlab: mine is a file; give a folder, which may be new.\n"
