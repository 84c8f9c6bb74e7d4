"""Speed of the knowledge course's model and objective: ours against a plain padded loop.

    python benchmarks/knowledge_speed.py            # about fifteen minutes

Examples per second of span corruption with the course's model (4 layers, 8 heads, 256 wide, block
128), with its dropout of 0.1 and without, taking turns. The plain loop computes in float32, as the
course's code does; ours in float32, and in bfloat16 where the processor has it, which is what a run
takes by default. A made-up world is read, so that anyone can run it.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from attnlab.attention import fast_path
from attnlab.data.characters import CharacterTokenizer
from attnlab.data.epochs import Epochs, tokens_per_batch
from attnlab.data.objectives.span_corruption import SpanCorruption
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import SIZES
from attnlab.randomness import rng, seed_torch
from attnlab.recipes.knowledge.study_settings import CourseSettings
from attnlab.training import hardware
from attnlab.training.distributed import Processes
from attnlab.training.optimization import Optimization
from attnlab.training.settings import TrainingSettings
from attnlab.training.step import Stepper
from measure import write_result
from plain_gpt import PlainTraining

BLOCK, ROUNDS, PLAIN_STEPS = 128, 4, 5
BATCH_TOKENS = 128 * 60
"""About as many examples as a step of the plain loop has, at their average length."""
WORLD = WorldSettings(people=2500, biographies=1, sentences=3, asked_share=0.2)


class OurTraining:
    """The course's model as ``attnlab knowledge course`` lets it read."""

    def __init__(
        self, lines: list[str], tokenizer: CharacterTokenizer, *, dropout: float, precision: str
    ):
        settings = CourseSettings().base
        training = replace(settings.training, precision=precision)
        objective = SpanCorruption(lines, tokenizer, block=BLOCK)
        seed_torch(0, "weights")
        size = replace(SIZES["course"], dropout=dropout)
        self.model = GPT(len(tokenizer), BLOCK, **vars(size))
        rows = lambda epoch: objective.rows(rng(0, "objective", epoch))  # noqa: E731
        self.epochs = Epochs(rows, size=tokens_per_batch(BATCH_TOKENS), seed=0)
        task = NextToken(self.model, self.epochs)
        how = hardware.use(hardware.choose(training), threads=hardware.all_threads())
        fast_path.use(fast_path.recorded_or_measured(how.dtype))
        optimization = Optimization(
            self.model, task.parameter_groups(), training, steps=10_000, precision=precision
        )
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


def pretraining(
    lines: list[str], tokenizer: CharacterTokenizer, *, dropout: float, precision: str
) -> list[float]:
    """Return how many times more examples per second ours takes, round by round, sorted."""
    print(f"ours in {precision}, dropout {dropout}")
    plain = PlainTraining(lines, list(tokenizer.characters), block=BLOCK, dropout=dropout)
    ours = OurTraining(lines, tokenizer, dropout=dropout, precision=precision)
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
    return sorted(ratios)


def main() -> None:
    """Measure both and print the ratios."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    world = make_world(WORLD)
    tokenizer = CharacterTokenizer.of([*world.texts, "Where was born?"])
    usual = hardware.choose(TrainingSettings())["precision"]
    found = {
        precision: {
            name: pretraining(list(world.texts), tokenizer, dropout=dropout, precision=precision)
            for name, dropout in (("dropout", 0.1), ("no_dropout", 0.0))
        }
        for precision in dict.fromkeys(["float32", usual])
    }
    ratios = found[usual]["dropout"]
    value = statistics.median(ratios)
    print(f"{value:.2f} times the examples per second in {usual}")
    write_result(
        "knowledge_speed",
        claim="examples per second, the course's model and objective, ours over a plain loop",
        value=round(value, 2),
        interval=[round(ratios[0], 2), round(ratios[-1], 2)],
        details={
            "interval": f"smallest and largest of {ROUNDS} rounds",
            "precision": usual,
            "ratios": {
                precision: {name: [round(one, 2) for one in each] for name, each in ways.items()}
                for precision, ways in found.items()
            },
        },
    )


if __name__ == "__main__":
    main()
