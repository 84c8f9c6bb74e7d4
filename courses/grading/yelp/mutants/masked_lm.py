"""Usual mistakes in BertForMaskedLanguageModel."""

from grading.yelp.mutants import NO_LOSS, Mutant

SCORED = "F.cross_entropy(scores.flatten(0, 1), masked_lm_labels.flatten())"
PASS = "hidden = self.bert(input_ids, attention_mask, token_type_ids)\n        scores"
KNOWN = (
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
            "masked_lm_labels.flatten()": "torch.where("
            "masked_lm_labels == -100, input_ids, masked_lm_labels).flatten()"
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
            "self.mlm_head(hidden, self.bert.embeddings.words.weight)": "self.mlm_head("
            "hidden, self.decoder.weight)",
        },
        ("scores", "tied"),
        "off by",
    ),
    Mutant(
        "no layer norm",
        {
            "self.norm(self.activation(self.transform(hidden)))": "self.activation("
            "self.transform(hidden))"
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
