"""Fine-tune BERT to classify text, with the assignment's command line.

    python classifier.py --model_type bert --model_name_or_path models/tinybert --task_name yelp \\
        --do_train --do_eval --data_dir data --per_gpu_train_batch_size 32 --learning_rate 3e-5 \\
        --num_train_epochs 3 --max_seq_length 128 --output_dir out --evaluate_during_training \\
        --overwrite_output_dir

The data folder holds train and dev as .csv (label, text), .tsv (text, label) or .jsonl. The output
folder is a run: if it was stopped, the same command resumes it; if it is finished, the command shows
its result.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from attnlab.cli.options import names, process_rank
from attnlab.config import from_dict, to_dict
from attnlab.errors import AttnlabError, UserError
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import files_of
from attnlab.runs.directory import CONFIG, Run, RunPlace
from attnlab.runs.files import sha256_of_files
from attnlab.runs.folders import differences
from attnlab.runs.references import absolute_settings

FORMATS = (".csv", ".tsv", ".jsonl")
DASHES = "—–"


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the flags of Problem 2."""
    parser = argparse.ArgumentParser(
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
    from rich.console import Console

    from attnlab.recipes.jobs import find_job

    if not (options.do_train or options.do_eval):
        raise UserError("there is nothing to do: give --do_train, --do_eval or both.")
    settings = from_dict(ClassifySettings, to_dict(settings), origin="the command line")
    output = options.output_dir.resolve()
    settings = absolute_settings(settings, output.parent)
    if output.exists() and not output.is_dir():
        raise UserError(f"--output_dir {output} is a file. Choose a folder.")
    if options.do_train:
        if not options.overwrite_output_dir:
            _refuse_another_run(output, settings)
        with _replaced(output, settings) if options.overwrite_output_dir else nullcontext():
            place = RunPlace(output.parent, output.name)
            run = find_job("classify-train").run(
                settings, place=place, console=Console(stderr=True)
            )
    else:
        run = _finished(output, settings)
    if process_rank() == 0:
        if options.do_eval:
            _show(run, options.task_name)
        print(f"the model is in {run.path / MODEL}")


def run(parser: argparse.ArgumentParser, job: Callable[[argparse.Namespace], None]) -> None:
    """Do what the command line says; a user's mistake is one or two lines and exit code 2."""
    try:
        _refuse_dashes(sys.argv[1:])
        job(parser.parse_args())
    except AttnlabError as error:
        if os.environ.get("ATTNLAB_DEBUG"):
            raise
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


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


def _refuse_another_run(output: Path, settings: ClassifySettings) -> None:
    if (output / CONFIG).is_file() and (changed := _changes(Run.open(output), settings)):
        raise UserError(
            f"--output_dir {output} holds a run of other settings ({changed[0]}). Choose another"
            " folder, or replace the run with --overwrite_output_dir."
        )


@contextmanager
def _replaced(output: Path, settings: ClassifySettings) -> Iterator[None]:
    """Set a run with other settings aside; delete it once the new one has begun, else restore it.

    A run with these settings is resumed, and a folder that is not a run stays.
    """
    aside = output.with_name(f".{output.name}.replaced")
    if process_rank() == 0 and aside.exists():
        _take_back_what_was_killed(output)
        _settle(aside, output)
    if process_rank() == 0 and output.is_dir() and any(output.iterdir()):
        try:
            run = Run.open(output)
        except UserError:
            raise UserError(
                f"--output_dir {output} is no run of this program, so it is not overwritten."
                " Choose another folder."
            ) from None
        if _changes(run, settings):
            with run:  # nobody is working on it
                output.rename(aside)
    try:
        yield
    finally:
        if process_rank() == 0:
            _settle(aside, output)


def _take_back_what_was_killed(output: Path) -> None:
    """Remove a run that a killed command had asked for and not begun."""
    if (output / CONFIG).is_file():
        with Run.open(output) as run:  # nobody is working on it
            if run.is_untouched:
                shutil.rmtree(output)


def _settle(aside: Path, output: Path) -> None:
    """Let a run that was put aside go if another has its place, else put it back."""
    if aside.exists():
        if output.exists():
            shutil.rmtree(aside)
        else:
            aside.rename(output)


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


def _refuse_dashes(arguments: Sequence[str]) -> None:
    for argument in arguments:
        name = argument.lstrip(DASHES + "-")
        if argument.startswith(tuple(DASHES)) or (
            argument[:1] == "-" and argument[:2] != "--" and "_" in name
        ):
            raise UserError(f"{argument} has the wrong dash, as printed texts do: write --{name}.")


def main() -> None:
    """Train a classifier."""
    run(parser_of(__doc__), lambda options: train_and_show(settings_of(options), options))


if __name__ == "__main__":
    main()
