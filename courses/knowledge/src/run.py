"""Pretrain, fine-tune and evaluate, with the assignment's command lines.

    python src/run.py pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
    python src/run.py finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params \\
        --writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv
    python src/run.py evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params \\
        --eval_corpus_path birth_dev.tsv --outputs_path vanilla.pretrain.dev.predictions

Everything is done with the files in this folder: change one, and you train what you wrote. If
training was stopped, the same command resumes it; until then its state is kept in runs/.
"""

from attnlab.guard import watch_imports

if __name__ == "__main__":
    watch_imports("run.py")  # what follows takes a while to load

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlab.cli.course import needed, run_command
from attnlab.errors import UserError

VARIANTS = ("vanilla", "synthesizer")
BLOCK_SIZE = 128
SHORT = "4 steps"
"""How long TINY=1 in the environment lets everything train: enough to try the commands."""
FULL = bool(os.environ.get("FULL"))
"""Whether every command is followed to the letter, without the flag that says so."""


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
        forms = dict(recipe.pretrain.objective.options)
        shift = forms.pop("shift")
        del forms["block"]  # is the Dataset's
        training = recipe.pretrain.training
        pretraining = replace(config, max_epochs=65, shift=shift, forms=forms, training=training)
        epochs, training = (10, training) if is_new else (3, recipe.finetune.training)
        finetuning = replace(config, max_epochs=epochs, training=training)
    return replace(
        pretraining if is_pretraining else finetuning,
        seed=options.seed,
        length=options.length or (SHORT if os.environ.get("TINY") else ""),
        name=f"{options.function}-{options.variant}",
    )


def new_model(options: argparse.Namespace, vocab_size: int) -> Any:
    """Make a model with new weights: vanilla, or with the attention of the synthesizer."""
    from model import GPT, GPTConfig

    share = 0.1 if options.to_the_letter else 0.0
    dropout = {"embd_pdrop": share, "resid_pdrop": share, "attn_pdrop": share}
    if options.variant == "vanilla":
        # [part c] how large the model is: vocab_size tokens, BLOCK_SIZE places, and this dropout
        # TODO: [part c], src/run.py: make the GPTConfig of a vanilla model.
        # <solution>
        config = GPTConfig(vocab_size, BLOCK_SIZE, **dropout)
        # </solution>
    else:
        # [part g] the same, with the attention of the synthesizer
        # TODO: [part g], src/run.py: make the GPTConfig of a synthesizer model.
        # <solution>
        config = GPTConfig(vocab_size, BLOCK_SIZE, synthesizer=True, **dropout)
        # </solution>
    return GPT(config)


def pretrain(options: argparse.Namespace) -> None:
    """Learn from corrupted text, and write the model."""
    path = writable(needed(options, "writing_params_path"))
    text = read_corpus(options)
    # [part f] train a new model on text, with the Trainer and hyperparameters(options); write it
    # TODO: [part f], src/run.py: pretrain a new model on the corrupted text, and write it to path.
    # <solution>
    model = new_model(options, text.vocab_size)
    train_and_write(model, text, options, path)
    # </solution>


def finetune(options: argparse.Namespace) -> None:
    """Learn from questions, from a pretrained model or from nothing, and write the model."""
    questions = needed(options, "finetune_corpus_path")
    path = writable(needed(options, "writing_params_path"))
    from dataset import NameDataset, read_text

    text = read_corpus(options)
    names = NameDataset(text, read_text(questions))
    if options.reading_params_path:
        # [part f] start from a pretrained model
        # TODO: [part f], src/run.py: read the model in options.reading_params_path.
        # <solution>
        model = saved_model(options, text, dropout=0.1 if options.to_the_letter else 0.0)
        # </solution>
    else:
        model = new_model(options, text.vocab_size)
    # [part c] train the model on names, with the Trainer and hyperparameters(options); write it
    # TODO: [part c], src/run.py: finetune the model on the questions, and write it to path.
    # <solution>
    train_and_write(model, names, options, path)
    # </solution>


# <solution for later>
def train_and_write(model: Any, dataset: Any, options: argparse.Namespace, path: Path) -> None:
    """Train a model to the end, or go on where it was stopped, and write it."""
    from trainer import Trainer
    from utils import write_params

    run = Trainer(model, dataset, None, hyperparameters(options)).train()
    write_params(model, path)
    print(f"{path} written; the run is {run.path}")


# </solution>
def evaluate(options: argparse.Namespace) -> None:
    """Answer the questions of a file, one answer a line, and score them if the truth is known."""
    needed(options, "reading_params_path")
    questions = needed(options, "eval_corpus_path")
    outputs = writable(needed(options, "outputs_path"))
    from utils import answer_questions, evaluate_places

    from attnlab.data.knowledge_files import read_questions
    from attnlab.runs.files import replace_file

    asked = [question.text for question in read_questions(Path(questions))]
    text = read_corpus(options)
    model = saved_model(options, text)
    places = answer_questions(model, text.stoi, asked)
    replace_file(outputs, "".join(f"{place}\n" for place in places).encode())
    total, correct = evaluate_places(questions, places)
    if total:
        print(f"Correct: {correct} out of {total}: {correct / total * 100}%")
    else:
        print(f"Predictions written to {outputs}; no score.")


def writable(name: str) -> Path:
    """Return where to write; refuse it before anything is computed if it cannot be written."""
    from attnlab.runs.files import check_output

    path = Path(name)
    check_output(path)
    return path


def read_corpus(options: argparse.Namespace) -> Any:
    """Read the text that gives the characters, and is corrupted for pretraining."""
    from dataset import CharCorruptionDataset, read_text
    from utils import set_seed

    set_seed(options.seed)
    return CharCorruptionDataset(read_text(options.pretrain_corpus_path), BLOCK_SIZE)


def saved_model(options: argparse.Namespace, text: Any, dropout: float = 0.0) -> Any:
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
        default=FULL,
        help="the course's own hyperparameters, for many hours; by default ours, for 2 cores."
        " FULL=1 in the environment says the same",
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
