"""Whole submissions with one mistake each, to test that the grader catches it by name.

``right`` writes what a right submission has beside its src/; a mistake then changes one thing.
"""

from pathlib import Path

import torch

from grading.mistakes import Mistake, edit, rename, replace, write

N_QUESTIONS = 40
PLACES = ("Lima", "Oslo", "Bern", "London", "Kyiv")
LABELS = [PLACES[i % len(PLACES)] for i in range(N_QUESTIONS)]
MODELS = ("vanilla.nopretrain", "vanilla.pretrain", "synthesizer.pretrain")
BASELINE = "src/london_baseline.py"
WEIGHTS = "synthesizer.finetune.params"


def right(folder: Path) -> None:
    """Write predictions of which three quarters are right, and the weights of a synthesizer."""
    predicted = [place if i % 4 else "Rome" for i, place in enumerate(LABELS)]
    for model in MODELS:
        for split in ("dev", "test"):
            write(folder / f"{model}.{split}.predictions", predicted)
    tensors = ("w1.weight", "w2", "b2", "value.weight", "proj.weight")
    torch.save({f"blocks.0.attn.{name}": torch.zeros(1) for name in tensors}, folder / WEIGHTS)


def labels_file() -> str:
    """Return the test set with its answers."""
    return "".join(f"Where was Person {i} born?\t{place}\n" for i, place in enumerate(LABELS))


def weights_of_vanilla(folder: Path) -> None:
    """Hand in the other model's weights."""
    names = ("query.weight", "key.weight", "value.weight", "proj.weight")
    torch.save({f"blocks.0.attn.{name}": torch.zeros(1) for name in names}, folder / WEIGHTS)


PLAIN = "vanilla.nopretrain.{}.predictions"
PRETRAINED, OTHER = "vanilla.pretrain.test.predictions", "synthesizer.pretrain.test.predictions"
SCORE = '["London"] * len(questions)'
FILES = (
    Mistake(
        "a file with a misspelt name",
        rename(PLAIN.format("dev"), "vanilla.nopretrained.dev.predictions"),
        "2(d)",
        PLAIN.format("dev"),
        "it is missing. Did you mean 'vanilla.nopretrained.dev.predictions'?",
    ),
    Mistake(
        "predictions of another file",
        edit(PLAIN.format("test"), lambda lines: lines[:-1]),
        "2(d)",
        PLAIN.format("test"),
        "it has 39 lines, the labels have 40",
    ),
    Mistake(
        "an empty file",
        edit(PLAIN.format("dev"), lambda _: []),
        "2(d)",
        PLAIN.format("dev"),
        "it is empty. Run the commands of 2(d).",
    ),
    Mistake(
        "a line of headings",
        edit(PRETRAINED, lambda lines: ["place", *lines]),
        "2(f)",
        PRETRAINED,
        "it has 41 lines",
    ),
    Mistake(
        "one line further",
        edit(PRETRAINED, lambda lines: [lines[-1], *lines[:-1]]),
        "2(f)",
        PRETRAINED,
        "0 of 40 right",
    ),
    Mistake(
        "question and answer",
        edit(PRETRAINED, lambda lines: [f"Where?⁇{line}" for line in lines]),
        "2(f)",
        PRETRAINED,
        "0 of 40 right",
    ),
    Mistake(
        "not decoded up to the mark",
        edit(PRETRAINED, lambda lines: [f"{line}⁇{line}" for line in lines]),
        "2(f)",
        PRETRAINED,
        "0 of 40 right",
    ),
    Mistake(
        "always London",
        edit(OTHER, lambda lines: ["London"] * len(lines)),
        "2(g)i",
        "not collapsed",
        "it did not learn: it answers 'London' to 40 of 40 questions",
    ),
    Mistake(
        "nearly always London",
        edit(OTHER, lambda lines: ["Rome", *["London"] * (len(lines) - 1)]),
        "2(g)i",
        "not collapsed",
        "none of its 8 right answers is another",
    ),
    Mistake("vanilla weights", weights_of_vanilla, "2(g)i", WEIGHTS, "it holds key.weight"),
    Mistake(
        "weights left out",
        lambda folder: (folder / WEIGHTS).unlink(),
        "2(g)i",
        WEIGHTS,
        "it is missing. Run the commands of 2(g).",
    ),
)
CODE = (
    Mistake(
        "the score of the course's file, written down",
        replace(BASELINE, "{correct / total * 100}", "5.0"),
        "2(d)",
        "London baseline",
        "it printed Correct: 14.0 out of 80.0: 5.0% where 14 of 80 are right: 17.5 %",
    ),
    Mistake(
        "London in small letters",
        replace(BASELINE, SCORE, '["london"] * len(questions)'),
        "2(d)",
        "London baseline",
        "it printed Correct: 0.0 out of 80.0: 0.0%",
    ),
    Mistake(
        "one prediction instead of one per question",
        replace(BASELINE, SCORE, '["London"]'),
        "2(d)",
        "London baseline",
        "has 80 questions, but there are 1 predictions",
    ),
    Mistake(
        "a class with a misspelt name",
        replace("src/attention.py", "class SynthesizerAttention", "class SynthesiserAttention"),
        "2(g)i",
        "runs",
        "attention.py has no SynthesizerAttention. Did you mean 'SynthesiserAttention'?",
    ),
    Mistake(
        "a file with another name",
        rename("src/dataset.py", "src/datasets.py"),
        "2(e)",
        "runs",
        "there is no src/dataset.py. Did you mean 'datasets.py'?",
    ),
    Mistake(
        "more memory than there is",
        replace("src/attention.py", "nn.init.uniform_(self.w2,", "torch.ones(2**36)  #"),
        "2(g)i",
        "runs",
        "it needs more memory than it may have (attention.py, line ",
    ),
)
