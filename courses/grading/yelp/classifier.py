"""Problem 2: is BertForSequenceClassification [CLS] → dropout → linear, and is its loss right?"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grading.findings import Finding
from grading.probing import Answer
from grading.yelp import checkpoint, heads
from grading.yelp.heads import Check, Head, Mistakes, Recorded, Verdict

NAME = "BertForSequenceClassification"
HEAD = Head(
    "classifier", "forward", checkpoint.labelled(), (len(checkpoint.ROWS), checkpoint.N_CLASSES)
)
RUNS = f"mymodel.py: {NAME}.from_pretrained(folder, 5) is read and returns the scores of 5 classes"


def request(folder: Path) -> dict[str, Any]:
    """Say what the probe is to run."""
    return heads.request(folder, NAME, [HEAD], classes=True)


def grade(answer: Answer) -> list[Finding]:
    """Judge what the probe ran."""
    return heads.grade(answer, RUNS, [(HEAD, CHECKS)])


def ours(found: Recorded, **changed: Tensor) -> Tensor:
    """Return what our model scores, with other inputs if they are given."""
    inputs = found.inputs._replace(**changed)
    with torch.no_grad():
        return checkpoint.ours()(inputs.ids, inputs.types, inputs.mask.bool())


def scores(found: Recorded) -> Verdict:
    """Compare the scores with ours."""
    logits, wanted = found["scores plain"], ours(found)
    if found.close(logits, wanted):
        return None, f"equal to {found.tolerance:g}"
    off = found.distance(logits, wanted)
    return f"off by {off:.2g}{found.named(logits, _mistakes(found))}", ""


def _mistakes(found: Recorded) -> Mistakes:
    """Return what the usual mistakes score."""
    inputs, model = found.inputs, checkpoint.ours()
    batch = inputs.ids, inputs.types, inputs.mask.bool()
    with torch.no_grad():
        hidden = model.body(*batch)  # (B, T, D)
        is_token = inputs.mask[..., None]
        last = hidden[torch.arange(len(hidden)), inputs.mask.sum(1) - 1]
        vectors = {
            "it is the mean over all places, padding too": hidden.mean(1),
            "it is the mean over the tokens": (hidden * is_token).sum(1) / is_token.sum(1),
            "it is the largest value of all places": hidden.amax(1),
            "it is the last place": hidden[:, -1],
            "it is the last token": last,
            "it is the embedding of [CLS], before the layers": model.body.embeddings(*batch[:2])[
                :, 0
            ],
        }
        return {said: model.tell(vector) for said, vector in vectors.items()} | {
            "it is the pooler's output": checkpoint.ours(pooler=True)(*batch),
            "attention_mask is not used": ours(found, mask=torch.ones_like(inputs.mask)),
            "attention_mask is inverted": ours(found, mask=1 - inputs.mask),
            "attention_mask and token_type_ids are swapped": ours(
                found, mask=inputs.types, types=inputs.mask
            ),
            "token_type_ids are not used": ours(found, types=torch.zeros_like(inputs.types)),
            "they went through a softmax": ours(found).softmax(-1),
            "they went through a log-softmax": ours(found).log_softmax(-1),
        }


def dropout(found: Recorded) -> Verdict:
    """Check that something is dropped in training."""
    drawn = found["drawn"]
    if found.close(drawn, drawn[:1].expand_as(drawn)):
        return f"{len(drawn)} passes in training mode give the same scores", ""
    return None, f"{len(drawn)} passes differ"


def before_linear(found: Recorded) -> Verdict:
    """Check that no score itself is dropped."""
    zeros = float((found["drawn"] == 0).double().mean())
    problem = f"{zeros:.0%} of the scores are 0: the dropout comes after the linear layer"
    return (problem if zeros > 0 else None), "no score is dropped"


def loss(found: Recorded) -> Verdict:
    """Compare the loss with the mean cross-entropy of the submission's own scores."""
    mine, labels, logits = found["loss"], found.inputs.labels, found["scores plain"]
    total = heads.total_loss(logits, labels)
    wanted = total / len(labels)
    if found.close(mine, wanted):
        return None, f"{float(wanted):.4g}"
    probabilities = heads.total_loss(logits.softmax(-1), labels) / len(labels)
    named = found.named(
        mine,
        {
            "it is summed, not averaged": total,
            "the scores go through a softmax before cross_entropy": probabilities,
            "its sign is wrong": -wanted,
        },
    )
    return f"{float(mine):.4g} instead of {float(wanted):.4g}{named}", ""


def gradients(found: Recorded) -> Verdict:
    """Compare with the gradients of ours."""
    model, inputs = checkpoint.ours(), found.inputs
    logits = model(inputs.ids, inputs.types, inputs.mask.bool())
    return heads.gradient(found, heads.reached_in(model, heads.total_loss(logits, inputs.labels)))


SCORES = Check("scores", "equal to [CLS] → linear with the same weights, in evaluation", scores)
LOSS = Check("loss", "the mean cross-entropy of the scores", loss)
GRADIENT = Check("gradient", "the loss reaches the whole body and the head", gradients)
CHECKS = (
    SCORES,
    Check("padding", "padding changes nothing", heads.padding),
    Check("dropout", "in training, a part of [CLS] is dropped", dropout),
    Check("dropout before linear", "[CLS] → dropout → linear", before_linear),
    Check("evaluation", "in evaluation, nothing is dropped", heads.same_in_evaluation),
    LOSS,
    GRADIENT,
    Check("learns", "a few steps of training lower the loss", heads.learns),
)
