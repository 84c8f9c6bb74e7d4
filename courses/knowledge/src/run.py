"""Pretrain, fine-tune and evaluate, with the assignment's command lines.

    python src/run.py pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
    python src/run.py finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params \\
        --writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv
    python src/run.py evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params \\
        --eval_corpus_path birth_dev.tsv --outputs_path vanilla.pretrain.dev.predictions

If training was stopped, the same command resumes it; until then its state is kept in runs/.
"""

from attnlab.guard import guarded, watch_imports

if __name__ == "__main__":
    watch_imports("run.py")  # what follows takes a while to load

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlab.config import from_dict, to_dict
from attnlab.errors import UserError
from attnlab.models.sizes import COURSE_VARIANTS
from attnlab.recipes.knowledge.settings import (
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
    find_recipe,
)

RUNS = Path("runs")
WITHOUT_PRETRAINING = {"course": "10 epochs", "original": "75 epochs"}
"""How long a new model learns from the questions alone."""


def pretrain(options: argparse.Namespace) -> None:
    """Learn from corrupted text, and write the model."""
    base = find_recipe(_recipe(options)).pretrain
    settings = replace(base, corpus=options.pretrain_corpus_path, **_common(base, options))
    _train("knowledge-pretrain", settings, options)


def finetune(options: argparse.Namespace) -> None:
    """Learn from questions, from a pretrained model or from nothing, and write the model."""
    base = find_recipe(_recipe(options)).finetune
    start = options.reading_params_path or ""
    if start:
        _check_variant(Path(start), options)
    settings = replace(
        base,
        questions=_needed(options, "finetune_corpus_path"),
        start=start,
        corpus=options.pretrain_corpus_path,
        **_common(base, options),
    )
    if not start:
        length = options.length or WITHOUT_PRETRAINING[_recipe(options)]
        training = replace(settings.training, length=length)
        settings = replace(settings, replay=ObjectiveSettings(""), training=training)
    _train("knowledge-finetune", settings, options)


def evaluate(options: argparse.Namespace) -> None:
    """Answer the questions of a file, one answer a line, and score them if the truth is known."""
    from utils import evaluate_places

    from attnlab.data.knowledge_files import read_questions
    from attnlab.recipes.knowledge.saved import open_saved
    from attnlab.runs.files import check_output, replace_file

    reading = Path(_needed(options, "reading_params_path"))
    questions = read_questions(Path(_needed(options, "eval_corpus_path")))
    outputs = Path(_needed(options, "outputs_path"))
    check_output(outputs)
    _check_variant(reading, options)
    lm = open_saved(reading, corpus=options.pretrain_corpus_path).load()
    places = _answers(lm, [question.text for question in questions])
    replace_file(outputs, "".join(f"{place}\n" for place in places).encode())
    total, correct = evaluate_places(options.eval_corpus_path, places)
    if total:
        print(f"Correct: {correct} out of {total}: {correct / total * 100}%")
    else:
        print(f"Predictions written to {outputs}; no score.")


def _answers(lm: Any, questions: Sequence[str]) -> list[str]:
    """Let the model write on after each question, at most 32 characters, up to the next ⁇."""
    import torch

    from attnlab.models.decoding import continue_prompts
    from attnlab.recipes.knowledge.language_model import LONGEST_ANSWER

    tokenizer = lm.tokenizer
    prompts = [[*tokenizer.encode(text), tokenizer.sentinel] for text in questions]
    lm.model.eval()
    with torch.no_grad():
        written = continue_prompts(
            lm.model, prompts, stop=tokenizer.sentinel, max_new=LONGEST_ANSWER, slides=True
        )
    return [" ".join(tokenizer.decode(one.tokens).splitlines()) for one in written]


def _common(base: PretrainSettings | FinetuneSettings, options: argparse.Namespace) -> Any:
    """Return the settings that both kinds of training take from the command line."""
    length = options.length or base.training.length
    model = replace(base.model, attention=COURSE_VARIANTS[options.variant])
    return {
        "model": model if not options.reading_params_path else base.model,
        "training": replace(base.training, length=length, seed=options.seed),
    }


def _train(job: str, settings: Any, options: argparse.Namespace) -> None:
    """Run or resume the training, and write the course's file."""
    from attnlab.console import Console
    from attnlab.models.course_format import write_params
    from attnlab.recipes.jobs import find_job
    from attnlab.recipes.knowledge.language_model import load_language_model
    from attnlab.runs.directory import RunPlace
    from attnlab.runs.files import check_output
    from attnlab.runs.references import absolute_settings

    settings = absolute_settings(settings, RUNS)
    path = Path(_needed(options, "writing_params_path"))
    check_output(path)
    settings = from_dict(type(settings), to_dict(settings), origin="the command line")
    place = RunPlace(RUNS, f"{options.function}-{options.variant}-{_digest(settings)}")
    run = find_job(job).run(settings, place=place, console=Console(stderr=True))
    write_params(load_language_model(run).model, path)
    print(f"{path} written; the run is {run.path}")


def _digest(settings: Any) -> str:
    """Hash the settings and what their files hold: other weights or text make another run."""
    digest = hashlib.sha256(json.dumps(to_dict(settings), sort_keys=True).encode())
    for name in ("corpus", "questions", "start"):
        path = Path(getattr(settings, name, ""))
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _check_variant(path: Path, options: argparse.Namespace) -> None:
    """Refuse a file of the other variant before anything is done with it."""
    from attnlab.models.course_format import read_params, variant_of

    found = variant_of(read_params(path)[1])
    if found != options.variant:
        tensor = {"vanilla": "key.weight", "synthesizer": "w2"}[str(found)]
        raise UserError(
            f"{path} holds a {found} model (it has blocks.0.attn.{tensor}), not a"
            f" {options.variant} one: give {found}, or another file."
        )


def _recipe(options: argparse.Namespace) -> str:
    return "original" if options.to_the_letter else "course"


def _needed(options: argparse.Namespace, name: str) -> str:
    value: str | None = getattr(options, name)
    if value is None:
        raise UserError(f"{options.function} needs --{name}.")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("function", choices=list(FUNCTIONS), help="what to do")
    parser.add_argument("variant", choices=list(COURSE_VARIANTS), help="which attention")
    parser.add_argument("pretrain_corpus_path", help="text with one document per line: wiki.txt")
    parser.add_argument(
        "--reading_params_path", metavar="FILE", help="model to start from or to evaluate"
    )
    parser.add_argument("--writing_params_path", metavar="FILE", help="where the model goes")
    parser.add_argument("--finetune_corpus_path", metavar="FILE", help="questions to learn from")
    parser.add_argument("--eval_corpus_path", metavar="FILE", help="questions to answer")
    parser.add_argument("--outputs_path", metavar="FILE", help="where the answers go")
    parser.add_argument(
        "--to-the-letter",
        action="store_true",
        help="the course's own hyper-parameters, for many hours; by default ours, for 2 cores",
    )
    parser.add_argument("--length", metavar="LENGTH", help="how long, such as '2 epochs'")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    return parser


FUNCTIONS = {"pretrain": pretrain, "finetune": finetune, "evaluate": evaluate}


def main() -> None:
    """Do what the command line says; a user's mistake is one or two lines and exit code 2."""
    guarded("run.py", _run)


def _run() -> None:
    options = _parser().parse_args()
    FUNCTIONS[options.function](options)


if __name__ == "__main__":
    main()
