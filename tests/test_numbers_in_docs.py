"""Shares and speeds in the manual come from results/, or are listed here with a reason."""

import re
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
LEFT_OUT = re.compile(
    r"<!-- result .*?<!-- /result -->"  # a number of results/
    r"|^```.*?^```"  # commands, and what they printed
    r"|`[^`\n]+`"
    r"|\b95 %",  # the level of every interval
    re.DOTALL | re.MULTILINE,
)
CLAIM = re.compile(
    r"\d[\d.,]* ?%|\d[\d.]*(?: to \d[\d.]*)? times (?:as (?:fast|slow)|faster|slower)|\d[\d.]*×"
)
REASONS: dict[str, dict[str, str]] = {
    "computed by a test that the page names": {
        "answers/boolq.md": "99 %, 50 %, 62.17 %",
        "answers/knowledge.md": "99 %, 99 %, 7.9 %",
        "answers/yelp.md": "99 %, 99 %",
        "courses/knowledge.md": "7.9 %",
        "geometry.md": "99 %, 7.9 %",
    },
    "what an assignment asks for or says": {
        "answers/knowledge.md": "10 %, 5 %",
        "classify.md": "55 %, 55 %",
        "courses/boolq.md": "50 %",
        "courses/knowledge.md": "5 %",
        "knowledge.md": "10 %",
    },
    "a rule of the program, or a setting": {
        "answers/boolq.md": "15 %",
        "attention.md": "2 %, 5 %",
        "classify.md": "5 %, 15 %, 80 %, 10 %, 10 %",
        "knowledge.md": "10 %, 1 %, 90 %, 80 %, 80 %",
        "reports.md": "1 %, 5 %",
        "runs.md": "2 %",
    },
    "an example of how a message or a report reads": {
        "architecture.md": "84.5 %",
        "reports.md": "5 %, 84 %, 84 %, 82 %",
    },
    "counted in the data: London 25 of 500, 479 of 500 answers in the text, a made-up world": {
        "knowledge.md": "5.0 %, 95.8 %, 5.0 %, 5 %",
    },
    "a paper's result": {"knowledge.md": "9.7 %, 96.6 %, 4.4 %, 86.8 %"},
    "of transformers' Trainer; no file in results/ has it yet: measure it, or leave it out": {
        "tuning.md": "88.3 %",
    },
    "a word for all": {"answers/sst2.md": "100 %"},
}
GENERATED = re.compile(r"variants\.md|topics/.*")
"""Pages that benchmarks/attention_variants.py and docs/variants.py write, numbers included."""
PAGES = sorted(
    page
    for path in DOCS.rglob("*.md")
    if not GENERATED.fullmatch(page := path.relative_to(DOCS).as_posix())
)


def claims(text: str) -> list[str]:
    """Give the shares and speeds that stand in sentences and tables."""
    return CLAIM.findall(LEFT_OUT.sub("", text))


def allowed(page: str) -> list[str]:
    return [one for pages in REASONS.values() if page in pages for one in pages[page].split(", ")]


@pytest.mark.parametrize("page", PAGES)
def test_a_share_or_a_speed_comes_from_results_or_has_a_reason(page: str) -> None:
    found = Counter(claims((DOCS / page).read_text(encoding="utf-8")))
    without = found - Counter(allowed(page))
    assert not without, f"docs/{page}: take it from results/, or give a reason here"
    assert not Counter(allowed(page)) - found, f"docs/{page} no longer has these"


def test_what_is_a_claim_and_what_is_not() -> None:
    text = "<!-- result a.value:.1% -->5.0%<!-- /result --> `7 %`, 95 % of 12.5 %\n```\n3 %\n```\n"
    assert claims(text) == ["12.5 %"]
    assert claims("2.5 times as fast, 34× and 3 to 4 times faster") == [
        "2.5 times as fast",
        "34×",
        "3 to 4 times faster",
    ]
