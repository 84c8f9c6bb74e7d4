"""Lets a model answer, counts how many birthplaces are right, and reads and writes its file."""

import io
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from attnlab.assets.tensors import read_tensors
from attnlab.data.knowledge_files import read_questions
from attnlab.data.tokenizer import SENTINEL
from attnlab.errors import UserError
from attnlab.models.decoding import continue_prompts
from attnlab.runs.files import replace_file

LONGEST_ANSWER = 32
"""Characters that a model may write after a question."""


def set_seed(seed: int) -> None:
    """Let whatever is drawn from now on be the same every time."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def answer_questions(model: nn.Module, stoi: dict[str, int], questions: Sequence[str]) -> list[str]:
    """Let a model write on after ``question⁇``, the likeliest character each time, up to a ⁇."""
    itos = {token: character for character, token in stoi.items()}
    prompts = []
    for question in questions:
        if unknown := [character for character in question if character not in stoi]:
            raise UserError(
                f"the character {unknown[0]!r} of {question!r} does not stand in the text of the"
                " pretraining, so the model cannot read it."
            )
        prompts.append([stoi[character] for character in question + SENTINEL])
    model.eval()
    with torch.no_grad():
        written = continue_prompts(
            _Writer(model), prompts, stop=stoi[SENTINEL], max_new=LONGEST_ANSWER, slides=True
        )
    texts = ["".join(itos[token] for token in one.tokens) for one in written]
    return [" ".join(text.splitlines()) for text in texts]


class _Writer:
    """A model of the course as ``continue_prompts`` calls it: without a cache."""

    def __init__(self, model: nn.Module) -> None:
        self._model, self.max_len = model, int(model.block_size)  # type: ignore[arg-type]
        self.parameters = model.parameters

    def __call__(self, tokens: Tensor, _: object = None) -> Tensor:
        logits: Tensor = self._model(tokens)[0]
        return logits

    def new_caches(self) -> None:
        """It has none."""


def evaluate_places(filepath: str | Path, predicted_places: Sequence[str]) -> tuple[float, float]:
    """Return how many places a file of questions asks for, and how many predictions are right.

    A file without answers, such as the test set's, gives (0, 0).
    """
    answers = [question.answer for question in read_questions(Path(filepath))]
    if None in answers:
        print(f"{filepath} holds no answers: nothing to compare with, (0, 0).")
        return 0.0, 0.0
    if len(predicted_places) != len(answers):
        raise UserError(
            f"{filepath} has {len(answers)} questions, but there are {len(predicted_places)}"
            " predictions: give one for each, in their order."
        )
    pairs = zip(answers, predicted_places, strict=True)
    right = sum(answer is not None and answer.strip() == place for answer, place in pairs)
    return float(len(answers)), float(right)


def read_params(path: str | Path) -> dict[str, Tensor]:
    """Read the tensors of a model's file by name; nothing in it is executed."""
    tensors = read_tensors(Path(path))
    for name, dimensions in (("tok_emb.weight", 2), ("pos_emb", 3), ("head.weight", 2)):
        if name not in tensors or tensors[name].dim() != dimensions:
            found = ", ".join(sorted(tensors)[:4]) or "nothing"
            raise UserError(
                f"{path} is not a model of the course: it has no {name} of {dimensions} dimensions."
                f" It holds {found}."
            )
    return tensors


def write_params(model: nn.Module, path: str | Path) -> None:
    """Write a model's tensors; the file is whole or not there."""
    content = io.BytesIO()
    torch.save(model.state_dict(), content)
    replace_file(Path(path), content.getvalue())


def load_params(model: nn.Module, tensors: dict[str, Tensor], path: str | Path) -> None:
    """Put the tensors of a file into a model; say which do not fit."""
    own = model.state_dict()
    missing = [name for name in own if name not in tensors and not name.endswith(".mask")]
    problems = [f"{name} is missing" for name in missing]
    problems += [f"{name} is not in the model" for name in tensors if name not in own]
    problems += [
        f"{name} is {tuple(tensors[name].shape)} there, {tuple(own[name].shape)} in the model"
        for name in own
        if name in tensors and tensors[name].shape != own[name].shape
    ]
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise UserError(
            f"{path} does not fit the model of src/model.py: {'; '.join(problems[:3])}{more}."
        )
    model.load_state_dict(tensors, strict=False)
