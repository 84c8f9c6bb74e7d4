"""Prints the table of the report: what each run was trained on and how, and what it scores.

    python summarize.py out/*

A score is an accuracy, with its 95 % interval over the texts it was measured on. The test set had no
part in choosing the step; the validation set had, so its score is an optimistic one.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("summarize.py")

import argparse
from pathlib import Path
from typing import Any

from attnlab.cli.course import run_command
from attnlab.errors import UserError
from attnlab.runs.directory import Run

HEAD = ("labelled texts", "method", "hyperparameters", "best validation", "test")


def table(folders: list[Path]) -> str:
    """Return a table in Markdown, one row per run."""
    rows = [HEAD, ["---"] * len(HEAD), *(row(Run.open(folder)) for folder in folders)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def row(run: Run) -> list[str]:
    """Describe a finished run."""
    if not run.finished:
        raise UserError(f"{run.path} is not finished: repeat its command, or leave it out.")
    settings, record = run.config["settings"], run.record
    training, masked = settings["training"], settings["masked"]
    is_joint = bool(masked["text"]) and masked["alpha"] > 0
    chosen = [
        f"lr {training['optimizer']['lr']:g}",
        training["length"],
        f"batch {settings['batch_size']}",
        f"{settings['max_len']} tokens",
        *([f"alpha {masked['alpha']:g}"] if is_joint else []),
        *(["pooler"] if settings["pooler"] else []),
        f"seed {training['seed']}",
    ]
    return [
        f"{record['ledger']['splits']['train']['n']:,}",
        "CLS + MLM" if is_joint else "CLS",
        ", ".join(chosen),
        _score(record["scores"].get("dev")) + f" at step {record['best_step']}",
        _score(record["scores"].get("test")),
    ]


def _score(score: dict[str, Any] | None) -> str:
    if score is None:
        return "none"
    low, high = score["interval"]
    return f"{score['value']:.3f} [{low:.3f}, {high:.3f}] of {score['n']:,}"


def main() -> None:
    """Print the table of the runs that are named."""
    parser = argparse.ArgumentParser(
        prog="summarize.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="an output folder")
    folder = Path(__file__).resolve().parent
    run_command(parser, lambda options: print(table(options.folders)), folder=folder)


if __name__ == "__main__":
    main()
