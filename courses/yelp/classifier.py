"""Fine-tune BERT to classify text, with the assignment's command line.

    python classifier.py --model_type bert --model_name_or_path models/tinybert --task_name yelp \\
        --do_train --do_eval --data_dir data --per_gpu_train_batch_size 32 --learning_rate 3e-5 \\
        --num_train_epochs 3 --max_seq_length 128 --output_dir out --evaluate_during_training \\
        --overwrite_output_dir

The data folder holds train and dev as .csv (label, text), .tsv (text, label) or .jsonl. The output
folder is a run: if it was stopped, the same command resumes it; if it is finished, the command shows
its result. With --overwrite_output_dir, a run of other settings goes when the new one is finished.
"""

from attnlab.guard import guarded, watch_imports

if __name__ == "__main__":
    watch_imports("classifier.py")  # what follows takes a while to load

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from attnlab.cli.course import flags_of, refuse_dashes
from attnlab.cli.options import names
from attnlab.config import from_dict, to_dict
from attnlab.environment import process_rank
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import files_of
from attnlab.runs.directory import CONFIG, Run, RunPlace
from attnlab.runs.files import sha256_of_files
from attnlab.runs.folders import differences, is_free
from attnlab.runs.references import absolute_settings
from attnlab.runs.replacement import beside, discard_new, new_run, put_in_place, remove_if_empty

FORMATS = (".csv", ".tsv", ".jsonl")


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the flags of Problem 2."""
    parser = argparse.ArgumentParser(
        usage="%(prog)s --model_name_or_path MODEL --data_dir DIR --output_dir DIR [OPTIONS]",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--model_type", default="bert", choices=["bert"], help="kind of model")
    add("--model_name_or_path", required=True, metavar="MODEL", help="folder, or name on the hub")
    add("--task_name", default="yelp", metavar="NAME", help="what the result is called")
    add("--do_train", action="store_true", help="train")
    add("--do_eval", action="store_true", help="say what the finished run scores")
    add("--data_dir", required=True, type=Path, metavar="DIR", help="folder with train and dev")
    add("--test_file", type=Path, metavar="FILE", help="texts to ask once, at the end")
    add("--columns", metavar="NAMES", help="columns of the files, as label,text,-")
    add("--labels", type=int, default=0, metavar="N", help="labelled texts to use; 0: all")
    add("--per_gpu_train_batch_size", type=int, default=32, metavar="N", help="texts a step")
    add("--learning_rate", type=float, default=3e-5, metavar="RATE")
    add("--num_train_epochs", type=float, default=3.0, metavar="N")
    add("--logging_steps", type=int, default=50, metavar="N", help="steps between evaluations")
    add("--max_seq_length", type=int, default=128, metavar="N", help="longer texts are cut")
    add("--output_dir", required=True, type=Path, metavar="DIR", help="where the run goes")
    add("--evaluate_during_training", action="store_true", help="keep the step best on dev")
    add("--overwrite_output_dir", action="store_true", help="replace a run of other settings")
    add("--pooler", action="store_true", help="put transformers' pooler before the classifier")
    add("--seed", type=int, default=0, metavar="N", help="random seed")
    return parser


def settings_of(options: argparse.Namespace) -> ClassifySettings:
    """Translate the document's flags."""
    base = ClassifySettings()
    training = replace(
        base.training,
        length=f"{options.num_train_epochs:.10g} epochs",
        seed=options.seed,
        optimizer=replace(base.training.optimizer, lr=options.learning_rate),
        evaluate_every=options.logging_steps if options.evaluate_during_training else 0,
    )
    return replace(
        base,
        model=options.model_name_or_path,
        train=str(_file(options.data_dir, "train")),
        dev=str(_file(options.data_dir, "dev")),
        test=str(options.test_file or ""),
        columns=tuple(names(options.columns) or ()),
        labels=options.labels,
        max_len=options.max_seq_length,
        batch_size=options.per_gpu_train_batch_size,
        pooler=options.pooler,
        training=training,
    )


def train_and_show(settings: ClassifySettings, options: argparse.Namespace) -> None:
    """Train, resume, or show a finished result."""
    if not (options.do_train or options.do_eval):
        raise UserError("there is nothing to do: give --do_train, --do_eval or both.")
    settings = from_dict(ClassifySettings, to_dict(settings), origin="the command line")
    output = options.output_dir.resolve()
    settings = absolute_settings(settings, output.parent)
    if output.exists() and not output.is_dir():
        raise UserError(f"--output_dir {output} is a file. Choose a folder.")
    if options.do_train:
        run = _trained(output, settings, overwrite=options.overwrite_output_dir)
    else:
        put_in_place(output)
        run = _finished(output, settings)
    if process_rank() == 0:
        if options.do_eval:
            _show(run, options.task_name)
        print(f"the model is in {run.path / MODEL}")


def _trained(output: Path, settings: ClassifySettings, *, overwrite: bool) -> Run:
    """Return the finished run of these settings, in its place; only the lead process moves it."""
    from attnlab.console import Console
    from attnlab.recipes.jobs import find_job
    from attnlab.training.distributed import join_processes

    with join_processes() as processes:
        replaces = processes.from_lead(lambda: _replaces(output, settings, overwrite=overwrite))
        place = beside(output) if replaces else RunPlace(output.parent, output.name)
        try:
            find_job("classify-train").run(settings, place=place, console=Console(stderr=True))
            processes.from_lead(lambda: put_in_place(output))
        finally:
            if replaces and processes.lead:
                remove_if_empty(place.root)  # a mistake before step 1 leaves nothing
        return Run.open(output)


def run(parser: argparse.ArgumentParser, job: Callable[[argparse.Namespace], None]) -> None:
    """Do what the command line says; a user's mistake is one or two lines and exit code 2."""
    with guarded(parser.prog):
        refuse_dashes(sys.argv[1:], flags_of(parser))
        job(parser.parse_args())


def _file(folder: Path, split: str) -> Path:
    found = [folder / f"{split}{suffix}" for suffix in FORMATS]
    there = [path for path in found if path.is_file()]
    if len(there) == 1:
        return there[0]
    names = ", ".join(path.name for path in found)
    if there:
        raise UserError(f"{folder} holds several of {names}: keep one.")
    raise UserError(f"--data_dir {folder} holds none of {names}.")


def _finished(output: Path, settings: ClassifySettings) -> Run:
    """Open the run that these very settings and files have made."""
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
    return changed


def _show(run: Run, task: str) -> None:
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


def main() -> None:
    """Train a classifier."""
    run(parser_of(__doc__), lambda options: train_and_show(settings_of(options), options))


if __name__ == "__main__":
    main()
