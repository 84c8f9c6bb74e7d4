"""The output folder is a run: it is resumed, shown, or replaced when its successor is finished."""

import json
from pathlib import Path
from typing import Any

from attnlab.cli.course import hash_of_code
from attnlab.config import to_dict
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.texts import files_of
from attnlab.runs.directory import CONFIG, Run, RunPlace
from attnlab.runs.files import sha256_of_files
from attnlab.runs.folders import differences, is_free
from attnlab.runs.replacement import beside, discard_new, new_run, put_in_place, remove_if_empty

FOLDER = Path(__file__).resolve().parent


def trained_run(output: Path, assignment: Any, *, overwrite: bool) -> Run:
    """Return the finished run of these settings, in its place; only the lead process moves it."""
    from trainer import train_model

    from attnlab.training.distributed import join_processes

    settings = assignment.settings
    with join_processes() as processes:
        replaces = processes.from_lead(lambda: _replaces(output, settings, overwrite=overwrite))
        place = beside(output) if replaces else RunPlace(output.parent, output.name)
        try:
            train_model(assignment, settings, place=place)
            processes.from_lead(lambda: put_in_place(output))
        finally:
            if replaces and processes.lead:
                remove_if_empty(place.root)  # a mistake before step 1 leaves nothing
        return Run.open(output)


def finished_run(output: Path, settings: ClassifySettings) -> Run:
    """Open the run that these very settings and files have made."""
    put_in_place(output)
    run = Run.open(output)
    changed = _changes(run, settings)
    if changed or not run.finished:
        why = f"was made with other settings ({changed[0]})" if changed else "is not finished"
        raise UserError(f"{output} {why}: train it first, with --do_train.")
    return run


def _replaces(output: Path, settings: ClassifySettings, *, overwrite: bool) -> bool:
    """Say whether the run that is there is to go; refuse that without the flag, or if it is none."""
    put_in_place(output)  # a command before this one may have been killed when all was trained
    if is_free(output) or (not overwrite and not (output / CONFIG).is_file()):
        return False
    try:
        there = Run.open(output)
    except UserError:
        raise UserError(
            f"--output_dir {output} is no run of this program, so it is not overwritten."
            " Choose another folder."
        ) from None
    changed = _changes(there, settings)
    if not changed:
        return False
    if not overwrite:
        raise UserError(
            f"--output_dir {output} holds a run of other settings ({changed[0]}). Choose another"
            " folder, or replace the run with --overwrite_output_dir."
        )
    with there:  # nobody is working on it
        new = new_run(output)
        if new and _changes(new, settings):
            discard_new(output)
    return True


def _changes(run: Run, settings: ClassifySettings) -> list[str]:
    """Name what was otherwise when a run was begun: settings, or what its files held."""
    config = run.config
    wanted = json.loads(json.dumps(to_dict(settings)))
    changed = [key for key, _, _ in differences(config["settings"], wanted)]
    files = files_of(settings)
    if not changed and all(path.is_file() for path in files.values()):
        begun_with = config["resolved"].get("data")
        if begun_with is not None and begun_with != sha256_of_files(files):
            changed = ["what the files hold"]
    code = hash_of_code(FOLDER)
    if not changed and config["resolved"].get("code", code) != code:
        changed = ["the code in this folder"]
    return changed


def show_scores(run: Run, task: str) -> None:
    """Print the scores on dev and test with their intervals, next to the majority's."""
    scores = run.record["scores"]
    for split in ("dev", "test"):
        if split in scores:
            score = scores[split]
            low, high = score["interval"]
            guess = score["baseline"]
            print(
                f"{task} {split}: accuracy {score['value']:.4f} [{low:.4f}, {high:.4f}]"
                f" of {score['n']}, {guess['name']} {guess['value']:.4f}"
            )
    if run.record["test"] == "none":
        print(f"{task} test: none")
    elif "test" not in scores:
        print(f"{task} test: no labels; {run.path / 'predictions' / 'test.jsonl'} has the answers")
