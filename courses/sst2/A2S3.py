# %% [markdown]
# # Fine-tuning a pretrained model for sentiment analysis
#
# You fine-tune a pretrained encoder (RoBERTa-base) to tell positive from negative film reviews (SST-2),
# with PyTorch and HuggingFace's transformers. Each step has code to complete (`TODO`) and questions to
# answer in your report (**Q**). The notebook runs from top to bottom at any time; what is not written yet
# is listed as "still to do".
#
# ## Step 0: Preparation

# %%
import copy
import json
import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch
import transformers
from matplotlib.ticker import MaxNLocator
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from attnlab.assets.catalogue import DEFAULT_DATA, DEFAULT_MODEL
from attnlab.assets.models import find_model
from attnlab.data.classes import stratified
from attnlab.environment import is_on, whole_number
from attnlab.errors import UserError
from attnlab.evaluation.intervals import wilson
from attnlab.randomness import rng
from attnlab.recipes.classify.settings import ClassifySettings
from attnlab.recipes.classify.texts import fetch_texts, read_texts
from attnlab.report.figures import COLORS, LINE, PAGE_WIDTH, STYLE, legend_below

transformers.logging.set_verbosity_error()  # a new classifier on a pretrained body is what we want
transformers.logging.disable_progress_bar()

# %% [markdown]
# These are the assignment's hyperparameters. On a processor without a GPU, they take hours. So by default
# the notebook trains on some of the sentences for a few epochs. Set `FULL = True`, or the environment
# variable `FULL=1`, for all of it; the notebook prints how long that takes before it begins. Training
# here does not resume: if you stop it, it starts over.

# %%
batch_size = 64
learning_rate = 5e-5
num_epochs = 20
model_name = "roberta-base"
num_workers = 0
seed = 0

FULL = is_on("FULL")
train_rows = eval_rows = 0  # all
if not FULL:
    train_rows = whole_number("TRAIN_ROWS", 640, least=2, most=1_000_000)
    eval_rows = whole_number("EVAL_ROWS", 200, least=2, most=1_000_000)
    num_epochs = whole_number("NUM_EPOCHS", 4, least=1, most=1000)
COMPARE = is_on("COMPARE")  # train with the optimizers of Q4.5: as long again for each

device = "cuda" if torch.cuda.is_available() else "cpu"


def attempt(work: Callable[[], Any]) -> Any:
    """Do something and return what it returns, or say what is still to do."""
    try:
        return work()
    except NotImplementedError as error:
        print(f"still to do: {error}")
        return None


# %% [markdown]
# The model comes from this machine or from the hub. Where neither has it, a smaller BERT takes its place.


# %%
def find_checkpoint(name: str) -> tuple[str, Path]:
    """Return a pretrained model's name and folder, or those of the one that stands in for it."""
    try:
        return name, find_model(name)
    except UserError:
        print(f"{name} cannot be had here: this run fine-tunes {DEFAULT_MODEL} in its place.")
        return DEFAULT_MODEL, find_model(DEFAULT_MODEL)


model_used, checkpoint = find_checkpoint(model_name)
tokenizer = AutoTokenizer.from_pretrained(checkpoint)

# %% [markdown]
# ## Step 1: Defining PyTorch Dataset and Dataloader
#
# `SST2Dataset` holds sentences and their labels, 0 for negative and 1 for positive. A DataLoader asks it
# for single items, and hands a list of them to `collate_fn`, which makes one batch: a dictionary of three
# tensors.
#
# | key | shape | what it holds |
# |---|---|---|
# | `input_ids` | (sentences, tokens) | the tokens' numbers |
# | `attention_mask` | (sentences, tokens) | 1 for a token, 0 for padding |
# | `label_encoding` | (sentences,) | the labels, as whole numbers |


# %%
class SST2Dataset(Dataset):
    """Sentences with their labels."""

    def __init__(self, sentences: list[str], labels: list[int], tokenizer: Any) -> None:
        assert len(sentences) == len(labels)
        self.sentences, self.labels, self.tokenizer = sentences, labels, tokenizer

    def __len__(self) -> int:
        """Count the sentences."""
        # TODO: Step 1 - return how many sentences there are.
        # <solution>
        return len(self.sentences)
        # </solution>

    def __getitem__(self, index: int) -> tuple[str, int]:
        """Return a sentence and its label."""
        # TODO: Step 1 - return the sentence and the label at this index.
        # <solution>
        return self.sentences[index], self.labels[index]
        # </solution>

    def collate_fn(self, items: list[tuple[str, int]]) -> dict[str, Tensor]:
        """Make one batch of some items."""
        # TODO: Step 1 - call the tokenizer with padding=True, truncation=True, max_length=512, return_tensors='pt'; return the three tensors.
        # <solution>
        sentences, labels = zip(*items, strict=True)
        encoded = self.tokenizer(
            list(sentences), padding=True, truncation=True, max_length=512, return_tensors="pt"
        )
        return {
            "input_ids": encoded["input_ids"],
            "attention_mask": encoded["attention_mask"],
            "label_encoding": torch.tensor(labels),
        }
        # </solution>


# %% [markdown]
# **Q1.1** Explain the arguments `padding`, `max_length`, `truncation` and `return_tensors`.
#
# TODO: your answer.
# <solution for later>
# `padding=True` fills every sentence of a batch up to the longest one with the padding token.
# `truncation=True` cuts sentences that have more than `max_length` tokens, special tokens included.
# `return_tensors="pt"` returns PyTorch tensors instead of lists.
# </solution>
#
# **Q1.2** What are the advantages of the values that we give?
#
# TODO: your answer.
# <solution for later>
# Padding makes a batch one tensor, which is computed at once; padding to the longest sentence *of the
# batch* computes less than padding all to 512. RoBERTa and BERT have vectors for 512 positions: one token
# more is an error, and truncation prevents it. Tensors go into the model as they are.
# </solution>

# %% [markdown]
# ## Step 2: Loading Data
#
# The data is `sst2/train.tsv`, `dev.tsv` and `test.tsv` (sentence, tab, label) in the folder that
# `ATTNLAB_DATA` names. Without `test.tsv`, a tenth of train is set aside as the test set, always the same
# one. Without the folder, sentences of Rotten Tomatoes take the place of SST-2.


# %%
def load_texts() -> Any:
    """Return the sentences of all splits, and the names of the classes."""
    folder = Path(os.environ.get("ATTNLAB_DATA", "")) / "sst2"
    if (folder / "train.tsv").is_file():
        splits = {"train": folder / "train.tsv", "dev": folder / "dev.tsv"}
        if (folder / "test.tsv").is_file():
            splits["test"] = folder / "test.tsv"
        files = {split: str(path) for split, path in splits.items()}
    else:
        print(f"There is no ATTNLAB_DATA with sst2: the sentences are those of {DEFAULT_DATA}.")
        files = {"train": DEFAULT_DATA}
    test_share = 0.0 if "test" in files else 0.1
    settings = ClassifySettings(**files, test_share=test_share, labels=train_rows)
    fetch_texts(settings)
    texts = read_texts(settings)
    for split, note in texts.notes.items():
        print(f"{split}: {note}")
    return texts


def make_dataset(examples: Any, classes: list[str], rows: int = 0) -> SST2Dataset:
    """Return the sentences and labels of a split, or of some rows of it, as a Dataset."""
    if 0 < rows < len(examples):
        examples = stratified(examples, rows, generator=rng(seed, "evaluation rows"))
    labels = [classes.index(example.label) for example in examples]
    return SST2Dataset([example.text for example in examples], labels, tokenizer)


texts = load_texts()
train_dataset = make_dataset(texts.train, texts.classes)
validation_dataset = make_dataset(texts.eval_splits["dev"], texts.classes, eval_rows)
test_dataset = make_dataset(texts.eval_splits["test"], texts.classes, eval_rows)

# %% [markdown]
# **Q2.1** What are the lengths of the train, validation and test datasets? (11,855 is the number of
# sentences in all of SST, neutral ones included. SST-2 at the level of sentences has 6,920, 872 and 1,821.)


# %%
def print_lengths() -> None:
    """Print the length of every dataset."""
    datasets = {"train": train_dataset, "validation": validation_dataset, "test": test_dataset}
    print(", ".join(f"{name}: {len(dataset):,}" for name, dataset in datasets.items()))


attempt(print_lengths)

# %% [markdown]
# A DataLoader cuts a dataset into batches. The training sentences come in a new order in every epoch; the
# others keep their order.


# %%
def make_loaders(
    train: Dataset, validation: Dataset, test: Dataset, batch_size: int, num_workers: int
) -> tuple[DataLoader, DataLoader, DataLoader]:
    """Return the DataLoaders of train, validation and test."""
    # TODO: Step 2 - three DataLoaders, each with batch_size, shuffle, collate_fn and num_workers.
    # <solution>
    train_loader = DataLoader(
        train,
        batch_size=batch_size,
        shuffle=True,
        collate_fn=train.collate_fn,
        num_workers=num_workers,
    )
    validation_loader = DataLoader(
        validation,
        batch_size=batch_size,
        shuffle=False,
        collate_fn=validation.collate_fn,
        num_workers=num_workers,
    )
    test_loader = DataLoader(
        test,
        batch_size=batch_size,
        shuffle=False,
        collate_fn=test.collate_fn,
        num_workers=num_workers,
    )
    return train_loader, validation_loader, test_loader
    # </solution>


# %% [markdown]
# **Q2.2** Explain the parameters `batch_size`, `shuffle`, `collate_fn` and `num_workers` of the DataLoader.
#
# TODO: your answer.
# <solution for later>
# `batch_size` is how many sentences there are in one step. `shuffle=True` draws a new order in every epoch.
# `collate_fn` makes one batch of a list of items. `num_workers` is how many processes prepare batches while
# the model computes; with 0, the main process does it in between.
# </solution>
#
# **Q2.3** Write the type and shape of `input_ids`, `attention_mask` and `label_encoding` in a batch, and
# explain what they represent.


# %%
def show_a_batch() -> None:
    """Print what is in the first batch."""
    loader, _, _ = make_loaders(
        train_dataset, validation_dataset, test_dataset, batch_size, num_workers
    )
    for key, value in next(iter(loader)).items():
        print(f"{key}: {type(value).__name__} of {value.dtype}, shape {list(value.shape)}")


attempt(show_a_batch)

# %% [markdown]
# TODO: your answer.
# <solution for later>
# The first axis is the sentence. The second one is the token: as many as the longest sentence of the batch
# has, so that its length differs from batch to batch. Each number in `input_ids` is a row of the embedding
# table; `attention_mask` keeps padding from being attended to; `label_encoding` is the class to predict.
# </solution>

# %% [markdown]
# ## Step 3: Training and Evaluation
#
# `train_one_epoch` takes one step per batch. `evaluation` changes nothing; it only measures. Both return
# the mean loss and the accuracy, over *sentences*: the last batch may be smaller than the others.


# %%
def on_device(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a batch where the model is."""
    return {key: value.to(device) for key, value in batch.items()}


def train_one_epoch(model: Any, loader: DataLoader, optimizer: Any) -> tuple[float, float]:
    """Train on every batch once; return the mean loss and the accuracy, measured on the way."""
    # TODO: Step 3 - put the model into training mode.
    # <solution>
    model.train()
    # </solution>
    loss_sum, n_right, n = 0.0, 0, 0
    for each in loader:
        batch = on_device(each)
        labels = batch["label_encoding"]
        output = model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels
        )
        loss = output.loss
        # TODO: Step 3 - compute gradients and update the parameters, in three lines.
        # <solution>
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # </solution>
        loss_sum += loss.item() * len(labels)
        n_right += (output.logits.argmax(dim=-1) == labels).sum().item()
        n += len(labels)
    return loss_sum / n, n_right / n


def evaluation(model: Any, loader: DataLoader) -> tuple[float, float]:
    """Return the mean loss and the accuracy over all sentences of a loader."""
    # TODO: Step 3 - put the model into evaluation mode; under torch.no_grad(), sum up as above and divide by the number of sentences.
    # <solution>
    model.eval()
    loss_sum, n_right, n = 0.0, 0, 0
    with torch.no_grad():
        for each in loader:
            batch = on_device(each)
            labels = batch["label_encoding"]
            output = model(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels
            )
            loss_sum += output.loss.item() * len(labels)
            n_right += (output.logits.argmax(dim=-1) == labels).sum().item()
            n += len(labels)
    return loss_sum / n, n_right / n
    # </solution>


# %% [markdown]
# **Q3.1** Explain what each of the three lines does.
#
# TODO: your answer.
# <solution for later>
# `optimizer.zero_grad()` forgets the gradients of the batch before; otherwise PyTorch adds the new ones to
# them. `loss.backward()` computes the gradient of the loss for every parameter that requires one.
# `optimizer.step()` changes the parameters by these gradients, as the optimizer's rule says.
# </solution>
#
# **Q3.2** Explain what setting the model to training and to evaluation mode does.
#
# TODO: your answer.
# <solution for later>
# It changes what some layers do; it does not switch gradients on or off. Dropout zeroes a random part of
# its input in training, and passes everything in evaluation. BatchNorm normalizes by the batch in training
# (and keeps running averages), and by those averages in evaluation: it is *not* switched off. RoBERTa has
# LayerNorm, which does the same in both modes, so dropout is all that changes here.
# </solution>
#
# **Q3.3** Explain what `with torch.no_grad()` does in `evaluation()`.
#
# TODO: your answer.
# <solution for later>
# Operations inside do not record what a gradient would need. That saves memory and time, and changes no
# result. It does not replace evaluation mode: dropout would still be on.
# </solution>

# %% [markdown]
# ## Step 4: Main Training Loop
#
# In every epoch, train on the training set, then evaluate on the validation set. The epoch with the best
# validation accuracy gives the final model. `state_dict()` returns the weights themselves, which go on
# changing: keep a copy. The test set has no part in this.


# %%
def fit(
    model: Any,
    train_loader: DataLoader,
    validation_loader: DataLoader,
    optimizer: Any,
    num_epochs: int,
) -> list[dict[str, float]]:
    """Train; return one line per epoch, and leave the weights of the best epoch in the model."""
    history: list[dict[str, float]] = []
    best_accuracy, best_weights = -1.0, None
    for epoch in range(1, num_epochs + 1):
        # TODO: Step 4 - call train_one_epoch and evaluation; if validation_accuracy is the best so far, keep it and a copy of the weights.
        # <solution>
        train_loss, train_accuracy = train_one_epoch(model, train_loader, optimizer)
        validation_loss, validation_accuracy = evaluation(model, validation_loader)
        if validation_accuracy > best_accuracy:
            best_accuracy = validation_accuracy
            best_weights = copy.deepcopy(model.state_dict())
        # </solution>
        history.append(
            {
                "step": epoch,
                "train_loss": train_loss,
                "train_accuracy": train_accuracy,
                "validation_loss": validation_loss,
                "validation_accuracy": validation_accuracy,
            }
        )
        print(
            f"epoch {epoch:2}: train loss {train_loss:.3f}, accuracy {train_accuracy:.3f};"
            f" validation loss {validation_loss:.3f}, accuracy {validation_accuracy:.3f}"
        )
    model.load_state_dict(best_weights)
    return history


def new_model() -> Any:
    """Return the pretrained model with a new classifier, always the same one."""
    torch.manual_seed(seed)
    return AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2).to(device)


def predict_minutes(train_loader: DataLoader, validation_loader: DataLoader) -> float:
    """Time some batches with a model that is thrown away; return the minutes of the whole run."""
    model, batches = new_model(), list(islice(train_loader, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    train_one_epoch(model, batches[:1], optimizer)  # the first step is slower than the others
    started = time.perf_counter()
    train_one_epoch(model, batches, optimizer)
    trained = time.perf_counter()
    evaluation(model, batches)
    evaluated = time.perf_counter()
    each = (trained - started) * len(train_loader) + (evaluated - trained) * len(validation_loader)
    return num_epochs * each / len(batches) / 60


def train(make_optimizer: Callable[[Any], Any]) -> tuple[Any, list[dict[str, float]]]:
    """Train a new model; return it and its history."""
    train_loader, validation_loader, _ = make_loaders(
        train_dataset, validation_dataset, test_dataset, batch_size, num_workers
    )
    minutes = predict_minutes(train_loader, validation_loader)
    print(
        f"This run ({num_epochs} × {len(train_dataset):,} sentences) takes about {minutes:.1f}"
        f" minutes on this machine ({device})."
    )
    model = new_model()
    optimizer = make_optimizer(model.parameters())
    return model, fit(model, train_loader, validation_loader, optimizer, num_epochs)


# %%
trained = attempt(lambda: train(lambda parameters: torch.optim.AdamW(parameters, lr=learning_rate)))

# %% [markdown]
# **Q4.1** With the default hyperparameters, plot training and validation curves in a single plot.
#
# The document asks for *loss* curves on an axis called *acc*, and for 10 epochs where it trains 20. So draw
# both quantities, and all epochs; a line marks the tenth. Training values are measured while the model
# learns, with dropout, on the weights of each step; validation values after the epoch, without dropout.


# %%
def draw_curves(runs: dict[str, list[dict[str, float]]], file: str) -> None:
    """Draw loss and accuracy over epochs, and write the figure to a file, too."""
    with plt.rc_context(STYLE):
        size = (PAGE_WIDTH, 3.4 + LINE * len(runs))
        figure, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
        for axis, quantity in zip(axes, ("loss", "accuracy"), strict=True):
            axis.set_title(f"{quantity.capitalize()} by epoch")
            axis.set_xlabel("epoch")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            for (name, history), color in zip(runs.items(), COLORS, strict=False):
                epochs = [line["step"] for line in history]
                for split, stroke in (("train", "--"), ("validation", "-")):
                    values = [line[f"{split}_{quantity}"] for line in history]
                    axis.plot(epochs, values, f".{stroke}", color=color, label=f"{name}, {split}")
            if len(epochs) > 10:
                axis.axvline(10, color="gray", linewidth=1)  # as far as the document draws
        legend_below(figure, *axes[0].get_legend_handles_labels())
        figure.savefig(file, dpi=160)


if trained:
    draw_curves({"AdamW": trained[1]}, "A2S3_curves.png")

# %% [markdown]
# **Q4.2** Describe the curves. At which epoch is the accuracy on train best, and at which on validation? Do
# both curves have the same trend? Why?


# %%
def best_epoch(history: list[dict[str, float]], split: str) -> dict[str, float]:
    """Return the line of the epoch with the highest accuracy on a split; the first of equals."""
    return max(history, key=lambda line: line[f"{split}_accuracy"])


def describe(history: list[dict[str, float]]) -> None:
    """Say which epoch is best on train and on validation."""
    for split in ("train", "validation"):
        line = best_epoch(history, split)
        print(
            f"Best on {split}: epoch {line['step']} of {len(history)}, accuracy"
            f" {line[f'{split}_accuracy']:.1%}, loss {line[f'{split}_loss']:.3f}."
        )
    lowest = min(history, key=lambda line: line["validation_loss"])
    print(
        f"The validation loss is lowest in epoch {lowest['step']}: {lowest['validation_loss']:.3f}."
    )


if trained:
    describe(trained[1])

# %% [markdown]
# TODO: your answer.
# <solution for later>
# In training, the loss falls and the accuracy rises to the last epochs. On validation, both are good early
# and then stay; in a long run the validation *loss* rises again while the accuracy hardly moves, because
# the few wrong answers are given with more and more confidence. The model learns its training sentences by
# heart (overfitting). Differences of a point or less between epochs of validation accuracy are chance: the
# interval of 872 sentences is about two points to each side.
# </solution>
#
# **Q4.3** Why do you shuffle the training data but not the validation data?
#
# TODO: your answer.
# <solution for later>
# Each step follows the gradient of one batch. In a fixed order, batches would be alike in every epoch, and
# neighbours in the file may be alike, too. An evaluation is a mean over all sentences, which no order
# changes; without shuffling, its predictions can be compared line by line.
# </solution>
#
# **Q4.4** Explain what an optimizer does.
#
# TODO: your answer.
# <solution for later>
# It decides how far each parameter moves, given the gradients. SGD takes the same rate for all of them. Adam
# divides a running mean of the gradient by the root of a running mean of its square, so that parameters with
# small gradients move as far as others; AdamW also shrinks the weights directly (weight decay).
# </solution>

# %% [markdown]
# **Q4.5** Train with two other optimizers of `torch.optim`. How do they differ from AdamW?
#
# A learning rate belongs to its optimizer. At 5e-5, a step of SGD is smaller than one of AdamW by orders of
# magnitude: that SGD "does not learn" there says something about the rate. Try SGD at a rate of its own.

# %%
optimizers: dict[str, Callable[[Any], Any]] = {}
# TODO: Step 4 - add two optimizers: a name, and a function that makes one of the model's parameters.
# <solution for later>
optimizers["SGD at 5e-5"] = lambda parameters: torch.optim.SGD(parameters, lr=5e-5)
optimizers["SGD at 0.05, momentum 0.9"] = lambda parameters: torch.optim.SGD(
    parameters, lr=0.05, momentum=0.9
)
optimizers["Adagrad at 5e-5"] = lambda parameters: torch.optim.Adagrad(parameters, lr=5e-5)
# </solution>

compared = {"AdamW at 5e-5": trained[1]} if trained else {}
if trained and COMPARE:
    for name, make_optimizer in optimizers.items():
        print(f"== {name}")
        compared[name] = train(make_optimizer)[1]

# %%
if len(compared) > 1:
    draw_curves(compared, "A2S3_optimizers.png")

# %% [markdown]
# **Q4.6** Try combinations of `batch_size`, `learning_rate` and `num_epochs`, and pick the best model by its
# validation accuracy. Describe your strategy. **Q4.7** What are the hyperparameters of the model that you
# picked, and its training and validation accuracy?
#
# TODO: your answer.
# <solution for later>
# Change the settings in Step 0 and run again; one line per run in a table. The learning rate matters most, so
# it comes first, on a scale of factors (1e-5, 2e-5, 5e-5, 1e-4), then the batch size; the number of epochs
# needs no search, since the best epoch is kept. Whoever tries many combinations picks the luckiest one on
# validation, too: its accuracy there is too high by a little, and only the test set says by how much.
# </solution>

# %% [markdown]
# ## Step 5: Testing the Final Model
#
# **Q5.1** What is the test set accuracy of the best model?
#
# The test set is read once, with the model that validation chose. If you look at it and then choose again, it
# is a second validation set.


# %%
def final_test(model: Any, history: list[dict[str, float]]) -> None:
    """Evaluate the model on the test set, and write down what it was and what it reached."""
    *_, test_loader = make_loaders(
        train_dataset, validation_dataset, test_dataset, batch_size, num_workers
    )
    # TODO: Step 5 - the loss and the accuracy on the test set, in one line: test_loss, test_accuracy = ...
    # <solution>
    test_loss, test_accuracy = evaluation(model, test_loader)
    # </solution>
    n = len(test_dataset)
    low, high = wilson(round(n * test_accuracy), n)
    print(f"Test accuracy: {test_accuracy:.4f} of {n:,} (95 % interval: {low:.3f} – {high:.3f})")
    result = {
        "model": model_used,
        "train_rows": len(train_dataset),
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "num_epochs": num_epochs,
        "history": history,
        "best_epoch": best_epoch(history, "validation")["step"],
        "test_loss": test_loss,
        "test_accuracy": test_accuracy,
        "test_rows": n,
    }
    Path("A2S3_results.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if trained:
    attempt(lambda: final_test(*trained))

# %% [markdown]
# TODO: your answer.
# <solution for later>
# The interval says how far chance alone may move the number: of 1,821 sentences, 1,699 right are 0.9330, with
# an interval from 0.921 to 0.944. Two models whose intervals overlap widely are not told apart by it.
# </solution>
