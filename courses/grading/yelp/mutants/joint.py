"""Usual mistakes in BertForCLSMLM, and in the loss that it is trained on."""

from grading.yelp.mutants import TRAINER, Mutant
from grading.yelp.mutants.masked_lm import PASS

TERM = "Term(mean * masked.weight, masked.weight, self.alpha)"
KNOWN = (
    Mutant(
        "a second body",
        {
            "self.mlm_head = MLMHead(config)": "self.mlm_head = MLMHead(config)\n"
            "        self.other = BertModel(config)",
            PASS: PASS.replace("self.bert", "self.other"),
        },
        ("scores of the tokens", "gradient of the tokens"),
        "off by",
    ),
    Mutant(
        "alpha on the wrong loss",
        {
            TERM: "Term(mean * masked.weight, masked.weight)",
            "Term(mean * labelled.weight, labelled.weight)": "Term("
            "mean * labelled.weight, labelled.weight, self.alpha)",
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
