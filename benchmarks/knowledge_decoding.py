"""Speed of answering 500 questions with the course's model: ours against one question at a time.

    python benchmarks/knowledge_decoding.py            # about three minutes

Every question is continued by 32 characters. The plain way reads everything again for every
character of every question; ours continues questions of like length together, with a cache. Both
models hold the same weights and must give the same answers.
"""

import argparse
import statistics
import time
from dataclasses import replace

import torch

from attnlab.data.characters import CharacterTokenizer
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world
from attnlab.models.decoding import continue_prompts
from attnlab.models.gpt import GPT
from attnlab.models.sizes import SIZES
from attnlab.randomness import seed_torch
from measure import write_result
from plain_gpt import PlainGPT, answer_plainly

BLOCK, QUESTIONS, NEW, TRIES = 128, 500, 32, 5
WORLD = WorldSettings(people=2500, biographies=1, sentences=1, asked_share=0.2)


def decoding(tokenizer: CharacterTokenizer, questions: list[str]) -> list[float]:
    """Answer both ways with the same weights; return how many times faster each try of ours is."""
    mark = tokenizer.sentinel
    prompts = [[*tokenizer.encode(question), mark] for question in questions]
    seed_torch(0, "weights")
    ours = GPT(len(tokenizer), BLOCK, **vars(replace(SIZES["course"], dropout=0.0))).eval()
    plain = PlainGPT(len(tokenizer), BLOCK, dropout=0.0).eval()
    copy_weights(ours, plain)
    with torch.no_grad():
        continue_prompts(ours, prompts[:8], stop=-1, max_new=2)
        taken = []
        for _ in range(TRIES):
            began = time.perf_counter()
            found = continue_prompts(ours, prompts, stop=-1, max_new=NEW)
            taken.append(time.perf_counter() - began)
    began = time.perf_counter()
    expected = [answer_plainly(plain, prompt, new=NEW) for prompt in prompts]
    theirs = time.perf_counter() - began
    same = sum(a.tokens == b for a, b in zip(found, expected, strict=True))
    mine = statistics.median(taken)
    print(f"plain {theirs:.1f} s, ours {mine:.2f} s; {same} of {len(prompts)} answers equal")
    if same < 0.98 * len(prompts):  # rounding may turn a near tie
        raise SystemExit("the two ways do not give the same answers")
    return sorted(theirs / seconds for seconds in taken)


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
    """Measure and print the ratio."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    world = make_world(WORLD)
    questions = [person.question for person in world.test[:QUESTIONS]]
    tokenizer = CharacterTokenizer.of([*world.texts, *questions])
    ratios = decoding(tokenizer, questions)
    value = statistics.median(ratios)
    print(f"{value:.1f} times as fast")
    write_result(
        "knowledge_decoding",
        claim=f"seconds to answer {QUESTIONS} questions one by one, over ours",
        value=round(value, 1),
        interval=[round(ratios[0], 1), round(ratios[-1], 1)],
        details={"interval": f"smallest and largest of {TRIES} tries", "questions": QUESTIONS},
    )


if __name__ == "__main__":
    main()
