"""What a report claims about runs and what they say to it, on a terminal and as plain data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.evaluation.claims.verdicts import Claim, Verdict
from attnlab.report.terminal import add_row, table_of

VERDICT_COLORS: dict[Verdict, str] = {
    "supported": "green",
    "contradicted": "red",
    "open": "yellow",
}


def claims_view(claims: Sequence[Claim]) -> RenderableType:
    """Show every claim with its line and verdict, then how many there are of each."""
    table = table_of("line", "the report says", "verdict", "the runs say")
    for claim in claims:
        verdict = Text(claim.verdict, VERDICT_COLORS[claim.verdict])
        add_row(table, str(claim.line), claim.text, verdict, claim.reason)
    return Group(table, "", Text(claims_sentence(claims)))


def claims_sentence(claims: Sequence[Claim]) -> str:
    """Count the verdicts."""
    counts = Counter(claim.verdict for claim in claims)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICT_COLORS)
    return f"{len(claims)} {'claim' if len(claims) == 1 else 'claims'}: {told}."


def claims_json(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Return the claims as plain data."""
    return [asdict(claim) | {"runs": list(claim.runs)} for claim in claims]
