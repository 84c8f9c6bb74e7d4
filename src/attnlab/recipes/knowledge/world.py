"""A made-up world in the course's file formats: a corpus, training and evaluation questions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from attnlab.config import to_dict
from attnlab.data.people import Person
from attnlab.data.settings import WorldSettings
from attnlab.data.world import World, make_world
from attnlab.errors import UserError
from attnlab.evaluation.intervals import percent
from attnlab.phases import phase
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import naming_the_path, read_json, replace_file, to_json
from attnlab.runs.folders import differences

CORPUS, SETTINGS = "wiki.txt", "world.json"
TRAIN, DEV = "birth_places_train.tsv", "birth_dev.tsv"
TEST_INPUTS, TEST, UNSEEN = "birth_test_inputs.tsv", "birth_test.tsv", "birth_unseen.tsv"
FILES = (CORPUS, SETTINGS, TRAIN, DEV, TEST_INPUTS, TEST, UNSEEN)
SAMPLES = 3


def run_world(
    job: str,
    settings: WorldSettings,
    *,
    place: RunPlace,
    console: Console,  # noqa: ARG001 - every job is run alike
) -> Run:
    """Write a world into a run's own folder; missing files are written again."""

    def work(run: Run) -> None:
        write_world(settings, run.path)
        if not run.finished:
            close_run(run, {}, splits=Splits({}, inputs=[]), files=FILES)

    return run_without_training(job, settings, work, place=place, files={})


@phase("making up people")
def write_world(settings: WorldSettings, folder: Path) -> list[str]:
    """Write a world's files into a folder, and return lines that say what they hold.

    A folder with a file that is not this world's is refused before anything is written. Files that
    are there already stay untouched; the settings come last, so that with them a world is whole.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; give a folder, which may be new.")
    _refuse_other_settings(settings, folder)
    world = make_world(settings)
    files = world_files(world, settings)
    missing = _missing(files, folder)
    with naming_the_path(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in missing:
        replace_file(folder / name, files[name])
    last = str(folder) if missing else f"{folder} held this world already; nothing was changed."
    return [*_summary(world), "", last]


def world_files(world: World, settings: WorldSettings) -> dict[str, bytes]:
    """Return the files by name; without unseen people there is no file of questions about them."""
    files = {
        CORPUS: _lines(world.texts),
        TRAIN: _lines(_labelled(world.train)),
        DEV: _lines(_labelled(world.dev)),
        TEST_INPUTS: _lines([person.question for person in world.test]),
        TEST: _lines(_labelled(world.test)),
    }
    if world.unseen:
        files[UNSEEN] = _lines(_labelled(world.unseen))
    return files | {SETTINGS: to_json(to_dict(settings))}


def _labelled(people: Sequence[Person]) -> list[str]:
    return [f"{person.question}\t{person.place}" for person in people]


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _refuse_other_settings(settings: WorldSettings, folder: Path) -> None:
    path = folder / SETTINGS
    if not path.exists():
        return
    there = to_dict(WorldSettings()) | read_json(path)  # which may be older than a setting
    changes = [
        f"{key}: {old!r} there, {new!r} now"
        for key, old, new in differences(there, to_dict(settings))
    ]
    if changes:
        raise UserError(
            f"{folder} holds another world ({'; '.join(changes)}). Give another folder, or the"
            " settings of the world that is there."
        )


def _missing(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """Return the files that are not there yet; refuse one that is there with another content."""
    for name in (*files, UNSEEN):
        path = folder / name
        if path.exists() and (name not in files or path.read_bytes() != files[name]):
            raise UserError(
                f"{path} does not belong to this world. Give another folder, or remove the file"
                " first."
            )
    return [name for name in files if not (folder / name).exists()]


def _summary(world: World) -> Iterator[str]:
    """Count the people and texts, name the most common birthplace, and show some texts."""
    place, share = world.commonest_place()
    splits = {"train": world.train, "dev": world.dev, "test": world.test, "unseen": world.unseen}
    yield "people: " + ", ".join(f"{len(people):,} {name}" for name, people in splits.items())
    celebrities = sum(person.celebrity for person in world.everybody)
    yield f"biographies: {len(world.texts):,}; {celebrities:,} people are celebrities"
    yield f"most common birthplace: {place}, {percent(share, 1)} of the people"
    yield ""
    yield from world.texts[:SAMPLES]
