"""Scale: accuracy and seconds by the number of people, memory at 100,000, bits per parameter.

python benchmarks/knowledge_scale.py people     # 1,000 and 10,000 people, about ten minutes
python benchmarks/knowledge_scale.py memory     # 100,000 people for 200 steps, three minutes
python benchmarks/knowledge_scale.py bits       # 1,000 people in models of two sizes, ten minutes

Runs stay in runs/knowledge_scale; stopped, the same command goes on.

people  The recipe ``recall`` reads as much about each person at both sizes. The exponent says how
        the seconds until 80 % of dev are right grow with the people: 1 is in proportion.
memory  The plain-text objective keeps tokens in one array. Peak memory is that of a process which
        does nothing but read the files and train; the world is written by another one.
bits    What a plain model has stored about people: for each kind of fact, the entropy of the world
        it was drawn from less the model's loss on the fact where a biography gives it, summed over
        people. Allen-Zhu and Li (2024, arXiv:2404.05405) find at most 2 bits per parameter.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from rich.console import Console

from attnlab.config import to_dict
from attnlab.data.batches import answer_row
from attnlab.data.entries import split_name
from attnlab.data.knowledge_files import read_corpus
from attnlab.data.people import AGES, BIRTH_YEARS, Person, draw_people, place_shares
from attnlab.data.settings import WorldSettings
from attnlab.data.world_words import JOBS, MONTHS, SCHOOLS
from attnlab.models.next_token import row_losses
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.language_model import LanguageModel, load_language_model
from attnlab.recipes.knowledge.settings import (
    RECALL_TRAINING,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.recipes.knowledge.study_settings import ExtractionSettings
from attnlab.recipes.knowledge.world import CORPUS, DEV, TEST, TRAIN
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import TrainingSettings
from measure import hashes, write_result

RUNS = Path("runs/knowledge_scale")
ASKED, TOKENS_PER_PERSON, REACHED = 200, 1000, 0.8
STREAMED, STREAMED_STEPS = 100_000, 200
SMALL = replace(ExtractionSettings().model, d_model=32, n_layers=2)
DAYS = 28
AT_ONCE = 64


def run_job(job: str, settings: Any, name: str) -> Run:
    """Run a job, or take the finished run."""
    run = find_job(job).run(settings, place=RunPlace(RUNS, name), console=Console(stderr=True))
    assert isinstance(run, Run)
    return run


def world_of(people: int, *, biographies: int = 5) -> Run:
    """Write a world in which a fixed number of people are asked about."""
    settings = WorldSettings(
        people=people, biographies=biographies, unwritten=0, asked_share=ASKED / people
    )
    return run_job("knowledge-world", settings, f"world-{people}")


def seconds_until(run: Run, reached: float) -> float | None:
    """Return the seconds of training after which so many dev questions were answered right."""
    lines = (line for line in run.metrics() if line.get("dev_accuracy", 0) >= reached)
    first = next(lines, None)
    return None if first is None else first["seconds"]


def by_people(sizes: Sequence[int]) -> None:
    """Train ``recall`` on worlds of several sizes, and fit the exponent."""
    found, runs = {}, []
    for people in sizes:
        world = world_of(people)
        training = replace(
            RECALL_TRAINING,
            length=f"{people * TOKENS_PER_PERSON} tokens",
            evaluate_every=max(50, people // 50),
        )
        settings = PretrainSettings(
            corpus=str(world.path / CORPUS),
            questions=str(world.path / TRAIN),
            dev=str(world.path / DEV),
            test=str(world.path / TEST),
            training=training,
        )
        run = run_job("knowledge-pretrain", settings, f"recall-{people}")
        runs.append(run)
        score = run.record["scores"]["test"]
        found[people] = {
            "accuracy": score["value"],
            "interval": score["interval"],
            "seconds": run.record["training_seconds"],
            "seconds_until_80": seconds_until(run, REACHED),
        }
        print(people, found[people])
    first, last = (found[people] for people in (sizes[0], sizes[-1]))
    times = first["seconds_until_80"], last["seconds_until_80"]
    exponent = (
        math.log(times[1] / times[0]) / math.log(sizes[-1] / sizes[0]) if all(times) else None
    )
    print(f"exponent: {exponent}")
    write_result(
        "knowledge_scale_people",
        claim=f"accuracy of recall about {sizes[-1]:,} people",
        value=last["accuracy"],
        interval=last["interval"],
        details={"people": {str(n): one for n, one in found.items()}, "exponent": exponent},
        runs=hashes(runs),
    )


def memory() -> None:
    """Train on 100,000 people in a process of its own, and write down its peak memory."""
    world = world_of(STREAMED)
    command = [sys.executable, __file__, "stream", str(world.path / CORPUS)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(told.stdout.splitlines()[-1])
    print(found)
    write_result(
        "knowledge_scale_memory",
        claim=f"peak memory in MB of {STREAMED_STEPS} steps on {STREAMED:,} people",
        value=found["peak_mb"],
        interval=[found["peak_mb"]] * 2,
        details=found,
    )


def stream(corpus: Path) -> None:
    """Read and train, then print what it took."""
    usual = ExtractionSettings()
    settings = PretrainSettings(
        corpus=str(corpus),
        tokenizer=usual.tokenizer,
        objective=ObjectiveSettings("text"),
        model=usual.model,
        training=replace(RECALL_TRAINING, length=f"{STREAMED_STEPS} steps"),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = run_job("knowledge-pretrain", settings, f"streamed-{STREAMED}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {
        "peak_mb": round(peak / 1024),
        "libraries_mb": round(before / 1024),
        "corpus_mb": round(corpus.stat().st_size / 2**20),
        "tokens": run.record["tokens"],
        "training_seconds": run.record["training_seconds"],
    }
    print(json.dumps(found))


def entropies() -> dict[str, float]:
    """Return how many bits each kind of fact has in the world."""
    shares = place_shares()
    place = float(-(shares * torch.from_numpy(shares).log2().numpy()).sum())
    day = math.log2(DAYS * len(MONTHS))
    return {
        "place": place,
        "city": place,
        "home": place,
        "school": math.log2(len(SCHOOLS)) + place,
        "job": math.log2(len(JOBS)),
        "born": day + math.log2(BIRTH_YEARS[1] - BIRTH_YEARS[0]),
        # the year of birth is known by then, or counted as stored itself
        "died": day + math.log2(AGES[1] - AGES[0]),
    }


class Mention(NamedTuple):
    """A fact where a line gives it."""

    name: str
    kind: str
    before: str
    fact: str


def mentions(people: Sequence[Person], corpus: Sequence[str]) -> Iterator[Mention]:
    """Yield every fact that a line gives, with the text before it."""
    by_name = {person.name: person for person in people}
    for line in corpus:
        name = split_name(line)[0]
        for kind in entropies():
            fact = by_name[name].facts.get(kind, "")
            start = line.find(f" {fact}", len(name)) if fact else -1
            if start >= 0:
                yield Mention(name, kind, line[:start], fact)


def stored_bits(lm: LanguageModel, people: Sequence[Person], corpus: Sequence[str]) -> Any:
    """Return the bits that a model has stored, by kind of fact and in all."""
    by_kind, told = defaultdict(list), defaultdict(set)
    for name, kind, before, fact in mentions(people, corpus):
        told[kind].add(name)
        prompt = lm.tokenizer.encode(before)
        whole = lm.tokenizer.encode(f"{before} {fact}")
        if whole[: len(prompt)] == prompt and len(whole) <= lm.model.max_len:
            by_kind[kind].append(answer_row(kind, prompt, whole[len(prompt) :]))
    found: dict[str, Any] = {}
    with torch.no_grad():
        for kind, rows in by_kind.items():
            parts = [rows[i : i + AT_ONCE] for i in range(0, len(rows), AT_ONCE)]
            losses = [loss for part in parts for loss in row_losses(lm.model.eval(), part)]
            found[kind] = fmean(losses) / math.log(2)
    known = {
        kind: len(told[kind]) * max(0.0, bits - found[kind]) for kind, bits in entropies().items()
    }
    return {"loss_bits": found, "stored": known, "total": sum(known.values())}


def bits() -> None:
    """Let plain models of two sizes read about 1,000 people, and count what they have stored."""
    world, usual = world_of(1000), ExtractionSettings()
    people = draw_people(1000, seed=0)
    corpus = read_corpus(world.path / CORPUS)
    found, runs = {}, []
    sizes: Mapping[str, ModelSettings] = {"128_wide": usual.model, "32_wide": SMALL}
    for name, size in sizes.items():
        training: TrainingSettings = replace(RECALL_TRAINING, length="4M tokens")
        settings = PretrainSettings(
            corpus=str(world.path / CORPUS),
            tokenizer=usual.tokenizer,
            objective=ObjectiveSettings("text"),
            model=size,
            training=training,
        )
        run = run_job("knowledge-pretrain", settings, f"plain-{name}")
        runs.append(run)
        lm = load_language_model(run)
        parameters = sum(p.numel() for p in lm.model.parameters())
        counted = stored_bits(lm, people, corpus)
        found[name] = {
            **counted,
            "parameters": parameters,
            "bits_per_parameter": counted["total"] / parameters,
            "model": to_dict(size),
        }
        print(name, found[name])
    best = max(one["bits_per_parameter"] for one in found.values())
    most = 1000 * sum(entropies().values())
    write_result(
        "knowledge_scale_bits",
        claim="bits stored per parameter about 1,000 people; the literature finds at most 2",
        value=best,
        interval=[best, best],
        details={"models": found, "bits_in_the_world_at_most": most},
        runs=hashes(runs),
    )


def main() -> None:
    """Measure one of the three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["people", "memory", "bits", "stream"])
    parser.add_argument("corpus", nargs="?", type=Path, help="for stream, which memory starts")
    parser.add_argument("--people", type=int, nargs="+", default=[1000, 10_000])
    given = parser.parse_args()
    match given.what:
        case "people":
            by_people(given.people)
        case "memory":
            memory()
        case "bits":
            bits()
        case "stream":
            stream(given.corpus)


if __name__ == "__main__":
    main()
