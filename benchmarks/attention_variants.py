"""Which attention is worth it? Every variant and position scheme on Shakespeare, three seeds each.

ATTNLAB_DATA=… python benchmarks/attention_variants.py ledger    # all topics on characters: 95 min
ATTNLAB_DATA=… python benchmarks/attention_variants.py speed     # of all of them; idle machine
ATTNLAB_DATA=… python benchmarks/attention_variants.py words     # the late mask on byte pairs
ATTNLAB_DATA=… python benchmarks/attention_variants.py encoder   # BERT on masked characters
ATTNLAB_DATA=… python benchmarks/attention_variants.py rates     # other rates, for five of them

Needs ATTNLAB_DATA/text/tinyshakespeare.txt. Two cells run at a time (PARALLEL=1 for one). Stopped,
the same command goes on from runs/attention_variants. The mini-report of every topic is written to
docs/topics; `python docs/variants.py` makes the page of the manual from the results.
"""

import argparse
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.console import Console

from attnlab.attention.conditions import CONTROL, cell_name, condition_name
from attnlab.attention.topics import topic_names
from attnlab.evaluation.examined import AS_TRAINED, WITHOUT_FUTURE
from attnlab.evaluation.held_out_text import SPLIT
from attnlab.recipes.attention.ablate import budget, conditions_of
from attnlab.recipes.attention.settings import SMALL_GPT, AblateSettings
from attnlab.recipes.attention.topic_report import report_on_topic
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import (
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.planning import plan_of
from attnlab.recipes.reporting import report_on
from attnlab.report.ablation.entries import Ablation, Entry, read_ablation
from attnlab.report.ablation.sentences import computed_on
from attnlab.report.ablation.tables import mean_perplexities
from attnlab.runs.directory import RunPlace
from attnlab.runs.study import Study
from measure import hashes, write_result

RUNS = Path("runs/attention_variants")
CONSOLE = Console(stderr=True)
TOPICS = Path(__file__).parent.parent / "docs" / "topics"
LATE_MASK = "late-mask"
RATED = ("dot_product@rotary", "aft:form=full", "linear", "random_synthesizer")
"""What is also trained at other rates: two of the best, and two of the others."""
ROUNDS = 3


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
    for topic in topic_names():
        print(report_on_topic(study.path, topic))
        write_page(study, topic, TOPICS / f"{topic}.md")
    write_study("attention_variants", study, budget(settings))


def write_page(study: Study, topic: str, page: Path) -> None:
    """Write the mini-report of a topic as a page of the manual, its figures in a folder."""
    figures = page.with_suffix("")
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        report = report_on_topic(study.path, topic, Path(folder), as_markdown=True)
        text = report.read_text(encoding="utf-8")
        for figure in sorted(Path(folder, "figures").glob("*.svg")):
            shutil.copy(figure, figures)
            text = text.replace(f"figures/{figure.stem}.png", f"{page.stem}/{figure.name}")
    page.write_text(text, encoding="utf-8")


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
            1 / one.step_seconds for cells in rounds for one in cells if one.name == cell
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
    study = study_of("words", settings)
    write_page(study, LATE_MASK, TOPICS / f"{LATE_MASK}-on-byte-pairs.md")
    found = read_ablation(study.opened())
    (leaking,) = found.others
    seeds = [one[WITHOUT_FUTURE]["bits_per_character"] for one in leaking.examined]
    control = fmean(one[AS_TRAINED]["bits_per_character"] for one in found.control.examined)
    write_study(
        "attention_late_mask_words",
        study,
        budget(settings),
        claim="bits per character of late_mask without a future, minus those of dot_product on the"
        " same windows; the interval is from the best to the worst seed",
        value=fmean(seeds) - control,
        interval=[min(seeds) - control, max(seeds) - control],
    )


def rates() -> None:
    """Train some variants at half and at twice the rate, one seed each."""
    found, runs = {}, []
    for factor in (0.5, 2.0):
        base = at_rate(replace(SMALL_GPT, corpus=text()), factor)
        study = study_of(f"rate-{factor}", AblateSettings(conditions=RATED, seeds=1, base=base))
        runs += study.opened()
        entries = read_ablation(study.opened()).entries
        found[f"times_{factor}".replace(".", "_")] = {
            entry.name: round(entry.bits.score, 4) for entry in entries
        }
    print(found)
    differences = [
        bits - one[CONTROL]
        for one in found.values()
        for name, bits in one.items()
        if name != CONTROL
    ]
    write_result(
        "attention_rates",
        claim="bits per character at half and twice the rate, minus those of dot_product there",
        value=round(fmean(differences), 4),
        interval=[round(min(differences), 4), round(max(differences), 4)],
        details={"rates": found, "interval": "smallest and largest difference", "seeds": 1},
        runs=hashes(runs),
        trained=sum(float(run.record["training_seconds"]) for run in runs),
    )


def at_rate(base: PretrainSettings, factor: float) -> PretrainSettings:
    """Multiply the learning rates of both of its optimizers."""
    optimizer = base.training.optimizer
    options = {**optimizer.options, "adamw_lr": factor * optimizer.options["adamw_lr"]}
    changed = replace(optimizer, lr=factor * optimizer.lr, options=options)
    return replace(base, training=replace(base.training, optimizer=changed))


def encoder() -> None:
    """Train BERT on masked characters of the same text, one seed per variant."""
    base = replace(SMALL_GPT, corpus=text())
    settings = AblateSettings(topics=("all",), seeds=1, encoder=True, base=base)
    write_study("attention_encoder", study_of("encoder", settings), budget(settings))


def write_study(name: str, study: Study, how: str, **headline: Any) -> None:
    """Write down what every condition scored and cost."""
    runs = study.opened()
    found = read_ablation(runs)
    honest = [entry for entry in found.entries if entry.leak_bits is None]
    best = min(honest, key=lambda entry: entry.bits.score)
    usual = {
        "claim": f"bits per character of the best of {len(honest)} conditions that do not see the"
        " future, minus those of dot_product; the best of many is flattered",
        "value": best.bits.score - found.control.bits.score,
        "interval": best.pair.interval if best.pair else [0.0, 0.0],
    }
    told = usual | headline
    write_result(
        name,
        claim=told["claim"],
        value=round(told["value"], 4),
        interval=[round(bound, 4) for bound in told["interval"]],
        details={
            "budget": how,
            "computed_on": computed_on(found),
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
    model = entry.runs[0].setting("model")
    training, validation = mean_perplexities(entry)
    return {
        "attention": model["attention"]["name"],
        "positions": model["attention"]["positions"],
        "d_model": model["d_model"],
        # not rounded: a page that rounds again would differ from the reports in the last digit
        "bits_per_character": entry.bits.score,
        "interval": list(entry.bits.interval),
        "difference": entry.pair.difference if entry.pair else 0.0,
        "difference_interval": list(entry.pair.interval) if entry.pair else [0.0, 0.0],
        "p": entry.pair.corrected_p if entry.pair else None,
        "outcome": entry.outcome,
        "perplexity": round(entry.perplexity, 3),
        "guessing": entry.runs[0].record["scores"][SPLIT]["baseline"]["value"],
        "training_perplexity": round(entry.training_perplexity or 0.0, 3),
        "mean_training_perplexity": training,
        "mean_validation_perplexity": validation,
        "same_windows": entry.on_same_windows(AS_TRAINED),
        "without_future": entry.without_future,
        "seeds_without_future": [
            one[WITHOUT_FUTURE] for one in entry.examined if WITHOUT_FUTURE in one
        ],
        "by_position": {
            f"{one.first}_{one.last}": round(one.perplexity, 2) for one in entry.by_position()
        },
        "asymmetry_of_scores": entry.mean_examined("asymmetry_of_scores"),
        "weight_on_itself": entry.mean_examined("weight_on_itself"),
        "counting_pairs": entry.mean_examined("counting_pairs"),
        "parameters": entry.mean_examined("parameters"),
        "step_bytes": entry.mean_examined("step_bytes"),
        "leak_bits": entry.leak_bits,
        "did_not_learn": entry.did_not_learn,
        "runs": len(entry.runs),
    }


def coins(found: Ablation) -> dict[str, dict[str, float]]:
    """Return the bits per coin flip of the conditions that were trained on them."""
    return {
        name: {
            "bits": run.record["scores"]["held_out_text"]["bits_per_character"],
            "without_future": examined.get(WITHOUT_FUTURE, examined[AS_TRAINED])[
                "bits_per_character"
            ],
        }
        for name, (run, examined) in found.coins.items()
    }


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = {
        "ledger": ledger,
        "speed": speed,
        "words": words,
        "encoder": encoder,
        "rates": rates,
    }
    parser.add_argument("what", choices=list(known))
    known[parser.parse_args().what]()


if __name__ == "__main__":
    main()
