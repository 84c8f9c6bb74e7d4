"""What checks found, on a terminal and as plain data. Loads neither torch nor matplotlib."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.checks.findings import Finding, Status
from attnlab.report.terminal import add_row, table_of

STATUS_COLORS: dict[Status, str] = {
    "right": "green",
    "wrong": "red",
    "wrong elsewhere": "yellow",
    "not written yet": "yellow",
    "missing": "yellow",
    "not checked": "dim",
}


def findings_view(report: Mapping[str, Sequence[Finding]]) -> RenderableType:
    """Show what was found: one table for the functions and one per class."""
    parts: list[RenderableType] = []
    for name, findings in report.items():
        table = table_of("", name, "")
        for finding in findings:
            mark = Text(finding.status, STATUS_COLORS[finding.status])
            add_row(table, mark, finding.what, finding.problem or "")
        parts += [table, ""]
    counts = Counter(finding.status for findings in report.values() for finding in findings)
    lacking = [
        f"{counts[name]} {name}" for name in STATUS_COLORS if name != "right" and counts[name]
    ]
    parts.append(", ".join([f"{counts['right']} of {counts.total()} right", *lacking]))
    return Group(*parts)


def findings_json(report: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """Return what was found as plain data."""
    return {
        name: [
            {"what": f.what, "right": f.right, "status": f.status, "problem": f.problem}
            for f in findings
        ]
        for name, findings in report.items()
    }


def mutants_view(reports: Mapping[str, Mapping[str, Sequence[Finding]]]) -> RenderableType:
    """Show which check catches which bug: x where it does."""
    parts: list[RenderableType] = []
    for kind in next(iter(reports.values())):
        checks = [finding.what for finding in next(iter(reports.values()))[kind]]
        table = table_of(kind, *(str(number) for number in range(1, len(checks) + 1)))
        for mutant, report in reports.items():
            add_row(table, mutant, *("·" if finding.right else "x" for finding in report[kind]))
        legend = ", ".join(f"{number} {what}" for number, what in enumerate(checks, 1))
        parts += [table, Text(legend, "dim"), ""]
    sentences = table_of("bug", "what the check says")
    for mutant, report in reports.items():
        problems = [f.problem for findings in report.values() for f in findings if f.problem]
        add_row(sentences, mutant, problems[0] if problems else "–")
    return Group(*parts, sentences)
