"""Speed of the knowledge course's model and objective: ours against a plain padded loop.

    python benchmarks/knowledge_speed.py            # about eight minutes

Examples a second of span corruption with the course's model (4 layers, 8 heads, 256 wide, block
128, dropout 0.1), both in float32, taking turns. A made-up world is read, so that anyone can run
it.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from attnlab.data.characters import CharacterTokenizer
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.data.objectives.span_corruption import SpanCorruption
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import SIZES
from attnlab.randomness import rng, seed_torch
from attnlab.recipes.knowledge.settings import RECIPES
from attnlab.training import hardware
from attnlab.training.distributed import Processes
from attnlab.training.optimization import Optimization
from attnlab.training.step import Stepper
from measure import write_result
from plain_gpt import PlainTraining

BLOCK, ROUNDS, PLAIN_STEPS = 128, 4, 5
WORLD = WorldSettings(people=2500, biographies=1, sentences=3, asked_share=0.2)


class OurTraining:
    """The course's recipe as ``attnlab knowledge pretrain --recipe course`` trains it."""

    def __init__(self, lines: list[str], tokenizer: CharacterTokenizer, *, dropout: float):
        settings = RECIPES["course"][0]
        training = replace(settings.training, precision="float32")
        objective = SpanCorruption(lines, tokenizer, block=BLOCK)
        seed_torch(0, "weights")
        size = replace(SIZES["course"], dropout=dropout)
        self.model = GPT(len(tokenizer), BLOCK, **vars(size))
        rows = lambda epoch: objective.rows(rng(0, "objective", epoch))  # noqa: E731
        self.epochs = Epochs(rows, size=tokens_per_batch(settings.batch_tokens), seed=0)
        task = NextToken(self.model, self.epochs)
        how = hardware.use(hardware.choose(training, local_processes=1))
        optimization = Optimization(self.model, task.parameter_groups(), training, steps=10_000)
        self.stepper = Stepper(task, optimization, training, how, Processes())
        self.number = 0

    def step(self) -> int:
        """Take a step; return how many examples it had."""
        self.number += 1
        self.stepper.take(self.number)
        return len(self.epochs.rows_of_step(self.number))


def rate(step: Callable[[], int], steps: int) -> float:
    """Take some steps; return examples per second."""
    began = time.perf_counter()
    examples = sum(step() for _ in range(steps))
    return examples / (time.perf_counter() - began)


def pretraining(lines: list[str], tokenizer: CharacterTokenizer, dropout: float) -> list[float]:
    """Return how many times more examples per second ours takes, round by round."""
    plain = PlainTraining(lines, list(tokenizer.characters), block=BLOCK, dropout=dropout)
    ours = OurTraining(lines, tokenizer, dropout=dropout)
    plain.step(), ours.step()
    a_step = len(lines) / ours.epochs.per_epoch
    print(f"  examples per step: plain 128, ours {a_step:.0f} on average")
    if abs(a_step / 128 - 1) > 0.1:
        raise SystemExit("the two do not take the same number of examples per step")
    ratios = []
    for _ in range(ROUNDS):
        # A whole epoch of ours: a batch of it has equal tokens, but many short rows or few long.
        theirs, mine = rate(plain.step, PLAIN_STEPS), rate(ours.step, ours.epochs.per_epoch)
        ratios.append(mine / theirs)
        print(f"  plain {theirs:6.1f} examples/s, ours {mine:6.1f}: {ratios[-1]:.2f} times")
    return ratios


def main() -> None:
    """Measure both and print the ratios."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    world = make_world(WORLD)
    tokenizer = CharacterTokenizer.of([*world.texts, "Where was born?"])
    ratios = {}
    for dropout in (0.1, 0.0):
        print(f"pretraining, dropout {dropout}")
        ratios[dropout] = sorted(pretraining(list(world.texts), tokenizer, dropout))
    value = statistics.median(ratios[0.1])
    print(f"{value:.2f} times the examples per second")
    write_result(
        "knowledge_speed",
        claim="examples per second, the course's model and objective, ours over a plain loop",
        value=round(value, 2),
        interval=[round(ratio, 2) for ratio in (ratios[0.1][0], ratios[0.1][-1])],
        details={
            "interval": f"smallest and largest of {ROUNDS} rounds",
            "without_dropout": round(statistics.median(ratios[0.0]), 2),
        },
    )


if __name__ == "__main__":
    main()
