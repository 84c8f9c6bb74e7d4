"""A student's files with one bug each, to test that the grader catches it by name.

A mutant replaces pieces of the code in ``by_hand``, or of a file that is given. The rest stays right,
and the mutant names the checks that must fail, these and no other, and what the first of them says.
"""

from typing import NamedTuple

MODEL, INPUTS, TRAINER = "mymodel.py", "classifier_mlm.py", "trainer.py"


class Mutant(NamedTuple):
    """A bug: what is replaced by what, and what the grader says."""

    name: str
    replaced: dict[str, str]
    fails: tuple[str, ...]
    said: str
    file: str = MODEL


FIRST, LOSS = "hidden[:, 0]", "F.cross_entropy(logits, labels)"
BODY = "hidden = self.bert(input_ids, attention_mask, token_type_ids)\n        logits"
NO_LOSS = ("loss", "gradient", "learns")


def body(arguments: str) -> dict[str, str]:
    """Call the body with other arguments."""
    return {BODY: BODY.replace("input_ids, attention_mask, token_type_ids", arguments)}


CLASSIFIERS = (
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
            "super().__init__(config, pooler=pooler)\n        # Problem 2": "super().__init__(config, pooler=True)\n        # Problem 2"
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
            "self.classifier(self.dropout(hidden[:, 0]))": "self.dropout(self.classifier(hidden[:, 0]))"
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

SCORED = "F.cross_entropy(scores.flatten(0, 1), masked_lm_labels.flatten())"
PASS = "hidden = self.bert(input_ids, attention_mask, token_type_ids)\n        scores"
MASKED = (
    Mutant(
        "-100 forgotten",
        {SCORED: SCORED.replace("labels.flatten()", "labels.clamp(min=0).flatten()")},
        ("loss",),
        "places labelled -100 count as token 0",
    ),
    Mutant(
        "another label ignored",
        {SCORED: SCORED.replace("flatten())", "flatten(), ignore_index=0)")},
        NO_LOSS,
        "Target -100 is out of bounds",
    ),
    Mutant(
        "loss on all tokens",
        {
            "masked_lm_labels.flatten()": "torch.where(masked_lm_labels == -100, input_ids, masked_lm_labels).flatten()"
        },
        ("loss",),
        "it is over all places, not the masked ones alone",
    ),
    Mutant(
        "loss divided by all places",
        {
            SCORED: SCORED.replace(
                "flatten())", "flatten(), reduction='sum') / masked_lm_labels.numel()"
            )
        },
        ("loss",),
        "it is divided by the number of all places",
    ),
    Mutant(
        "masked loss summed",
        {SCORED: SCORED.replace("flatten())", "flatten(), reduction='sum')")},
        ("loss",),
        "it is summed, not averaged",
    ),
    Mutant(
        "masked softmax before cross_entropy",
        {SCORED: SCORED.replace("scores.flatten", "scores.softmax(-1).flatten")},
        ("loss",),
        "the scores go through a softmax before cross_entropy",
    ),
    Mutant(
        "untied",
        {
            "self.mlm_head = MLMHead(config)": "self.mlm_head = MLMHead(config)\n"
            "        self.decoder = nn.Linear(config.d_model, config.vocab_size)",
            "self.mlm_head(hidden, self.bert.embeddings.words.weight)": "self.mlm_head(hidden, self.decoder.weight)",
        },
        ("scores", "tied"),
        "off by",
    ),
    Mutant(
        "no layer norm",
        {
            "self.norm(self.activation(self.transform(hidden)))": "self.activation(self.transform(hidden))"
        },
        ("scores",),
        "the layer norm is left out",
    ),
    Mutant(
        "no activation",
        {"self.activation(self.transform(hidden))": "self.transform(hidden)"},
        ("scores",),
        "the activation is left out",
    ),
    Mutant("no bias", {"table.T + self.bias": "table.T"}, ("scores",), "the bias is left out"),
    Mutant(
        "masked without mask",
        {PASS: PASS.replace("attention_mask", "None")},
        ("scores", "padding"),
        "off by",
    ),
    Mutant(
        "one place only",
        {"self.mlm_head(hidden, ": "self.mlm_head(hidden[:, 0], "},
        ("runs",),
        "the scores have shape (3, 211), not (3, 7, 211)",
    ),
    Mutant(
        "masked body detached",
        {"self.mlm_head(hidden, ": "self.mlm_head(hidden.detach(), "},
        ("gradient",),
        "no gradient reaches bert.embeddings.norm.bias and",
    ),
)

TERM = "Term(mean * masked.weight, masked.weight, self.alpha)"
JOINT = (
    Mutant(
        "a second body",
        {
            "self.mlm_head = MLMHead(config)": "self.mlm_head = MLMHead(config)\n"
            "        self.other = BertModel(config)",
            "hidden = self.bert(input_ids, attention_mask, token_type_ids)\n        scores": "hidden = self.other(input_ids, attention_mask, token_type_ids)\n        scores",
        },
        ("scores of the tokens", "gradient of the tokens"),
        "off by",
    ),
    Mutant(
        "alpha on the wrong loss",
        {
            TERM: "Term(mean * masked.weight, masked.weight)",
            "Term(mean * labelled.weight, labelled.weight)": "Term(mean * labelled.weight, labelled.weight, self.alpha)",
        },
        ("joint loss",),
        "alpha weighs the loss of the classes",
        TRAINER,
    ),
    Mutant(
        "alpha not used",
        {TERM: "Term(mean * masked.weight, masked.weight)"},
        ("joint loss",),
        "alpha is not used",
        TRAINER,
    ),
    Mutant(
        "masked loss left out",
        {TERM: "Term(mean * masked.weight, masked.weight, 0.0)"},
        ("joint loss", "learns both"),
        "the loss of the masked tokens is left out",
        TRAINER,
    ),
)

CHOSEN = "(torch.rand(inputs.shape) < mlm_probability) & ~is_special"
MASKING = (
    Mutant(
        "targets are the masked inputs",
        {"original.masked_fill(~is_chosen": "inputs.masked_fill(~is_chosen"},
        ("targets",),
        "the labels are the masked inputs",
        INPUTS,
    ),
    Mutant(
        "special tokens masked",
        {CHOSEN: "torch.rand(inputs.shape) < mlm_probability"},
        ("special tokens",),
        "[CLS] is to be predicted in 1",
        INPUTS,
    ),
    Mutant(
        "padding masked",
        {
            "torch.tensor(sorted(tokenizer.special_ids))": "torch.tensor([tokenizer.cls, tokenizer.sep])"
        },
        ("special tokens",),
        "padding is to be predicted",
        INPUTS,
    ),
    Mutant(
        "always [MASK]",
        {"(fate < 0.8)": "(fate < 2)", "(fate > 0.9)": "(fate > 2)"},
        ("80/10/10",),
        "100.0% [MASK], 0.0% random, 0.0% unchanged",
        INPUTS,
    ),
    Mutant(
        "none unchanged", {"(fate > 0.9)": "(fate > 0.8)"}, ("80/10/10",), "% random, 0", INPUTS
    ),
    Mutant("a fixed share", {"< mlm_probability": "< 0.15"}, ("15 %",), "15.", INPUTS),
    Mutant(
        "labels everywhere",
        {"original.masked_fill(~is_chosen, -100)": "original"},
        ("special tokens", "fresh draws", "15 %", "80/10/10"),
        "[CLS] is to be predicted in 100% of cases",
        INPUTS,
    ),
    Mutant(
        "no labels",
        {"original.masked_fill(~is_chosen, -100)": "torch.full_like(original, -100)"},
        ("targets", "other tokens", "fresh draws", "15 %", "80/10/10"),
        "there are no labels: all are -100",
        INPUTS,
    ),
    Mutant(
        "other tokens changed",
        {"is_chosen & (fate < 0.8)": "~is_special & (fate < 0.1)"},
        ("other tokens", "80/10/10"),
        "of them are changed",
        INPUTS,
    ),
    Mutant(
        "the same tokens in every call",
        {
            "fate = torch": "torch.manual_seed(0)\n    is_chosen = (torch.rand(inputs.shape) < mlm_probability) & ~is_special\n    fate = torch"
        },
        ("fresh draws", "80/10/10"),
        "every call masks the same tokens",
        INPUTS,
    ),
    Mutant(
        "not padded",
        {"return inputs, labels": "return list(rows), labels"},
        ("runs",),
        "the inputs are a list: they must have shape (40, 30)",
        INPUTS,
    ),
)
