"""Speed of the knowledge course's model and objective: ours against a plain padded loop.

    python benchmarks/knowledge_speed.py            # about eight minutes

Pretraining: examples a second of span corruption with the course's model (4 layers, 8 heads, 256
wide, block 128, dropout 0.1), ours in float32 as well, taking turns. Decoding: 500 questions, 32
characters each; the plain way reads everything again for every character of every question, ours
continues questions of one length together with a cache. Both models hold the same weights there and
must give the same answers. A made-up world is read, so that anyone can run it.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import torch

from attnlab.data.batches import Batches
from attnlab.data.characters import CharacterVocabulary
from attnlab.data.objectives.span_corruption import SpanCorruption
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.decoding import continue_prompts
from attnlab.models.gpt import GPT
from attnlab.models.next_token import NextToken
from attnlab.models.sizes import SIZES
from attnlab.recipes.knowledge.settings import RECIPES
from attnlab.training import hardware
from attnlab.training.distributed import World
from attnlab.training.optimisation import Optimisation
from attnlab.training.randomness import rng, seed_torch
from attnlab.training.step import Stepper
from measure import write_result
from plain_gpt import PlainGPT, PlainTraining, answer_plainly

BLOCK, ROUNDS, PLAIN_STEPS, QUESTIONS, NEW = 128, 4, 5, 500, 32
WORLD = WorldSettings(people=2500, biographies=1, sentences=3, asked_share=0.2)
TRIES = 3


class OurTraining:
    """The course's recipe as ``attnlab knowledge pretrain --recipe course`` trains it."""

    def __init__(self, lines: list[str], vocabulary: CharacterVocabulary, *, dropout: float):
        settings = RECIPES["course"][0]
        training = replace(settings.training, precision="float32")
        objective = SpanCorruption(lines, vocabulary, block=BLOCK)
        seed_torch(0, "weights")
        size = replace(SIZES["course"], dropout=dropout)
        self.model = GPT(len(vocabulary), BLOCK, **vars(size))
        rows = lambda epoch: objective.rows(rng(0, "objective", epoch))  # noqa: E731
        batches = Batches(rows, batch_tokens=settings.batch_tokens, seed=0)
        task = NextToken(self.model, batches)
        how = hardware.use(hardware.choose(training, local_processes=1))
        optimisation = Optimisation(self.model, task.parameter_groups(), training, steps=10_000)
        self.stepper = Stepper(task, optimisation, training, how, World())
        self.batches, self.number = batches, 0

    def step(self) -> int:
        """Take a step; return how many examples it had."""
        self.number += 1
        self.stepper.take(self.number)
        return len(self.batches.batch(self.number).ids)


def rate(step: Callable[[], int], steps: int) -> float:
    """Take some steps; return examples a second."""
    began = time.perf_counter()
    examples = sum(step() for _ in range(steps))
    return examples / (time.perf_counter() - began)


def pretraining(lines: list[str], vocabulary: CharacterVocabulary, dropout: float) -> list[float]:
    """Return how many times more examples a second ours takes, round by round."""
    plain = PlainTraining(lines, list(vocabulary.characters), block=BLOCK, dropout=dropout)
    ours = OurTraining(lines, vocabulary, dropout=dropout)
    plain.step(), ours.step()
    a_step = len(lines) / ours.batches.per_epoch
    print(f"  examples a step: plain 128, ours {a_step:.0f} on average")
    if abs(a_step / 128 - 1) > 0.1:
        raise SystemExit("the two do not take the same number of examples a step")
    ratios = []
    for _ in range(ROUNDS):
        # A whole epoch of ours: a batch of it has equal tokens, but many short rows or few long.
        theirs, mine = rate(plain.step, PLAIN_STEPS), rate(ours.step, ours.batches.per_epoch)
        ratios.append(mine / theirs)
        print(f"  plain {theirs:6.1f} examples/s, ours {mine:6.1f}: {ratios[-1]:.2f} times")
    return ratios


def decoding(vocabulary: CharacterVocabulary, questions: list[str]) -> float:
    """Answer both ways with the same weights; return how many times faster ours is."""
    mark = vocabulary.mark
    prompts = [[*vocabulary.encode(question), mark] for question in questions]
    seed_torch(0, "weights")
    ours = GPT(len(vocabulary), BLOCK, **vars(replace(SIZES["course"], dropout=0.0))).eval()
    plain = PlainGPT(len(vocabulary), BLOCK, dropout=0.0).eval()
    copy_weights(ours, plain)
    with torch.no_grad():
        continue_prompts(ours, prompts[:8], stop=-1, max_new=2)
        taken = []
        for _ in range(TRIES):
            began = time.perf_counter()
            found = continue_prompts(ours, prompts, stop=-1, max_new=NEW)
            taken.append(time.perf_counter() - began)
        mine = statistics.median(taken)
    began = time.perf_counter()
    expected = [answer_plainly(plain, prompt, new=NEW) for prompt in prompts]
    theirs = time.perf_counter() - began
    same = sum(a.tokens == b for a, b in zip(found, expected, strict=True))
    print(f"  plain {theirs:.1f} s, ours {mine:.2f} s; {same} of {len(prompts)} answers equal")
    if same < 0.98 * len(prompts):  # rounding may turn a near tie
        raise SystemExit("the two ways do not give the same answers")
    return theirs / mine


def copy_weights(ours: GPT, plain: PlainGPT) -> None:
    """Give the plain model the weights of ours."""
    renamed = {"tok_emb": "tokens", "ln_f": "ln", "attn": "attention"}
    source = ours.state_dict()
    target = plain.state_dict()
    for name, value in source.items():
        if name.startswith("positions"):
            target["positions"].copy_(value.view_as(target["positions"]))
            continue
        target[".".join(renamed.get(part, part) for part in name.split("."))].copy_(value)


def main() -> None:
    """Measure both and print the ratios."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    world = make_world(WORLD)
    vocabulary = CharacterVocabulary.of([*world.texts, "Where was born?"])
    ratios = {}
    for dropout in (0.1, 0.0):
        print(f"pretraining, dropout {dropout}")
        ratios[dropout] = sorted(pretraining(list(world.texts), vocabulary, dropout))
    print(f"decoding {QUESTIONS} questions")
    times_faster = decoding(vocabulary, [person.question for person in world.test[:QUESTIONS]])
    value = statistics.median(ratios[0.1])
    low, high = ratios[0.1][0], ratios[0.1][-1]
    print(f"pretraining {value:.2f} times the examples a second; decoding {times_faster:.1f} times")
    write_result(
        "knowledge_speed",
        claim="examples a second, the course's model and objective, ours over a plain loop",
        value=round(value, 2),
        interval=[round(low, 2), round(high, 2)],
        details={
            "interval": f"smallest and largest of {ROUNDS} rounds",
            "without_dropout": round(statistics.median(ratios[0.0]), 2),
            "decoding_times_faster": round(times_faster, 1),
            "questions": QUESTIONS,
        },
    )


if __name__ == "__main__":
    main()
