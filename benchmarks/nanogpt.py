"""Shakespeare's characters as nanoGPT learns them on a CPU, and as we do: tokens and seconds.

    ATTNLAB_DATA=… python benchmarks/nanogpt.py     # five minutes; nothing else running

Needs ATTNLAB_DATA/text/tinyshakespeare.txt. nanoGPT's README gives a validation loss for its CPU
setting: 4 layers, 4 heads, 128 wide, block 64, 2,000 iterations of 12 rows. Our code trains with
these hyperparameters, and then with ours: as many tokens, and as many seconds. Its validation text
is the last tenth, as ours is.
"""

from dataclasses import replace
from math import log

from attention_variants import CONSOLE, RUNS, text
from attnlab.attention.settings import AttentionSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.attention.settings import SMALL_GPT
from attnlab.recipes.jobs import find_job
from attnlab.recipes.knowledge.settings import CHARACTERS, ObjectiveSettings, PretrainSettings
from attnlab.runs.directory import Run, RunPlace
from attnlab.training.settings import OptimizerSettings, ScheduleSettings, TrainingSettings
from measure import hashes, write_result

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


def main() -> None:
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
            "interval": [log(one) for one in run.record["scores"]["held_out_text"]["interval"]],
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
        interval=[round(bound, 4) for bound in found["tokens"]["interval"]],
        details={
            "published_loss": PUBLISHED_LOSS,
            "interval": "over windows; one seed",
            "seconds": "as many as our code takes for the published setting",
            "runs": found,
        },
        runs=hashes(runs.values()),
        trained=sum(float(run.record["training_seconds"]) for run in runs.values()),
    )


def pretrained(name: str, settings: PretrainSettings) -> Run:
    """Run one training, or go on with it."""
    done: Run = find_job("knowledge-pretrain").run(
        settings, place=RunPlace(RUNS, name), console=CONSOLE
    )
    return done


if __name__ == "__main__":
    main()
