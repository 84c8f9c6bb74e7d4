"""What the training loop costs: ours against a bare PyTorch loop that takes the same steps.

    python benchmarks/loop_overhead.py            # about two minutes

Both train the demo's GPT on the same batches with the same optimiser, schedule and clipping; ours
also logs, shows progress, checks that every number is finite, and saves at the end. The two take
turns, so that a noisy machine hurts both, and the median of the ratios counts. Their final weights
are compared, to be sure that they did the same work.
"""

import argparse
import statistics
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from rich.console import Console
from torch import Tensor

from attnlab.data.batches import IGNORED
from attnlab.data.world import make_world
from attnlab.models.next_token import NextToken
from attnlab.recipes.knowledge.demo import Subject
from attnlab.recipes.knowledge.settings import DemoSettings
from attnlab.runs.directory import RunPlace
from attnlab.training.loop import Training
from attnlab.training.randomness import rng
from attnlab.training.session import open_session
from attnlab.training.settings import OptimiserSettings, ScheduleSettings
from measure import write_result

LR, DECAY, BETAS, CLIP = 1e-3, 0.1, (0.9, 0.95), 1.0


def demo_settings(steps: int) -> DemoSettings:
    """Return the demo with AdamW, which a bare loop would use, and without evaluations."""
    demo = DemoSettings()
    training = replace(
        demo.training,
        length=f"{steps} steps",
        optimiser=OptimiserSettings("adamw", lr=LR),
        schedule=ScheduleSettings("linear"),
        evaluate_every=0,
    )
    return replace(demo, training=training)


def new_task(settings: DemoSettings) -> NextToken:
    """Build model and data afresh, the same ones every time."""
    world = make_world(**asdict(settings.world), seed=0)
    task = Subject(world, settings).task
    task.evaluate = lambda: None
    return task


def time_ours(settings: DemoSettings, folder: Path) -> tuple[float, dict[str, Tensor]]:
    """Train with attnlab's loop; return seconds and weights."""
    task = new_task(settings)
    console = Console(file=(folder / "progress.txt").open("w"))
    place = RunPlace(folder, "run")
    how = settings.training
    with open_session("bench", settings, how, place=place, console=console) as session:
        training = Training(task, how, session)
        began = time.perf_counter()
        training.run()
        return time.perf_counter() - began, task.model.state_dict()


def time_bare(settings: DemoSettings, steps: int) -> tuple[float, dict[str, Tensor]]:
    """Train with a plain loop; return seconds and weights."""
    task = new_task(settings)
    model, groups = task.model, task.parameter_groups()
    named = dict(model.named_parameters())
    matrices = [named[name] for name in groups.matrices]
    others = [named[name] for name in (*groups.embeddings, *groups.vectors)]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
        lr=LR,
        betas=BETAS,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=steps)
    model.train()
    began = time.perf_counter()
    for step in range(1, steps + 1):
        batch = task.batch(step)
        logits = model(batch.inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        schedule.step()
    return time.perf_counter() - began, model.state_dict()


def main() -> None:
    """Take turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="steps a turn (default 40)")
    parser.add_argument("--rounds", type=int, default=11, help="turns of each (default 11)")
    arguments = parser.parse_args()
    settings = demo_settings(arguments.steps)
    ratios, ours, bare = [], [], []
    for turn in range(arguments.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            first_ours = bool(rng(0, "turn", turn).integers(2))
            if first_ours:
                our_seconds, our_weights = time_ours(settings, Path(folder))
            bare_seconds, bare_weights = time_bare(settings, arguments.steps)
            if not first_ours:
                our_seconds, our_weights = time_ours(settings, Path(folder))
        apart = max(float((our_weights[n] - bare_weights[n]).abs().max()) for n in our_weights)
        if apart > 1e-3:
            raise SystemExit(
                f"the two loops do not do the same work: weights are {apart:.2g} apart"
            )
        if turn == 0:
            continue  # the first turn warms the machine up
        ratios.append(our_seconds / bare_seconds)
        ours.append(1000 * our_seconds / arguments.steps)
        bare.append(1000 * bare_seconds / arguments.steps)
        print(f"turn {turn:2}: ours {ours[-1]:6.2f} ms a step, bare {bare[-1]:6.2f}", flush=True)
    ratio = statistics.median(ratios)
    print(f"\nours / bare: median {ratio:.3f} of {len(ratios)} turns, {min(ratios):.3f} to"
          f" {max(ratios):.3f}; weights equal to {apart:.1e}")  # fmt: skip
    write_result(
        "loop_overhead",
        claim="seconds a step of attnlab's training loop, over those of a bare PyTorch loop",
        value=round(ratio, 4),
        interval=[round(min(ratios), 4), round(max(ratios), 4)],
        details={
            "interval": "smallest and largest ratio of a turn",
            "ours_ms_a_step": round(statistics.median(ours), 2),
            "bare_ms_a_step": round(statistics.median(bare), 2),
            "turns": len(ratios),
            "steps_a_turn": arguments.steps,
        },
    )


if __name__ == "__main__":
    main()
