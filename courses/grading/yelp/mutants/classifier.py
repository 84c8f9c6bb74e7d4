"""Usual mistakes in BertForSequenceClassification."""

from grading.yelp.mutants import NO_LOSS, Mutant

FIRST, LOSS = "hidden[:, 0]", "F.cross_entropy(logits, labels)"
SUPER = "super().__init__(config, "
BODY = "hidden = self.bert(input_ids, attention_mask, token_type_ids)\n        logits"


def body(arguments: str) -> dict[str, str]:
    """Call the body with other arguments."""
    return {BODY: BODY.replace("input_ids, attention_mask, token_type_ids", arguments)}


KNOWN = (
    # which vector
    Mutant(
        "mean over padding",
        {FIRST: "hidden.mean(1)"},
        ("scores", "padding"),
        "it is the mean over all places, padding too",
    ),
    Mutant(
        "mean over tokens",
        {
            FIRST: "(hidden * attention_mask[..., None]).sum(1)"
            " / attention_mask.sum(1, keepdim=True)"
        },
        ("scores",),
        "it is the mean over the tokens",
    ),
    Mutant("last place", {FIRST: "hidden[:, -1]"}, ("scores", "padding"), "it is the last place"),
    Mutant(
        "pooler",
        {
            f"{SUPER}pooler=pooler)\n        # Problem 2": f"{SUPER}pooler=True)\n        # Problem 2"
        },
        ("scores",),
        "it is the pooler's output",
    ),
    # what the body reads
    Mutant(
        "no mask",
        body("input_ids, None, token_type_ids"),
        ("scores", "padding"),
        "attention_mask is not used",
    ),
    Mutant(
        "mask inverted",
        body("input_ids, 1 - attention_mask, token_type_ids"),
        ("scores", "padding"),
        "attention_mask is inverted",
    ),
    Mutant(
        "mask and types swapped",
        body("input_ids, token_type_ids, attention_mask"),
        ("scores",),
        "attention_mask and token_type_ids are swapped",
    ),
    Mutant(
        "no types", body("input_ids, attention_mask"), ("scores",), "token_type_ids are not used"
    ),
    # dropout
    Mutant(
        "no dropout",
        {"nn.Dropout(config.dropout)": "nn.Identity()"},
        ("dropout",),
        "16 passes in training mode give the same scores",
    ),
    Mutant(
        "dropout after linear",
        {
            "self.classifier(self.dropout(hidden[:, 0]))": "self.dropout("
            "self.classifier(hidden[:, 0]))"
        },
        ("dropout before linear",),
        "the dropout comes after the linear layer",
    ),
    Mutant(
        "dropout in evaluation",
        {"self.dropout(hidden[:, 0])": "F.dropout(hidden[:, 0], 0.3)"},
        ("scores", "padding", "evaluation", "loss"),
        "off by",
    ),
    Mutant(
        "evaluation mode left on",
        {BODY: f"self.eval()\n        {BODY}"},
        ("dropout", "learns"),
        "16 passes in training mode give the same scores",
    ),
    # loss
    Mutant(
        "softmax before cross_entropy",
        {LOSS: "F.cross_entropy(logits.softmax(-1), labels)"},
        ("loss",),
        "the scores go through a softmax before cross_entropy",
    ),
    Mutant(
        "softmax as scores",
        {"if labels is None:": "logits = logits.softmax(-1)\n        if labels is None:"},
        ("scores",),
        "they went through a softmax",
    ),
    Mutant(
        "loss summed",
        {LOSS: "F.cross_entropy(logits, labels, reduction='sum')"},
        ("loss",),
        "it is summed, not averaged",
    ),
    Mutant(
        "loss of each text",
        {LOSS: "F.cross_entropy(logits, labels, reduction='none')"},
        NO_LOSS,
        "the loss has shape (3,): return one number",
    ),
    Mutant(
        "labels of another shape",
        {LOSS: "F.cross_entropy(logits, labels[:, None])"},
        NO_LOSS,
        "RuntimeError: ",
    ),
    Mutant(
        "scores before loss",
        {f"{LOSS}, logits": f"logits, {LOSS}"},
        NO_LOSS,
        "the loss has shape (3, 5): return one number",
    ),
    Mutant(
        "body detached",
        {FIRST: "hidden[:, 0].detach()"},
        ("gradient",),
        "no gradient reaches bert.embeddings.norm.bias and 34 more",
    ),
    # the class
    Mutant(
        "class misnamed",
        {"BertForSequenceClassification": "BertForSequenceClasification"},
        ("runs",),
        "mymodel.py has no BertForSequenceClassification."
        " Did you mean 'BertForSequenceClasification'?",
    ),
    Mutant(
        "one score per text",
        {"nn.Linear(config.d_model, num_labels)": "nn.Linear(config.d_model, 1)"},
        ("runs",),
        "the scores have shape (3, 1), not (3, 5)",
    ),
    Mutant(
        "SyntaxError",
        {"class MLMHead(nn.Module):": "class MLMHead(nn.Module)"},
        ("runs",),
        "SyntaxError",
    ),
)
