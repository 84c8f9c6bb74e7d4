"""Fine-tune a model to answer BoolQ's questions with Yes or No, with the assignment's command line.

    python classification.py --experiment "overfit" --small_subset True --device cuda \\
        --model "distilbert-base-uncased" --batch_size "64" --lr 1e-4 --num_epochs 20

Trains, prints the accuracy on dev and test, and draws accuracy by epoch into
figures/EXPERIMENT.png. The run is in runs/EXPERIMENT: if it was stopped, the same command resumes
it; if it is finished, the command shows its result. Dev chooses the epoch that is kept; test is
read once, at the end.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("classification.py")  # what follows takes a while to load

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from figures import draw_epochs, learned_by_heart

from attnlab.assets.datasets import dataset_file, get_dataset
from attnlab.assets.models import find_model
from attnlab.cli.course import run_command
from attnlab.config import from_dict, to_dict
from attnlab.data.labelled_text import read_labelled
from attnlab.models.encoder import PLAIN, kind_of
from attnlab.phases import messages
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.jobs import find_job
from attnlab.runs.directory import Run, RunPlace
from attnlab.tuning.settings import TuningSettings

FOLDER = Path(__file__).resolve().parent
DATASET, FEW, WARMUP = "boolq", 10, 50
TYPES = {
    "auto": "everything, with transformers' own head",
    "full": "everything, with one linear layer as the head",
    "head": "this layer alone",
    "prefix": "this layer and vectors before the text, which is called prompt tuning today",
}


def truth(text: str) -> bool:
    """Read True and False as the document writes them."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither True nor False")
    return text.lower() == "true"


def parser_of() -> argparse.ArgumentParser:
    """Return a parser with the document's flags, and ours."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--experiment", default="experiment", metavar="NAME", help="what run and figure are called")
    add(
        "--small_subset",
        type=truth,
        default=False,
        metavar="True|False",
        help=f"learn {FEW} questions by heart, as a test of the training itself",
    )
    add("--device", default="auto", choices=["auto", "cpu", "cuda", "mps"])
    add("--model", default="distilbert-base-uncased", help="name or folder of a model")
    add("--batch_size", type=int, default=64, metavar="N", help="questions a step")
    add("--lr", type=float, default=1e-4, metavar="RATE", help="constant after the warm-up")
    add("--num_epochs", type=int, default=20, metavar="N")
    types = "; ".join(f"{name}: {what}" for name, what in TYPES.items())
    add("--type", default="auto", choices=TYPES, help=f"what is trained. {types}")
    add("--prefix_length", type=int, default=128, metavar="N", help="vectors of --type prefix")
    add(
        "--data_dir",
        type=Path,
        metavar="DIR",
        help="folder with train.jsonl, dev.jsonl and test.jsonl; without it, BoolQ is downloaded",
    )
    add("--train_rows", type=int, default=0, metavar="N", help="questions to use; 0: all 8,000")
    add("--max_length", type=int, default=128, metavar="N", help="tokens; the passage is cut")
    add("--seed", type=int, default=0, metavar="N")
    return parser


def settings_of(options: argparse.Namespace) -> ClassifySettings:
    """Translate the document's flags."""
    base, small = ClassifySettings(), options.small_subset
    model = options.model.strip()  # the document breaks the line within the quotes
    rows = FEW if small else options.train_rows or _n_rows(options.data_dir)
    per_epoch = -(-rows // max(options.batch_size, 1))
    training = replace(
        base.training,
        length=f"{options.num_epochs} epochs",
        seed=options.seed,
        optimizer=replace(base.training.optimizer, lr=options.lr),
        # whatever the number of epochs: a run of nine begins with what a run of five is
        schedule=replace(
            base.training.schedule, name="constant", warmup=min(WARMUP, per_epoch // 2)
        ),
        evaluate_every=per_epoch,
        device=_device(options.device),
    )
    return replace(
        base,
        model=model,
        **_files(options.data_dir, small=small),
        overfit=FEW if small else 0,
        labels=0 if small else options.train_rows,
        max_len=options.max_length,
        batch_size=options.batch_size,
        pooler=options.type == "auto" and _is_bert(model),
        tuning=_tuning(options),
        training=training,
    )


def train(options: argparse.Namespace) -> None:
    """Train, resume or show a run; print its scores and draw its figure."""
    settings = from_dict(ClassifySettings, to_dict(settings_of(options)), origin="the command line")
    place = RunPlace(Path("runs"), options.experiment)
    run = find_job("classify-train").run(settings, place=place, console=messages())
    figure = Path("figures") / f"{run.name}.png"
    draw_epochs([run], figure)
    print_metrics(run)
    print(f"the figure is {figure}, the run {run.path}")


def print_metrics(run: Run) -> None:
    """Print the document's lines, and after each what its number is worth."""
    scores = run.record["scores"]
    names = {"dev": "DEV", "test": "TEST"}
    if learned_by_heart(run):
        names = {"dev": "TRAIN"}  # the document calls it dev and test, which it is not
    for split, name in names.items():
        score = scores[split]
        low, high = score["interval"]
        guess = score["baseline"]
        print(f"Average {name} metrics: accuracy={{'accuracy': {score['value']}}}")
        print(
            f"    n = {score['n']}, 95 % interval {low:.4f} to {high:.4f};"
            f" {guess['name']}: {guess['value']:.4f}, chance: 0.5"
        )
    if learned_by_heart(run):
        print(f"There is no DEV and no TEST score: these {FEW} questions were trained on.")


def _files(folder: Path | None, *, small: bool) -> dict[str, str]:
    """Name the files; BoolQ brings its own dev and test, and what is learned by heart has none."""
    if folder is None:
        return {"train": DATASET}
    splits = ("train",) if small else ("train", "dev", "test")
    return {split: str(folder / f"{split}.jsonl") for split in splits}


def _n_rows(folder: Path | None) -> int:
    """Count the training questions."""
    if folder is None:
        get_dataset(DATASET)
    return len(read_labelled(dataset_file(_files(folder, small=True)["train"], "train")))


def _is_bert(model: str) -> bool:
    """Say whether a model's own head is a flag of ours; the others' heads come with them."""
    return kind_of(find_model(model)) == PLAIN


def _tuning(options: argparse.Namespace) -> TuningSettings:
    if options.type == "prefix":
        return TuningSettings("prompt", {"length": options.prefix_length})
    return TuningSettings("head" if options.type == "head" else "full")


def _device(wanted: str) -> Any:
    """Take the processor if the document's GPU is not there."""
    if wanted != "cuda":
        return wanted
    import torch

    if torch.cuda.is_available():
        return wanted
    print("there is no CUDA device here: the processor is used")
    return "auto"


def main() -> None:
    """Train a classifier."""
    run_command(parser_of(), train, folder=FOLDER)


if __name__ == "__main__":
    main()
