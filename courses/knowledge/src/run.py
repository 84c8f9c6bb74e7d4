"""Pretrain, fine-tune and evaluate, with the assignment's command lines.

    python src/run.py pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
    python src/run.py finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params \\
        --writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv
    python src/run.py evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params \\
        --eval_corpus_path birth_dev.tsv --outputs_path vanilla.pretrain.dev.predictions

Everything is done with the files in this folder: change one, and you train what you wrote. If
training was stopped, the same command resumes it; until then its state is kept in runs/.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlab.cli.course import needed, run_command
from attnlab.errors import UserError

VARIANTS = ("vanilla", "synthesizer")
BLOCK_SIZE = 128


def hyperparameters(options: argparse.Namespace) -> Any:
    """Return how the Trainer trains: the course's own way, for many hours, or ours, for 2 cores."""
    from trainer import TrainerConfig

    from attnlab.recipes.knowledge.settings import find_recipe

    is_pretraining, is_new = options.function == "pretrain", not options.reading_params_path
    if options.to_the_letter:
        config = TrainerConfig(lr_decay=True, warmup_tokens=512 * 20)
        pretraining = replace(config, max_epochs=650, batch_size=128, learning_rate=6e-3)
        epochs = 75 if is_new else 10
        finetuning = replace(config, max_epochs=epochs, batch_size=256, learning_rate=6e-4)
    else:
        recipe = find_recipe("course")
        config = TrainerConfig(batch_tokens=2048, batch_size=32)
        pretraining = replace(
            config, max_epochs=43, shift=len("Where was "), training=recipe.pretrain.training
        )
        epochs = 10 if is_new else 2
        finetuning = replace(config, max_epochs=epochs, training=recipe.finetune.training)
    return replace(
        pretraining if is_pretraining else finetuning,
        seed=options.seed,
        length=options.length or "",
        name=f"{options.function}-{options.variant}",
    )


def new_model(options: argparse.Namespace, vocab_size: int) -> Any:
    """Make a model with new weights: vanilla, or with the attention of the synthesizer."""
    from model import GPT, GPTConfig

    dropout = 0.1 if options.to_the_letter else 0.0
    # [part c] and [part g] make the model of options.variant
    # TODO: [part c] and [part g], src/run.py: make the model of options.variant.
    # <solution>
    config = GPTConfig(
        vocab_size,
        BLOCK_SIZE,
        embd_pdrop=dropout,
        resid_pdrop=dropout,
        attn_pdrop=dropout,
        synthesizer=options.variant == "synthesizer",
    )
    return GPT(config)
    # </solution>


def pretrain(options: argparse.Namespace) -> None:
    """Learn from corrupted text, and write the model."""
    path = writable(needed(options, "writing_params_path"))
    text = _corpus(options)
    # [part f] pretrain the model on the corrupted text, and write it
    # TODO: [part f], src/run.py: pretrain the model on the corrupted text, and write it.
    # <solution>
    from trainer import Trainer
    from utils import write_params

    model = new_model(options, text.vocab_size)
    run = Trainer(model, text, None, hyperparameters(options)).train()
    write_params(model, path)
    # </solution>
    print(f"{path} written; the run is {run.path}")


def finetune(options: argparse.Namespace) -> None:
    """Learn from questions, from a pretrained model or from nothing, and write the model."""
    questions = needed(options, "finetune_corpus_path")
    path = writable(needed(options, "writing_params_path"))
    from dataset import NameDataset, read_text

    text = _corpus(options)
    names = NameDataset(text, read_text(questions))
    # [part c] finetune a new model; [part f] or the one in options.reading_params_path
    # TODO: [part c] and [part f], src/run.py: finetune a new model, or the one that is given.
    # <solution>
    from trainer import Trainer
    from utils import write_params

    if options.reading_params_path:
        model = _saved_model(options, text, dropout=0.1 if options.to_the_letter else 0.0)
    else:
        model = new_model(options, text.vocab_size)
    run = Trainer(model, names, None, hyperparameters(options)).train()
    write_params(model, path)
    # </solution>
    print(f"{path} written; the run is {run.path}")


def evaluate(options: argparse.Namespace) -> None:
    """Answer the questions of a file, one answer a line, and score them if the truth is known."""
    needed(options, "reading_params_path")
    questions = needed(options, "eval_corpus_path")
    outputs = writable(needed(options, "outputs_path"))
    from utils import answer_questions, evaluate_places

    from attnlab.data.knowledge_files import read_questions
    from attnlab.runs.files import replace_file

    asked = [question.text for question in read_questions(Path(questions))]
    text = _corpus(options)
    model = _saved_model(options, text)
    places = answer_questions(model, text.stoi, asked)
    replace_file(outputs, "".join(f"{place}\n" for place in places).encode())
    total, correct = evaluate_places(questions, places)
    if total:
        print(f"Correct: {correct} out of {total}: {correct / total * 100}%")
    else:
        print(f"Predictions written to {outputs}; no score.")


def writable(name: str) -> Path:
    """Return where to write; refuse it before anything is computed if it cannot be written."""
    path = Path(name)
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent} to write {path} into.")
    if path.is_dir():
        raise UserError(f"{path} is a folder. Name a file.")
    return path


def _corpus(options: argparse.Namespace) -> Any:
    """Read the text that gives the characters, and is corrupted for pretraining."""
    from dataset import CharCorruptionDataset, read_text
    from utils import set_seed

    set_seed(options.seed)
    return CharCorruptionDataset(read_text(options.pretrain_corpus_path), BLOCK_SIZE)


def _saved_model(options: argparse.Namespace, text: Any, dropout: float = 0.0) -> Any:
    """Read the model of a file; refuse one of the other variant, or of other characters."""
    from model import GPT, config_of
    from utils import load_params, read_params

    path = options.reading_params_path
    tensors = read_params(path)
    config = config_of(tensors, dropout=dropout)
    found = VARIANTS[config.synthesizer]
    if found != options.variant:
        tensor = {"vanilla": "key.weight", "synthesizer": "w2"}[found]
        raise UserError(
            f"{path} holds a {found} model (it has blocks.0.attn.{tensor}), not a"
            f" {options.variant} one: give {found}, or another file."
        )
    if config.vocab_size != text.vocab_size:
        raise UserError(
            f"{path} knows {config.vocab_size} tokens, but {options.pretrain_corpus_path} has"
            f" {text.vocab_size} with the two reserved ones. Give the corpus it was trained on."
        )
    model = GPT(config)
    load_params(model, tensors, path)
    return model


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("function", choices=list(FUNCTIONS), help="what to do")
    parser.add_argument("variant", choices=VARIANTS, help="which attention")
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
    """Do what the command line says; a mistake is one or two lines and exit code 2."""
    folder = Path(__file__).resolve().parent
    run_command(_parser(), lambda options: FUNCTIONS[options.function](options), folder=folder)


if __name__ == "__main__":
    main()
