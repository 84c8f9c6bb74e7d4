"""*yelp* 2.1 and 3.1: the reports show the code that runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "answers" / "yelp.md").read_text(encoding="utf-8")
SOURCE = (ROOT / "courses" / "yelp" / "mymodel.py").read_text(encoding="utf-8")


def class_of(text: str, name: str) -> str:
    """Return the code of a class, without comments on lines of their own."""
    (found,) = re.findall(rf"^class {name}\(.*?(?=^class |^```|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = [line for line in found.splitlines() if not line.lstrip().startswith("#")]
    return "\n".join(lines).rstrip()


@pytest.mark.parametrize(
    "name", ["BertForSequenceClassification", "BertForCLSMLM", "BertForMaskedLanguageModel"]
)
def test_the_code_shown_is_the_courses(name: str) -> None:
    shown = class_of(PAGE, name)
    assert "def forward(" in shown or "def masked(" in shown
    assert shown == class_of(SOURCE, name)
