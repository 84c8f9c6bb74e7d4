"""Fine-tune BERT to classify text, with the assignment's command line.

    python classifier.py --model_type bert --model_name_or_path models/tinybert --task_name yelp \\
        --do_train --do_eval --data_dir data --per_gpu_train_batch_size 32 --learning_rate 3e-5 \\
        --num_train_epochs 3 --max_seq_length 128 --output_dir out --evaluate_during_training \\
        --overwrite_output_dir

Everything is done with the files in this folder: change one, and you train what you wrote. The data
folder holds train, dev and, if there is one, test, as .csv (label, text), .tsv (text, label) or
.jsonl. The output folder is a run: if it was stopped, the same command resumes it; if it is
finished, the command shows its result. With --overwrite_output_dir, a run of other settings or
other code goes when the new one is finished.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("classifier.py")  # what follows takes a while to load

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from output_dir import finished_run, show_scores, trained_run

from attnlab.cli.course import DASHES, run_command
from attnlab.cli.options import names
from attnlab.config import from_dict, to_dict
from attnlab.environment import process_rank
from attnlab.errors import UserError
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.runs.references import absolute_settings

FOLDER, FORMATS = Path(__file__).resolve().parent, (".csv", ".tsv", ".jsonl")


class Classifier:
    """What Problem 2 trains: ``trainer.train_model`` calls these."""

    def __init__(self, settings: ClassifySettings) -> None:
        self.settings = settings
        self.model_folder = ""  # the trainer finds it

    def read_texts(self) -> Any:
        """Read train, dev and test; of train, as many texts as --labels says."""
        from data_utils import load_examples

        from attnlab.data.classes import stratified
        from attnlab.randomness import rng
        from attnlab.recipes.classify.texts import ClassifyTexts, check_pairs

        settings, columns = self.settings, self.settings.columns
        train, classes = load_examples(settings.train, columns=columns)
        splits = {"dev": load_examples(settings.dev, classes, columns=columns)[0]}
        if settings.test:
            test, _ = load_examples(settings.test, classes, labelled=False, columns=columns)
            splits["test"] = test
        for examples in splits.values():
            check_pairs(examples, has_pairs=train[0].pair is not None)
        if settings.labels:
            generator = rng(settings.training.seed, "labels")
            train = stratified(train, settings.labels, generator=generator)
        return ClassifyTexts(train, splits, classes, self.unlabelled_lines(), {})

    def load_model(self, n_classes: int) -> Any:
        """Read the pretrained model, with a new classifier on it."""
        from mymodel import BertForSequenceClassification

        return self._read(BertForSequenceClassification, n_classes)

    def _read(self, kind: Any, n_classes: int) -> Any:
        options = {"pooler": True} if self.settings.pooler else {}
        return kind.from_pretrained(self.model_folder, num_labels=n_classes, **options)

    def features(self, examples: Sequence[Any], classes: Sequence[str]) -> Any:
        """Return the Dataset of some texts."""
        from data_utils import convert_examples_to_features

        return convert_examples_to_features(
            examples, classes, self.tokenizer, self.settings.max_len
        )

    @cached_property
    def tokenizer(self) -> Any:
        """What cuts texts into tokens."""
        from data_utils import load_tokenizer

        return load_tokenizer(self.model_folder)

    def unlabelled(self) -> Any:
        """There is no masked language modelling in Problem 2."""
        return None

    def unlabelled_lines(self) -> list[str]:
        """There is no unlabelled text either."""
        return []


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
    add(
        "--data_dir",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder with train, dev and, if there is one, test",
    )
    add(
        "--test_file",
        type=Path,
        metavar="FILE",
        help="another test set; evaluated once, at the end",
    )
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
        model=_model(options.model_name_or_path),
        train=str(_file(options.data_dir, "train")),
        dev=str(_file(options.data_dir, "dev")),
        test=str(options.test_file or _file(options.data_dir, "test", is_needed=False) or ""),
        columns=tuple(names(options.columns) or ()),
        labels=options.labels,
        max_len=options.max_seq_length,
        batch_size=options.per_gpu_train_batch_size,
        pooler=options.pooler,
        training=training,
    )


def train_and_show(
    kind: Callable[[ClassifySettings], Any],
    settings: ClassifySettings,
    options: argparse.Namespace,
) -> None:
    """Train, resume, or show a finished result."""
    if not (options.do_train or options.do_eval):
        raise UserError("there is nothing to do: give --do_train, --do_eval or both.")
    settings = from_dict(ClassifySettings, to_dict(settings), origin="the command line")
    output = options.output_dir.resolve()
    settings = absolute_settings(settings, output.parent)
    if output.exists() and not output.is_dir():
        raise UserError(f"--output_dir {output} is a file. Choose a folder.")
    if options.do_train:
        run = trained_run(output, kind(settings), overwrite=options.overwrite_output_dir)
    else:
        run = finished_run(output, settings)
    if process_rank() == 0:
        if options.do_eval:
            show_scores(run, options.task_name)
        print(f"the model is in {run.path / MODEL}")


def run(parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], None]) -> None:
    """Do what the command line says; a user's mistake is one or two lines and exit code 2."""
    run_command(parser, work, folder=FOLDER)


def _model(name: str) -> str:
    """Refuse the model's name as the document prints it."""
    mended = name.translate(dict.fromkeys(map(ord, DASHES), "-"))
    if mended != name and not Path(name).exists():
        raise UserError(f"{name} has the wrong dash, as printed texts do: write {mended}.")
    return name


def _file(folder: Path, split: str, *, is_needed: bool = True) -> Path | None:
    found = [folder / f"{split}{suffix}" for suffix in FORMATS]
    there = [path for path in found if path.is_file()]
    if len(there) == 1:
        return there[0]
    names = ", ".join(path.name for path in found)
    if there:
        raise UserError(f"{folder} holds several of {names}: keep one.")
    if not is_needed:
        return None
    raise UserError(f"--data_dir {folder} holds none of {names}.")


def main() -> None:
    """Train a classifier."""
    run(
        parser_of(__doc__),
        lambda options: train_and_show(Classifier, settings_of(options), options),
    )


if __name__ == "__main__":
    main()
