"""What more nodes bring: a cost model of a training step, fitted, checked on two processes.

    python benchmarks/scale.py            # about ten minutes; nothing else should run on the cores

A step of n nodes takes

    fixed + rows / n * per_row + 2 (n - 1) latency + 2 (n - 1) / n * bytes / bandwidth + save

where `fixed` is what does not depend on the batch (the optimizer, norms, checks), the two terms
with n - 1 are a ring's all-reduce of the gradients, and `save` is a checkpoint's share of each
step. The parts are measured one by one, with both cores busy: steps of batches of several sizes
without any communication, all-reduces alone, and saving. Their sum for n = 2 is the prediction; two
processes that really train together are the test of it. What a network of other nodes does is not
measured: the table has it as a given latency and bandwidth.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROWS, TOKENS, VOCABULARY = 32, 128, 256
SIZES = {"course": (256, 8, 4), "bert_base": (768, 12, 12)}
"""Width, heads and layers: the knowledge course's model, and a GPT of the size of BERT-base."""
BERT_VOCABULARY = 30522
NODES = (1, 2, 4, 8, 16, 32, 64)
NETWORKS = {"10_gbit": (5e-5, 1.25e9), "100_gbit": (5e-6, 1.25e10)}
"""Latency in seconds and bytes per second of a message."""
FLOAT32 = 4
OVERLAP_FROM = 0.2
"""Share of a step from which communication is worth hiding behind the backward pass."""
NUMBERS_PER_PARAMETER = 4
"""In memory: weight, gradient, and the optimizer's two moments."""


@dataclass(frozen=True)
class Cost:
    """Seconds of the parts of a step."""

    fixed: float
    per_row: float
    latency: float
    bandwidth: float
    """Bytes per second."""
    parameters: int
    save: float = 0.0
    """A checkpoint's share of each step."""

    def all_reduce(self, nodes: int) -> float:
        """Return what summing the gradients over a ring of nodes takes."""
        moved = 2 * (nodes - 1) / nodes * self.parameters * FLOAT32
        return 2 * (nodes - 1) * self.latency + moved / self.bandwidth

    def step(self, nodes: int, rows: int = ROWS) -> float:
        """Return what a step of the whole batch takes."""
        return self.fixed + rows / nodes * self.per_row + self.all_reduce(nodes) + self.save

    def speedup(self, nodes: int, rows: int = ROWS) -> float:
        """Return how much faster so many nodes are than one."""
        return self.step(1, rows) / self.step(nodes, rows)

    def overlap_from(self, rows: int = ROWS) -> int | None:
        """Return the number of nodes from which communication is a large share of a step."""
        shares = ((n, self.all_reduce(n) / self.step(n, rows)) for n in NODES)
        return next((n for n, share in shares if share > OVERLAP_FROM), None)

    @property
    def memory(self) -> int:
        """Bytes that each process needs for what sharding would divide."""
        return NUMBERS_PER_PARAMETER * FLOAT32 * self.parameters


def line_through(points: Mapping[float, float]) -> tuple[float, float]:
    """Fit ``y = a + b x`` by least squares, each point weighing its own size; return a and b."""
    x, y = np.array(list(points)), np.array(list(points.values()))
    b, a = np.polyfit(x, y, 1, w=1 / y)
    return max(0.0, float(a)), max(1e-12, float(b))


def timed(work: Callable[[], Any], times: int) -> list[float]:
    """Return the seconds of each of several calls, after one that warms up."""
    work()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return found


def measure(name: str, times: int) -> dict[str, Any]:
    """Measure the parts in this process, next to another that does the same."""
    import torch

    from attnlab.models.gpt import GPT
    from attnlab.models.sizes import ModelSettings
    from attnlab.training.distributed import Processes, join_processes

    torch.set_num_threads(1)
    width, heads, layers = SIZES[name]
    vocabulary = BERT_VOCABULARY if name == "bert_base" else VOCABULARY
    torch.manual_seed(0)
    model = GPT(vocabulary, TOKENS, **vars(ModelSettings(width, heads, layers)))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    parameters = list(model.parameters())
    inputs = torch.randint(vocabulary, (ROWS, TOKENS))

    def step(rows: int, processes: Processes) -> None:
        optimizer.zero_grad(set_to_none=True)
        logits = model.head(model.hidden(inputs[:rows]))
        logits.logsumexp(-1).mean().backward()
        processes.sum_gradients(parameters)
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    with join_processes() as processes:
        alone = Processes()
        sizes = [ROWS // 8, ROWS // 4, ROWS // 2]
        steps = {rows: timed(lambda rows=rows: step(rows, alone), times) for rows in sizes}
        reduces = {}
        for share in (8, 4, 2, 1):
            some = parameters[: max(1, len(parameters) // share)]
            size = sum(one.numel() for one in some) * FLOAT32
            reduces[size] = timed(lambda some=some: processes.sum_gradients(some), times)
        together = timed(lambda: step(ROWS // 2, processes), times)
        with tempfile.TemporaryDirectory() as folder:
            saving = timed(lambda: torch.save(model.state_dict(), Path(folder) / "model"), 3)
    return {
        "steps": steps,
        "reduces": reduces,
        "together": together,
        "saving": saving,
        "parameters": sum(one.numel() for one in parameters),
    }


def measured_by_two(name: str, times: int) -> dict[str, Any]:
    """Let two processes measure, and return what the first found."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        words = [__file__, "--measure", name, "--times", str(times), "--to", str(found)]
        subprocess.run([*torchrun, "--nproc-per-node", "2", *words], check=True)
        return json.loads(found.read_text())


def fit(found: Mapping[str, Any], save_every: int) -> Cost:
    """Turn what was measured into the costs of the parts."""
    fixed, per_row = line_through(
        {float(rows): statistics.median(seconds) for rows, seconds in found["steps"].items()}
    )
    # of two processes, 2 (n - 1) / n is one: every byte is moved once
    latency, per_byte = line_through(
        {float(size): statistics.median(seconds) for size, seconds in found["reduces"].items()}
    )
    saving = statistics.median(found["saving"]) / save_every
    return Cost(fixed, per_row, latency / 2, 1 / per_byte, found["parameters"], saving)


def predictions(cost: Cost) -> dict[str, Any]:
    """Return the table: seconds a step, speed-up and share of communication by nodes."""
    table = {}
    for network, (latency, bandwidth) in NETWORKS.items():
        there = replace(cost, latency=latency, bandwidth=bandwidth)
        table[network] = {
            "overlap_from_nodes": there.overlap_from(),
            "nodes": {
                str(n): {
                    "seconds": round(there.step(n), 4),
                    "speedup": round(there.speedup(n), 2),
                    "communication": round(there.all_reduce(n) / there.step(n), 3),
                }
                for n in NODES
            },
        }
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, predict, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5, help="repetitions of each (default 5)")
    parser.add_argument("--save-every", type=int, default=200, help="steps between checkpoints")
    parser.add_argument("--models", default="course,bert_base", help="of course, bert_base")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        found = measure(options.measure, options.times)
        if os.environ["RANK"] == "0":
            options.to.write_text(json.dumps(found))
        return
    details: dict[str, Any] = {"interval": "quartiles over steps, the worst of the models"}
    ratios: dict[str, list[float]] = {}
    for name in options.models.split(","):
        found = measured_by_two(name, options.times)
        cost = fit(found, options.save_every)
        predicted = cost.step(2) - cost.save
        ratios[name] = sorted(seconds / predicted for seconds in found["together"])
        seconds = statistics.median(found["together"])
        print(f"{name}: two processes take {seconds:.3f} s a step, predicted {predicted:.3f}")
        details[name] = {
            "cost": asdict(cost),
            "two_processes_seconds": round(seconds, 4),
            "two_processes_predicted": round(predicted, 4),
            "memory_of_a_process": cost.memory,
            "predictions": predictions(cost),
        }

        for network, table in details[name]["predictions"].items():
            speedups = ", ".join(f"{n}: {row['speedup']}" for n, row in table["nodes"].items())
            print(f"{name}, {network}: speed-up by nodes {speedups}")

    from measure import write_result

    worst = max(ratios.values(), key=lambda one: abs(statistics.median(one) - 1))
    low, _, high = statistics.quantiles(worst, n=4)
    write_result(
        "scale",
        claim="seconds a step of two processes, over those that the cost model predicts",
        value=round(statistics.median(worst), 4),
        interval=[round(low, 4), round(high, 4)],
        details=details,
    )


if __name__ == "__main__":
    main()
