"""Overhead of the training loop: ours against a bare PyTorch loop with the same steps.

    python benchmarks/loop_overhead.py            # about two minutes

Both train a small GPT on the same batches with the same optimizer, schedule and clipping; ours
also logs, shows progress, checks that every number is finite, and saves. They take turns step by
step in one process, so that a noisy machine hurts both alike: whenever our loop asks for a batch,
the bare loop takes its step first, on its own clock. Their final weights are compared, to be sure
that they did the same work.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from rich.console import Console

from attnlab.data.batches import IGNORED, TokenBatch
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.data.objectives.text import Text
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import ModelSettings
from attnlab.randomness import rng, seed_torch
from attnlab.runs.directory import RunPlace
from attnlab.training.loop import train
from attnlab.training.session import open_session
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from measure import write_result

LR, DECAY, BETAS, CLIP = 1e-3, 0.1, (0.9, 0.95), 1.0
WARM_UP, BATCH_TOKENS = 20, 4096


def training_settings(steps: int) -> TrainingSettings:
    """Return AdamW, which a bare loop would use, and no evaluations."""
    return TrainingSettings(
        length=f"{steps} steps",
        optimizer=OptimizerSettings("adamw", lr=LR),
        schedule=ScheduleSettings("linear"),
    )


def new_task() -> NextToken:
    """Build model and data afresh, the same ones every time."""
    world = make_world(WorldSettings(people=200, biographies=6, sentences=1))
    tokenizer = CharacterTokenizer.of(world.texts)
    rows = Text(world.texts, tokenizer).rows(rng(0, "rows"))
    seed_torch(0, "weights")
    model = GPT(len(tokenizer), 128, **vars(ModelSettings(d_model=128, n_heads=4, n_layers=2)))
    return NextToken(model, Epochs(lambda _: rows, size=tokens_per_batch(BATCH_TOKENS), seed=0))


class BareLoop:
    """What one would write without attnlab."""

    def __init__(self, steps: int) -> None:
        self.task = new_task()
        self.model = self.task.model
        groups, named = self.task.parameter_groups(), dict(self.model.named_parameters())
        matrices = [named[name] for name in groups.matrices]
        others = [named[name] for name in (*groups.embeddings, *groups.vectors)]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}],
            lr=LR,
            betas=BETAS,
            fused=True,
        )
        schedules = torch.optim.lr_scheduler
        self.schedule = schedules.LinearLR(self.optimizer, 1.0, 0.0, total_iters=steps)
        self.model.train()

    def step(self, step: int) -> None:
        """Take one step."""
        batch = self.task.batch(step)
        scored = batch.targets != IGNORED
        logits = self.model.head(self.model.hidden(batch.inputs)[scored])
        loss = F.cross_entropy(logits, batch.targets[scored])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        self.schedule.step()


def take_turns(how: TrainingSettings, steps: int) -> tuple[list[float], list[float], float]:
    """Train both; return each step's seconds, ours and bare, and how far apart the weights end."""
    task, bare = new_task(), BareLoop(steps)
    ours_seconds: list[float] = []
    bare_seconds: list[float] = []
    batch, ours_began = task.batch, 0.0

    def batch_after_a_bare_step(step: int) -> TokenBatch:
        nonlocal ours_began
        now = time.perf_counter()
        if step > 1:
            ours_seconds.append(now - ours_began)
        bare.step(step)
        ours_began = time.perf_counter()
        bare_seconds.append(ours_began - now)
        return batch(step)

    task.batch = batch_after_a_bare_step
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "progress").open("w") as file:
        console, place = Console(file=file), RunPlace(Path(folder), "run")
        with open_session("bench", how, how, place=place, console=console) as session:
            train(task, how, session)
    ours_seconds.append(time.perf_counter() - ours_began)
    theirs = dict(bare.model.named_parameters())
    apart = max(
        float((p - theirs[n]).detach().abs().max()) for n, p in task.model.named_parameters()
    )
    return ours_seconds[WARM_UP:], bare_seconds[WARM_UP:], apart


def main() -> None:
    """Take turns and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="steps of each (default 600)")
    steps = parser.parse_args().steps
    ours, bare, apart = take_turns(training_settings(steps), steps)
    if apart > 1e-2:
        raise SystemExit(f"the loops do not do the same work: weights {apart:.2g} apart")
    ratios = sorted(a / b for a, b in zip(ours, bare, strict=True))
    ratio = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    total = sum(ours) / sum(bare)
    medians = {name: 1000 * statistics.median(s) for name, s in (("ours", ours), ("bare", bare))}
    print(f"ours {medians['ours']:.2f} ms a step, bare {medians['bare']:.2f} (medians)")
    print(f"ours / bare: median {ratio:.3f}, middle half {low:.3f} to {high:.3f}, all time together"
          f" {total:.3f}; {len(ratios)} steps, weights equal to {apart:.1e}")  # fmt: skip
    write_result(
        "loop_overhead",
        claim="seconds a step of attnlab's training loop, over those of a bare PyTorch loop",
        value=round(ratio, 4),
        interval=[round(low, 4), round(high, 4)],
        details={
            "interval": "quartiles over steps",
            "ratio_of_all_time_with_logging_and_saving": round(total, 4),
            "ours_ms_a_step": round(medians["ours"], 2),
            "bare_ms_a_step": round(medians["bare"], 2),
            "steps": len(ratios),
        },
    )


if __name__ == "__main__":
    main()
