"""What a check saw, what the assignment asks for, and how findings become points."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One check: passed, failed, or not judged because another one failed before."""

    check: str
    passed: bool | None
    wanted: str
    """What the assignment says."""
    seen: str
    scored: bool = True
    """Whether it counts; some are for the teacher's information."""

    def line(self) -> str:
        """Say it in one line."""
        verdict = {True: "passed", False: "FAILED", None: "not judged"}[self.passed]
        return f"  {verdict:<10}  {self.check}: {self.seen} (wanted: {self.wanted})"


@dataclass(frozen=True)
class Part:
    """A part of the assignment: what was found, and the points for it."""

    title: str
    findings: Sequence[Finding]
    of: float
    """Points if every check that counts is passed; each counts alike."""
    notes: Sequence[str] = ()

    @property
    def points(self) -> float:
        """Share the points out among the checks that count."""
        scored = [finding for finding in self.findings if finding.scored]
        passed = sum(finding.passed is True for finding in scored)
        return round(self.of * passed / len(scored), 2) if scored else 0.0

    def lines(self) -> list[str]:
        """Say it on a terminal."""
        counted = sum(finding.scored for finding in self.findings)
        head = f"{self.title}: {self.points:g} of {self.of:g} points"
        head += f" ({counted} checks, each {self.of / counted:.2g})" if counted else ""
        notes = [f"  note        {note}" for note in self.notes]
        return [head, *(finding.line() for finding in self.findings), *notes]

    def data(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "title": self.title,
            "points": self.points,
            "of": self.of,
            "findings": [asdict(finding) for finding in self.findings],
            "notes": list(self.notes),
        }


def judge(check: str, wanted: str, problem: str | None, seen: str) -> Finding:
    """Make a finding of a problem, or of what was seen where there is none."""
    return Finding(check, problem is None, wanted, problem or seen)


def not_judged(check: str, wanted: str, why: str) -> Finding:
    """Make the finding of a check that another failure made impossible."""
    return Finding(check, None, wanted, why)
