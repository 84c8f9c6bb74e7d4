"""Which attention is worth it? Every variant and position scheme on Shakespeare, three seeds each.

ATTNLAB_DATA=… python benchmarks/attention_variants.py ledger    # all topics on characters: 2 hours
ATTNLAB_DATA=… python benchmarks/attention_variants.py speed     # of all of them; idle machine
ATTNLAB_DATA=… python benchmarks/attention_variants.py words     # the late mask on byte pairs
ATTNLAB_DATA=… python benchmarks/attention_variants.py encoder   # BERT on masked characters
ATTNLAB_DATA=… python benchmarks/attention_variants.py nanogpt   # nanoGPT's published CPU setting

Needs ATTNLAB_DATA/text/tinyshakespeare.txt. Two cells run at a time (PARALLEL=1 for one). Stopped,
the same command goes on from runs/attention_variants. The study's report and one mini-report per
topic are written next to it; `python docs/variants.py` makes the page of the manual from them.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from attnlab.attention.conditions import CONTROL, cell_name, condition_name
from attnlab.attention.settings import AttentionSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.attention.ablate import budget, conditions_of
from attnlab.recipes.attention.settings import SMALL_GPT, AblateSettings
from attnlab.recipes.attention.topic_report import report_on_topic
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import (
    CHARACTERS,
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.planning import plan_of
from attnlab.recipes.reporting import report_on
from attnlab.report.ablation.entries import Ablation, Entry, read_ablation
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.study import Study
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from measure import hashes, write_result

RUNS = Path("runs/attention_variants")
CONSOLE = Console(stderr=True)
LATE_MASK = "late-mask"
ROUNDS = 3
PUBLISHED_LOSS = 1.88
"""Of nanoGPT's README, in nats per character."""
NANOGPT = PretrainSettings(
    tokenizer=CHARACTERS,
    objective=ObjectiveSettings("running_text", {"block": 64}),
    model=ModelSettings(128, 4, 4, attention=AttentionSettings(positions="learned")),
    batch_tokens=12 * 64,
    training=TrainingSettings(
        length="2000 steps",
        optimizer=OptimizerSettings(
            "adamw", lr=1e-3, options={"betas": [0.9, 0.99], "weight_decay": 0.1}
        ),
        schedule=ScheduleSettings("cosine", warmup=100, options={"final": 0.1}),
        evaluate_every=500,
    ),
)
"""nanoGPT's model, batches, steps and optimizer for this text on a CPU, with our code."""


def text() -> str:
    """Return the path of the text."""
    return str(Path(os.environ["ATTNLAB_DATA"]).resolve() / "text" / "tinyshakespeare.txt")


def with_one_thread(settings: AblateSettings) -> AblateSettings:
    """Return the settings with cells that compute with one thread, however many run at a time."""
    training = replace(settings.base.training, threads=1)
    return replace(settings, base=replace(settings.base, training=training))


def study_of(name: str, settings: AblateSettings) -> Study:
    """Run a study, or go on with it."""
    done: Study = find_job("attention-ablate").run(
        with_one_thread(settings),
        place=RunPlace(RUNS, name),
        console=CONSOLE,
        parallel=int(os.environ.get("PARALLEL", "2")),
    )
    print(report_on([done.path], as_markdown=False))
    return done


def ledger() -> None:
    """Train everything, and write the reports of all topics."""
    settings = AblateSettings(topics=("all",), base=replace(SMALL_GPT, corpus=text()))
    study = study_of("ledger", settings)
    for topic in ("aft", "fast", LATE_MASK, "positions", "projections", "sharing", "similarity"):
        print(report_on_topic(study.path, topic))
    write_study("attention_variants", study, budget(settings))


def speed() -> None:
    """Time a few steps of every condition, in several rounds; the runs may have had company."""
    base = replace(SMALL_GPT, corpus=text())
    settings = with_one_thread(AblateSettings(topics=("all",), seeds=1, base=base))
    names = {cell_name(name, 0): condition_name(name) for name in conditions_of(settings)}
    rounds = [
        plan_of("attention-ablate", settings, RunPlace(RUNS, "speed")).cells for _ in range(ROUNDS)
    ]
    rates = {
        condition: sorted(
            one.steps / one.seconds for cells in rounds for one in cells if one.name == cell
        )
        for cell, condition in names.items()
    }
    slowest, *_ = sorted(rates, key=lambda name: median(rates[name]))
    control = median(rates[CONTROL])
    for name, found in rates.items():
        print(f"{name}: {median(found) / control:.2f}")
    write_result(
        "attention_speed",
        claim="steps per second of the slowest variant, relative to dot_product",
        value=round(median(rates[slowest]) / control, 3),
        interval=[round(rate / control, 3) for rate in (rates[slowest][0], rates[slowest][-1])],
        details={
            "slowest": slowest,
            "interval": f"smallest and largest of {ROUNDS} rounds",
            "relative": {name: round(median(found) / control, 3) for name, found in rates.items()},
            "steps_per_second": round(control, 3),
        },
    )


def words() -> None:
    """Train the late mask on byte pairs, where common words are one token each."""
    base = replace(SMALL_GPT, corpus=text(), tokenizer=TokenizerSettings("byte_pairs", 1024))
    settings = AblateSettings(topics=(LATE_MASK,), base=base)
    write_study("attention_late_mask_words", study_of("words", settings), budget(settings))


def encoder() -> None:
    """Train BERT on masked characters of the same text, one seed per variant."""
    base = replace(SMALL_GPT, corpus=text())
    settings = AblateSettings(topics=("all",), seeds=1, encoder=True, base=base)
    write_study("attention_encoder", study_of("encoder", settings), budget(settings))


def write_study(name: str, study: Study, how: str) -> None:
    """Write down what every condition scored and cost."""
    runs = study.opened()
    found = read_ablation(runs)
    honest = [entry for entry in found.entries if entry.leak_bits is None]
    best = min(honest, key=lambda entry: entry.bits.score)
    write_result(
        name,
        claim="bits per character of the best variant that does not see the future, minus those of"
        " dot_product",
        value=round(best.bits.score - found.control.bits.score, 4),
        interval=[round(bound, 4) for bound in best.pair.interval] if best.pair else [0.0, 0.0],
        details={
            "budget": how,
            "best": best.name,
            "n": found.comparison.n,
            "conditions": {entry.name: described(entry) for entry in found.entries},
            "coins": coins(found),
            "crossover": found.costs.get("crossover", {}),
        },
        runs=hashes(runs),
        trained=sum(float(run.record["training_seconds"]) for run in runs),
    )


def described(entry: Entry) -> dict[str, Any]:
    """Return all that the page of the manual shows of a condition."""
    again = [one["without_future"] for one in entry.examined if "without_future" in one]
    return {
        "attention": entry.runs[0].setting("model")["attention"]["name"],
        "bits_per_character": round(entry.bits.score, 4),
        "interval": [round(bound, 4) for bound in entry.bits.interval],
        "difference": round(entry.pair.difference, 4) if entry.pair else 0.0,
        "p": entry.pair.corrected_p if entry.pair else None,
        "outcome": entry.outcome,
        "perplexity": round(entry.perplexity, 3),
        "training_perplexity": round(entry.training_perplexity or 0.0, 3),
        "parameters": entry.mean_examined("parameters"),
        "step_bytes": entry.mean_examined("step_bytes"),
        "leak_bits": entry.leak_bits,
        "without_future": again,
        "did_not_learn": entry.did_not_learn,
        "runs": len(entry.runs),
    }


def coins(found: Ablation) -> dict[str, float]:
    """Return the bits per coin flip of the conditions that were trained on them."""
    return {
        name: run.record["scores"]["held_out_text"]["bits_per_character"]
        for name, (run, _) in found.coins.items()
    }


def nanogpt() -> None:
    """Train with the published hyperparameters, then our way: as many tokens, as many seconds."""
    published = pretrained("nanogpt-published", replace(NANOGPT, corpus=text()))
    seconds = float(published.record["training_seconds"])
    ours = replace(NANOGPT, corpus=text(), batch_tokens=SMALL_GPT.batch_tokens)
    lengths = {
        "tokens": f"{published.record['tokens']} tokens",
        "seconds": f"{seconds:.0f} seconds",
    }
    runs = {"published": published}
    for name, length in lengths.items():
        training = replace(SMALL_GPT.training, length=length, evaluate_every=500)
        runs[name] = pretrained(f"nanogpt-ours-{name}", replace(ours, training=training))
    found = {
        name: {
            "loss": run.record["scores"]["held_out_text"]["loss"],
            "tokens": run.record["tokens"],
            "training_seconds": run.record["training_seconds"],
        }
        for name, run in runs.items()
    }
    for name, numbers in found.items():
        print(name, numbers)
    write_result(
        "attention_nanogpt",
        claim="validation loss in nats per character after as many tokens as nanoGPT's CPU setting",
        value=round(found["tokens"]["loss"], 4),
        interval=[round(found["tokens"]["loss"], 4)] * 2,
        details={"published_loss": PUBLISHED_LOSS, "runs": found},
        runs=hashes(runs.values()),
        trained=sum(float(run.record["training_seconds"]) for run in runs.values()),
    )


def pretrained(name: str, settings: PretrainSettings) -> Run:
    """Run one training, or go on with it."""
    done: Run = find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS, name), console=CONSOLE
    )
    return done


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = {
        "ledger": ledger,
        "speed": speed,
        "words": words,
        "encoder": encoder,
        "nanogpt": nanogpt,
    }
    parser.add_argument("what", choices=list(known))
    known[parser.parse_args().what]()


if __name__ == "__main__":
    main()
