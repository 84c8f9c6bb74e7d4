"""Runs a submission's code of the knowledge course and records what it returns; judges nothing.

The file is the submission's src/dataset.py, src/attention.py or src/london_baseline.py.
"""

import contextlib
import io
import runpy
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from grading.probing import NOT_WRITTEN, Answer, Arrays, find, last_line, main, nearest, set_seed

NAMES = (
    "w1.weight",
    "w1.bias",
    "w2",
    "b2",
    "value.weight",
    "value.bias",
    "proj.weight",
    "proj.bias",
)
DEV = "birth_dev.tsv"
SPREAD = 0.3
"""Of our weights: scores near 1, so that float32 is near enough."""


def draw_examples(file: Path, request: Mapping[str, Any]) -> Answer:
    """Draw from a file's CharCorruptionDataset."""
    return draws_of(find(file, "CharCorruptionDataset"), request)


def draws_of(build: Callable[..., Any], request: Mapping[str, Any]) -> Answer:
    """Record x and y of many draws, for every block size and document."""
    said: dict[str, Any] = {"failures": {}, "itos": {}}
    arrays: Arrays = {}
    set_seed(request["seed"])
    for block in request["blocks"]:
        dataset = build("\n".join(request["documents"]), block)
        said["itos"][str(block)] = {int(k): str(v) for k, v in dataset.itos.items()}
        for index, n_draws in enumerate(request["draws"]):
            key = f"{block}/{index}"
            try:
                arrays[key] = stack([dataset[index] for _ in range(n_draws)])
            except BaseException as error:
                said["failures"][key] = last_line(error)
    return said, arrays


def stack(examples: list[tuple[Tensor, Tensor]]) -> np.ndarray:
    """Put x and y of all draws into one array, (2, draws, length); refuse any other shape."""
    for x, y in examples:
        for name, tokens in (("x", x), ("y", y)):
            if not isinstance(tokens, Tensor) or tokens.dtype != torch.int64 or tokens.dim() != 1:
                raise TypeError(
                    f"{name} is not a LongTensor with one dimension but {describe(tokens)}"
                )
        if len(x) != len(y) or not len(x):
            raise ValueError(f"x has {len(x)} tokens, y has {len(y)}")
    lengths = sorted({len(x) for x, _ in examples})
    if len(lengths) > 1:
        raise ValueError(f"x has {lengths[0]} tokens once and {lengths[-1]} another time")
    return torch.stack([torch.stack(side) for side in zip(*examples, strict=True)]).numpy()


def describe(value: object) -> str:
    """Name a thing that should have been a row of tokens."""
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype} with shape {tuple(value.shape)}"
    return f"a {type(value).__name__}"


def run_attention(file: Path, request: Mapping[str, Any]) -> Answer:
    """Run a file's SynthesizerAttention."""
    return outputs_of(find(file, "SynthesizerAttention"), request)


def outputs_of(build: Callable[..., Any], request: Mapping[str, Any]) -> Answer:
    """Record what comes out with given weights, case by case; in float32 if it needs that."""
    for dtype in (torch.float64, torch.float32):
        made = build_attention(build, request["config"]).to(dtype)
        arrays: Arrays = {}
        failures: dict[str, str] = {}
        for name, case in request["cases"].items():
            try:
                arrays[name] = run_case(made, case, dtype)
            except BaseException as error:
                failures[name] = last_line(error)
        if not failures:
            break
    shapes = {name: list(p.shape) for name, p in made.named_parameters()}
    return {"shapes": shapes, "failures": failures, "dtype": str(dtype).partition(".")[2]}, arrays


def build_attention(build: Callable[..., Any], config: Mapping[str, Any]) -> nn.Module:
    """Build it for evaluation, and see that it has the parameters of the course."""
    torch.manual_seed(0)
    made = build(SimpleNamespace(**config))
    if not isinstance(made, nn.Module):
        raise TypeError(f"SynthesizerAttention is not a torch.nn.Module but {describe(made)}")
    return made.eval()


def run_case(made: nn.Module, case: Mapping[str, Any], dtype: torch.dtype) -> np.ndarray:
    """Set the weights and return what comes out."""
    parameters = dict(made.named_parameters())
    shapes = {name: tuple(p.shape) for name, p in parameters.items() if name in NAMES}
    if missing := [name for name in NAMES if name not in shapes]:
        near = nearest(missing[0], set(parameters) - set(NAMES))
        raise AttributeError(f"it has no parameter {', '.join(missing)}.{near}")
    with torch.no_grad():
        for name, weight in weights_for(shapes, case).items():
            parameters[name].copy_(weight)
        out = made(inputs_for(case).to(dtype))
    out = out[0] if isinstance(out, tuple) else out
    return np.asarray(out.double().numpy())


def weights_for(
    shapes: Mapping[str, tuple[int, ...]], case: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Draw weights for shapes, and change them as the case says; ours get the same."""
    generator = torch.Generator().manual_seed(case["seed"])
    weights = {}
    for name in NAMES:  # always in this order
        drawn = SPREAD * torch.randn(shapes[name], generator=generator, dtype=torch.float64)
        change = case.get("weights", {}).get(name, {})
        drawn = drawn * change.get("times", 1.0) + change.get("plus", 0.0)
        if change.get("identity"):
            drawn = torch.eye(len(drawn), dtype=torch.float64)
        first, last = change.get("only_inputs", (0, drawn.shape[-1]))
        keep = torch.zeros(drawn.shape[-1], dtype=torch.bool)
        keep[first:last] = True
        weights[name] = drawn * keep
    return weights


def inputs_for(case: Mapping[str, Any]) -> Tensor:
    """Draw tokens, (2, T, D), and change some coordinates of some tokens as the case says."""
    generator = torch.Generator().manual_seed(case["seed"] + 1)
    x = torch.randn(2, case["length"], case["width"], generator=generator, dtype=torch.float64)
    if change := case.get("change"):
        (token, end), (first, last) = change["tokens"], change["coordinates"]
        x[:, token:end, first:last] += 3.0
    return x


def run_baseline(file: Path, request: Mapping[str, Any]) -> Answer:
    """Run a file as a program in a folder with our birth_dev.tsv; record what it prints."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(DEV).write_text(request["questions"], encoding="utf-8")
        code, printed, errors = run_program(file, DEV)
        if code == 2:  # it takes no arguments
            code, printed, errors = run_program(file)
    if code:
        line = (errors.strip().splitlines() or [f"it ended with exit code {code}"])[-1]
        _, _, todo = line.partition(NOT_WRITTEN)
        return {"fatal": f"{NOT_WRITTEN}{todo}" if todo else line[:300]}, {}
    return {"printed": printed}, {}


def run_program(file: Path, *arguments: str) -> tuple[int, str, str]:
    """Return a program's exit code, and what it printed."""
    out, errors, code = io.StringIO(), io.StringIO(), 0
    sys.argv = [file.name, *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            runpy.run_path(str(file), run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, out.getvalue(), errors.getvalue()


if __name__ == "__main__":
    main({"dataset": draw_examples, "attention": run_attention, "baseline": run_baseline})
