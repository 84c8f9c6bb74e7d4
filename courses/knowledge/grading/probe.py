"""Runs a submission's code and records what it returns; judges nothing.

    python grading/probe.py FILE REQUEST.json ANSWER.npz

It is started in a separate process (``sandbox``) and imports nothing of ours there. ``FILE`` is the
submission's src/dataset.py or src/attention.py; the answer holds arrays, and JSON under ``said``.
"""

import importlib.util
import json
import math
import random
import resource
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

Arrays = dict[str, np.ndarray]
Answer = tuple[dict[str, Any], Arrays]
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
SPREAD = 0.3
"""Of our weights: scores near 1, so that float32 is near enough."""


def draw_examples(file: Path, request: Mapping[str, Any]) -> Answer:
    """Draw from a file's CharCorruptionDataset."""
    return draws_of(load(file).CharCorruptionDataset, request)


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
    return outputs_of(load(file).SynthesizerAttention, request)


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
        raise AttributeError(f"it has no parameter {', '.join(missing)}")
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


def load(file: Path) -> ModuleType:
    """Import a file by its path."""
    name = f"submission_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def set_seed(seed: int) -> None:
    """Seed whatever a submission may draw from."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def last_line(error: BaseException) -> str:
    """Say what was raised, and in which line of the submission."""
    frames = traceback.extract_tb(error.__traceback__)
    others = {"site-packages", Path(__file__).name}
    files = [(frame, Path(frame.filename)) for frame in frames]
    own = [frame for frame, file in files if file.is_file() and not others & set(file.parts)]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{traceback.format_exception_only(error)[-1].strip()[:200]}{where}"


def main() -> None:
    """Do what the request asks and leave the answer in a file."""
    file, request_file, answer_file = map(Path, sys.argv[1:4])
    sys.path[0] = str(file.parent)  # a file may import its neighbours, and not ours
    request = json.loads(request_file.read_text(encoding="utf-8"))
    limit = math.ceil(request["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    work: Callable[[Path, Mapping[str, Any]], Answer] = (
        draw_examples if request["kind"] == "dataset" else run_attention
    )
    try:
        said, arrays = work(file, request)
    except BaseException as error:
        said, arrays = {"fatal": last_line(error)}, {}
    text = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    partial = answer_file.with_name("partial.npz")
    np.savez(partial, said=text, **{f"array {name}": a for name, a in arrays.items()})
    partial.replace(answer_file)  # never half an answer


if __name__ == "__main__":
    main()
