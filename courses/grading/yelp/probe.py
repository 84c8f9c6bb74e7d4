"""Runs a submission's code of the yelp course and records what it returns; judges nothing.

The file is the submission's mymodel.py or classifier_mlm.py; trainer.py is read beside it.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from grading.probing import Answer, Arrays, find, last_line, main, set_seed

DRAWS = 16
"""Forward passes in training, to see the dropout."""
STEPS, RATE = 10, 0.02
"""Of training."""
Call = Callable[..., Any]


def run_model(file: Path, request: Mapping[str, Any]) -> Answer:
    """Run a file's class."""
    return outputs_of(find(file, request["class"]), request)


def outputs_of(build: Any, request: Mapping[str, Any]) -> Answer:
    """Record what its forward passes return, in float32 if it needs that."""
    for dtype in (torch.float64, torch.float32):
        said: dict[str, Any] = {"dtype": str(dtype).partition(".")[2], "failures": {}}
        arrays: Arrays = {}
        model = read_model(build, request, dtype)
        for name, head in request["heads"].items():
            found, failures = Recorder(model, head).record()
            said["failures"] |= {f"{name}/{key}": why for key, why in failures.items()}
            arrays |= {f"{name}/{key}": array for key, array in found.items()}
        if not any(key.endswith("scores plain") for key in said["failures"]):
            break
    return said, arrays


def read_model(build: Any, request: Mapping[str, Any], dtype: torch.dtype) -> nn.Module:
    """Read the model that all submissions read, and give layers with names of their own weights."""
    set_seed(0)
    classes = {"num_labels": request["num_labels"]} if request["num_labels"] else {}
    model = build.from_pretrained(request["checkpoint"], **classes)
    body = f"{body_of(model)[0]}."
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            weights = request["weights"].get(str(list(parameter.shape)))
            if weights is not None and not name.startswith(body):
                parameter.copy_(torch.tensor(weights))
    return model.to(dtype)


def body_of(model: nn.Module) -> tuple[str, nn.Module]:
    """Find the body, whatever a student calls it."""
    for name, module in model.named_modules():
        if name and hasattr(module, "embeddings") and hasattr(module.embeddings, "words"):
            return name, module
    raise AttributeError("the model has no body: none of its modules is a BertModel.")


class Recorder:
    """What one head of a model returns."""

    def __init__(self, model: nn.Module, head: Mapping[str, Any]) -> None:
        self.model, self.absent = model, head["absent"]
        self.body_name, self.body = body_of(model)
        self.call: Call = model if head["call"] == "forward" else getattr(model, head["call"])
        self.cases = {
            name: {key: torch.tensor(value) for key, value in case.items()}
            for name, case in head["cases"].items()
        }
        self.failures: dict[str, str] = {}
        self.arrays: Arrays = {}

    def record(self) -> tuple[Arrays, dict[str, str]]:
        """Run everything; whatever fails is noted, and the rest goes on."""
        self.model.eval()
        for name in self.cases:
            self._note(f"scores {name}", lambda name=name: _array(self.scores(name)))
        self._note("scores again", lambda: _array(self.scores("plain")))
        self._note("loss", lambda: _array(self.loss()))
        self._note("reached", self.reached)
        self._note("moved", self.moved)
        self._note("drawn", self.drawn)
        self._note("stays in training", self.stays_in_training)
        self._note("losses", self.losses)
        return self.arrays, self.failures

    def _note(self, name: str, run: Callable[[], np.ndarray]) -> None:
        try:
            self.arrays[name] = run()
        except BaseException as error:
            self.failures[name] = last_line(error)

    def scores(self, name: str) -> Tensor:
        """Return the scores of a batch without labels."""
        case = self.cases[name]
        found = self.call(case["ids"], case["mask"], case["types"])
        scores = found[-1] if isinstance(found, tuple) and found else found
        if not isinstance(scores, Tensor):
            raise TypeError(f"without labels it returns {describe(found)}: return (logits,)")
        return scores

    def loss(self) -> Tensor:
        """Return the loss of the first batch."""
        case = self.cases["plain"]
        found = self.call(case["ids"], case["mask"], case["types"], case["labels"])
        if not isinstance(found, tuple) or len(found) < 2:
            raise TypeError(f"with labels it returns {describe(found)}: return loss, logits")
        if found[0].numel() != 1:
            raise TypeError(f"the loss has shape {tuple(found[0].shape)}: return one number")
        return found[0]

    def reached(self) -> np.ndarray:
        """Say which parameters get a gradient from the loss."""
        self.model.zero_grad()
        self.loss().backward()
        names = [
            name.replace(f"{self.body_name}.", "bert.", 1)
            for name, parameter in self.model.named_parameters()
            if parameter.grad is not None and bool(parameter.grad.abs().max() > 1e-12)
        ]
        return np.array(names, dtype=np.str_)

    def moved(self) -> np.ndarray:
        """Return the scores after the embedding of a token that is not there was changed."""
        row = self.body.embeddings.words.weight[self.absent]
        before = row.detach().clone()
        with torch.no_grad():
            row += 1
            try:
                return _array(self.scores("plain"))
            finally:
                row.copy_(before)

    def drawn(self) -> np.ndarray:
        """Return the scores in training; the body drops nothing, so that the head's dropout shows."""
        with self._training():
            self.body.eval()
            return np.stack([_array(self.scores("plain")) for _ in range(DRAWS)])

    def stays_in_training(self) -> np.ndarray:
        """Say whether a forward pass leaves the model as it was: training."""
        with self._training():
            self.loss()
            return np.array(all(module.training for module in self.model.modules()))

    def losses(self) -> np.ndarray:
        """Return the loss before and after a few steps of training."""
        before = {name: value.clone() for name, value in self.model.state_dict().items()}
        first = _array(self.loss())
        with self._training():
            optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE)
            for _ in range(STEPS):
                optimizer.zero_grad()
                self.loss().backward()
                optimizer.step()
        last = _array(self.loss())
        self.model.load_state_dict(before)
        return np.array([first, last])

    @contextlib.contextmanager
    def _training(self) -> Iterator[None]:
        set_seed(1)
        self.model.train()
        try:
            yield
        finally:
            self.model.eval()


def run_joint(file: Path, request: Mapping[str, Any]) -> Answer:
    """Run the class with both heads, and the loss that the trainer makes of them."""
    said, arrays = run_model(file, request)
    try:
        model = read_model(find(file, request["class"]), request, torch.float64)
        trainer = find(file.with_name("trainer.py"), "CourseTask")
        arrays["joint/losses"] = joint_losses(trainer, model, request)
    except BaseException as error:
        said["failures"]["joint/losses"] = last_line(error)
    return said, arrays


def joint_losses(trainer: Any, model: nn.Module, request: Mapping[str, Any]) -> np.ndarray:
    """Return the loss that is trained on and the model's own two, before and after some steps."""
    heads = request["heads"]
    nothing = SimpleNamespace(steps_in=None)
    task = trainer(model.eval(), nothing, masked=None, alpha=request["alpha"], evaluate=None)
    batch = joint_batch({task: heads[head]["cases"]["plain"] for task, head in request["streams"]})

    def total() -> Tensor:
        terms = task.loss(batch).values()
        return torch.stack([term.scale * term.sum / term.weight for term in terms]).sum()

    def all_losses() -> list[float]:
        own = [Recorder(model, heads[head]).loss() for _, head in request["streams"]]
        return [float(_array(loss)) for loss in (total(), *own)]

    first = all_losses()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        total().backward()
        optimizer.step()
    return np.array([first, all_losses()])


def joint_batch(streams: Mapping[str, Any]) -> Any:
    """Return some texts of both kinds, as the trainer reads them."""
    from attnlab.data.text_batches import JointBatch, TextRow, collate_texts

    def row(ids: list[int], mask: list[int], types: list[int], labels: Any) -> TextRow:
        n = sum(mask)
        return TextRow(
            "text", ids[:n], types[:n], labels[:n] if isinstance(labels, list) else [labels]
        )

    columns = ("ids", "mask", "types", "labels")
    return JointBatch(
        {
            name: collate_texts(list(map(row, *(case[column] for column in columns))))
            for name, case in streams.items()
        }
    )


def run_masking(file: Path, request: Mapping[str, Any]) -> Answer:
    """Let a file's get_mlm_inputs mask rows, again and again, for every share."""
    from attnlab.data.wordpiece import WordPiece

    get_inputs = find(file, "get_mlm_inputs")
    tokenizer = WordPiece.read(Path(request["checkpoint"]) / "vocab.txt")
    set_seed(request["seed"])
    shape = len(request["rows"]), max(map(len, request["rows"]))

    def draw(share: float) -> np.ndarray:
        rows = [torch.tensor(row) for row in request["rows"]]
        return inputs_and_labels(get_inputs(rows, tokenizer, share), shape)

    times = range(request["draws"])
    return {}, {str(share): np.stack([draw(share) for _ in times]) for share in request["shares"]}


def inputs_and_labels(found: object, shape: tuple[int, int]) -> np.ndarray:
    """Put inputs and labels into one array, (2, B, T); refuse any other shape."""
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(f"it returns {describe(found)}: return inputs, labels")
    for name, part in zip(("inputs", "labels"), found, strict=True):
        if not isinstance(part, Tensor) or tuple(part.shape) != shape:
            raise TypeError(f"the {name} are {describe(part)}: they must have shape {shape}")
    return np.stack([part.numpy() for part in found])


def describe(found: object) -> str:
    """Name what a function returned."""
    if isinstance(found, Tensor):
        return f"a tensor of shape {tuple(found.shape)}"
    return f"{len(found)} values" if isinstance(found, tuple) else f"a {type(found).__name__}"


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.detach().double().numpy())


KINDS = {"model": run_model, "joint": run_joint, "masking": run_masking}

if __name__ == "__main__":
    main(KINDS)
