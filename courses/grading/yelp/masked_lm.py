"""Problem 3, 1(a): does BertForMaskedLanguageModel predict masked tokens, and those alone?"""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab.models.bert import BertForCLSMLM
from grading.findings import Finding
from grading.probing import Answer
from grading.yelp import checkpoint, heads
from grading.yelp.heads import Check, Head, Mistakes, Recorded, Verdict

NAME = "BertForMaskedLanguageModel"
SHAPE = (len(checkpoint.ROWS), max(map(len, checkpoint.ROWS)), checkpoint.SIZE.vocab_size)
HEAD = Head("masked", "forward", checkpoint.masked(), SHAPE)
RUNS = f"mymodel.py: {NAME}.from_pretrained(folder) is read and scores all tokens at every place"


def request(folder: Path) -> dict[str, Any]:
    """Say what the probe is to run."""
    return heads.request(folder, NAME, [HEAD], classes=False)


def grade(answer: Answer) -> list[Finding]:
    """Judge what the probe ran."""
    return heads.grade(answer, RUNS, [(HEAD, CHECKS)])


def hidden_of(model: BertForCLSMLM, found: Recorded) -> Tensor:
    """Return our hidden vectors of the tokens, (N, D)."""
    inputs = found.inputs
    hidden = model.body(inputs.ids, inputs.types, inputs.mask.bool())
    return hidden[inputs.mask == 1]


def scores(found: Recorded) -> Verdict:
    """Compare the scores of all tokens with ours; those of padding mean nothing."""
    mine = found["scores plain"][found.inputs.mask == 1]
    with torch.no_grad():
        model = checkpoint.ours()
        hidden = hidden_of(model, found)
        wanted = model.guess(hidden)
        if found.close(mine, wanted):
            return None, f"equal to {found.tolerance:g}"
        named = found.named(mine, _mistakes(model, hidden, wanted))
    return f"off by {found.distance(mine, wanted):.2g}{named}", ""


def _mistakes(model: BertForCLSMLM, hidden: Tensor, wanted: Tensor) -> Mistakes:
    """Return what the usual mistakes score."""
    head, table = model.masked, model.body.embeddings.words.weight
    transformed = head.transform(hidden)
    return {
        "the transform is left out": F.linear(hidden, table, head.bias),
        "the activation is left out": F.linear(head.norm(transformed), table, head.bias),
        "the layer norm is left out": F.linear(head.activation(transformed), table, head.bias),
        "the bias is left out": wanted - head.bias,
        "they went through a softmax": wanted.softmax(-1),
        "they went through a log-softmax": wanted.log_softmax(-1),
    }


def tied(found: Recorded) -> Verdict:
    """Check that another embedding of a token gives that token another score."""
    is_token = found.inputs.mask == 1
    change = (found["moved"] - found["scores plain"])[is_token].abs().amax(0)  # (V,)
    if float(change[checkpoint.ABSENT]) < found.tolerance:
        return "the last matrix is not the table of embeddings: it is untied", ""
    return None, "another embedding, another score"


def loss(found: Recorded) -> Verdict:
    """Compare the loss with the mean over the labelled places, from the submission's own scores."""
    mine, labels, logits = found["loss"], found.inputs.labels, found["scores plain"]
    n_labelled = int((labels != -100).sum())
    total = heads.total_loss(logits, labels)
    wanted = total / n_labelled
    if found.close(mine, wanted):
        return None, f"{float(wanted):.4g} over {n_labelled} places"
    inputs = found.inputs
    everywhere = torch.where(labels == -100, inputs.ids, labels)
    of_tokens = torch.where(inputs.mask == 1, everywhere, -100)
    named = found.named(
        mine,
        {
            "it is over all places, not the masked ones alone": heads.total_loss(logits, everywhere)
            / labels.numel(),
            "it is over all tokens, not the masked ones alone": heads.total_loss(logits, of_tokens)
            / inputs.mask.sum(),
            "places labelled -100 count as token 0": heads.total_loss(logits, labels.clamp(min=0))
            / labels.numel(),
            "it is divided by the number of all places": total / labels.numel(),
            "it is summed, not averaged": total,
            "the scores go through a softmax before cross_entropy": heads.total_loss(
                logits.softmax(-1), labels
            )
            / n_labelled,
        },
    )
    return f"{float(mine):.4g} instead of {float(wanted):.4g}{named}", ""


def gradients(found: Recorded) -> Verdict:
    """Compare with the gradients of ours."""
    model, inputs = checkpoint.ours(), found.inputs
    scored = model.guess(model.body(inputs.ids, inputs.types, inputs.mask.bool()))
    return heads.gradient(found, heads.reached_in(model, heads.total_loss(scored, inputs.labels)))


SCORES = Check("scores", "equal to ours with the same weights", scores)
LOSS = Check("loss", "the mean cross-entropy over the places whose label is not -100", loss)
GRADIENT = Check("gradient", "the loss reaches the whole body and the head", gradients)
CHECKS = (
    SCORES,
    Check("tied", "the last matrix is the table of embeddings", tied),
    LOSS,
    Check("padding", "padding changes nothing", heads.padding),
    GRADIENT,
    Check("learns", "a few steps of training lower the loss", heads.learns),
)
