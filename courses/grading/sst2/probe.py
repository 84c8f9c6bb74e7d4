"""Runs a submission's code of A2S3 and records what it returns; judges nothing.

Every part of it runs by itself: what the others return is put in its place.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from attnlab.checks.findings import FAILURES, describe_failure
from attnlab.checks.notebooks import load_submission
from attnlab.errors import UserError
from grading.probing import NOT_WRITTEN, Answer, Arrays, at_most, main, nearest, set_seed
from grading.sst2.instruments import (
    Rows,
    ScriptedEpochs,
    described,
    flat,
    known_loader,
    rows_of,
    small_model,
    values_of,
    watch,
)

WANTED = ("SST2Dataset", "make_loaders", "train_one_epoch", "evaluation", "fit")
RATE, EPOCHS, BATCH = 3e-3, 4, 8
"""How the toy sentences are learned, by the submission as a whole."""


def run_all(file: Path, request: Mapping[str, Any]) -> Answer:
    """Run every part; what cannot be loaded is said under ``fatal``."""
    folder = Path(request["folder"])
    os.environ.update(
        ATTNLAB_DATA=str(folder),
        ATTNLAB_ASSETS=str(folder / "assets.yaml"),
        **{"FULL": "0", "TRAIN_ROWS": "8", "EVAL_ROWS": "4", "NUM_EPOCHS": "1"},
        **{"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "MPLBACKEND": "agg"},
    )
    try:
        module = load_submission(file, set(WANTED))
    except UserError as error:
        return {"fatal": str(error).replace(str(file), file.name)}, {}
    with contextlib.chdir(folder):  # whoever keeps weights in a file finds room there
        return Recorder(module, file.name, request).record()


class Recorder:
    """What the parts of one submission return."""

    def __init__(self, module: ModuleType, name: str, request: Mapping[str, Any]) -> None:
        self.module, self.name, self.request = module, name, request
        self.said: dict[str, Any] = {"failures": {}}
        self.arrays: Arrays = {}

    def record(self) -> Answer:
        """Run everything; whatever fails is noted, and the rest goes on."""
        tasks: dict[str, tuple[str, Callable[[], Any]]] = {
            "length": ("SST2Dataset", self.length),
            "batch": ("SST2Dataset", lambda: self.batch(self.request["sentences"])),
            "long": ("SST2Dataset", lambda: self.batch(self.request["long"])),
            "loaders": ("make_loaders", self.loaders),
            "training": ("train_one_epoch", self.training),
            "evaluation": ("evaluation", self.evaluation),
            "learned": ("fit", self.learned),
            "fit": ("fit", self.fit),
        }
        for task, (name, run) in tasks.items():
            set_seed(0)
            try:
                if not hasattr(self.module, name):
                    near = nearest(name, vars(self.module))
                    raise UserError(f"{self.name} has no {name}.{near}")
                with at_most(self.request["seconds"] / (len(tasks) + 1)):
                    self.said[task] = run()
            except TimeoutError:
                self.said["failures"][task] = "it took too long and was stopped"
            except UserError as error:
                self.said["failures"][task] = str(error)
            except FAILURES as error:
                unwritten = NOT_WRITTEN if isinstance(error, NotImplementedError) else ""
                self.said["failures"][task] = unwritten + describe_failure(error)
        return self.said, self.arrays

    def dataset(self, rows: Any) -> Any:
        """Return rows as a Dataset of the submission."""
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(self.request["model"])
        texts, labels = [text for text, _ in rows], [label for _, label in rows]
        return self.module.SST2Dataset(texts, labels, tokenizer)

    def model(self) -> Any:
        """Return the model that all submissions get."""
        return small_model(self.request["model"])

    def length(self) -> int:
        """Return how long a Dataset says it is."""
        return len(self.dataset(self.request["sentences"]))

    def batch(self, rows: Any) -> dict[str, Any]:
        """Return what a batch of all rows holds, by key."""
        dataset = self.dataset(rows)
        batch = dataset.collate_fn([dataset[i] for i in range(len(rows))])
        if not hasattr(batch, "keys"):
            raise UserError(f"collate_fn returns a {type(batch).__name__}: return a dictionary")
        return {str(key): described(batch[key]) for key in batch.keys()}  # noqa: SIM118

    def loaders(self) -> dict[str, Any]:
        """Return which rows the loaders give in two epochs, and how many processes they start."""
        sizes = self.request["sizes"]
        splits = [Rows([100 * k + i for i in range(n)]) for k, n in enumerate(sizes)]
        with patch.multiple(self.module, create=True, SST2Dataset=Rows):
            make, size = self.module.make_loaders, self.request["batch_size"]
            made = values_of(
                make(*splits, size, 0), 3, "the DataLoaders of train, validation, test"
            )
            workers = make(*splits, size, 2)
        epochs = [[[rows_of(batch) for batch in loader] for _ in range(2)] for loader in made]
        return {"epochs": epochs, "workers": [loader.num_workers for loader in workers]}

    def training(self) -> dict[str, Any]:
        """Train for an epoch on known batches; the model starts in evaluation mode."""
        model, loader = self.model().eval(), known_loader(self.request["rows"])
        optimizer = torch.optim.SGD(model.parameters(), lr=self.request["rate"])
        modes = watch(model)
        self.module.train_one_epoch(model, loader, optimizer)
        self.arrays["trained"] = flat(model)
        return {"training": [mode for mode, _ in modes]}

    def evaluation(self) -> dict[str, Any]:
        """Evaluate known batches; the model starts in training mode."""
        model, loader = self.model().train(), known_loader(self.request["rows"])
        before, modes = flat(model), watch(model)
        found = self.module.evaluation(model, loader)
        loss, accuracy = map(float, values_of(found, 2, "the mean loss and the accuracy"))
        return {
            "training": [mode for mode, _ in modes],
            "gradients": [gradients for _, gradients in modes],
            "changed": bool((flat(model) != before).any()),
            "loss": loss,
            "accuracy": accuracy,
        }

    def learned(self) -> float:
        """Let everything train together; return the accuracy on sentences that were not trained on."""
        splits = [self.dataset(self.request[name]) for name in ("train", "dev", "test")]
        train_loader, validation_loader, _ = self.module.make_loaders(*splits, BATCH, 0)
        model = self.model().float()
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
        self.module.fit(model, train_loader, validation_loader, optimizer, EPOCHS)
        model.eval()
        tokenizer = splits[0].tokenizer
        texts, labels = [t for t, _ in self.request["test"]], [y for _, y in self.request["test"]]
        with torch.no_grad():
            encoded = tokenizer(texts, padding=True, return_tensors="pt")
            predicted = model(**encoded).logits.argmax(-1).tolist()
        return float(np.mean([p == y for p, y in zip(predicted, labels, strict=True)]))

    def fit(self) -> dict[str, Any]:
        """Run the main loop with epochs whose results are known."""
        splits = ("train", "dev", "test")
        loaders = {name: known_loader(self.request["rows"]) for name in splits}
        loop = ScriptedEpochs(loaders, self.request["script"])
        stubs = {"train_one_epoch": loop.train_one_epoch, "evaluation": loop.evaluation}
        with patch.multiple(self.module, create=True, test_loader=loaders["test"], **stubs):
            optimizer = torch.optim.SGD(loop.model.parameters(), lr=0.1)
            given = loop.model, loaders["train"], loaders["dev"], optimizer
            self.module.fit(*given, len(loop.script["dev"]))
        return {"calls": loop.calls, "kept": round(loop.model.weight.item())}


if __name__ == "__main__":
    main({"all": run_all})
