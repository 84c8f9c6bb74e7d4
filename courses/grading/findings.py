"""What a check saw, what the assignment asks for, and how findings become points."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One check: passed, failed, or not judged because something it needs is missing."""

    check: str
    passed: bool | None
    wanted: str
    """What the assignment says."""
    seen: str

    def line(self) -> str:
        """Say it in one line."""
        verdict = {True: "passed", False: "FAILED", None: "not judged"}[self.passed]
        return f"  {verdict:<10}  {self.check}: {self.seen} (wanted: {self.wanted})"


@dataclass(frozen=True)
class Part:
    """A part of the assignment: what was found, and the points for it."""

    name: str
    """As the assignment has it: 2(e)."""
    title: str
    findings: Sequence[Finding]
    of: float
    """Points if every check is passed."""
    shared: bool = False
    """Whether each check earns its share of the points; else all of them must pass."""
    notes: Sequence[str] = ()

    @property
    def points(self) -> float | None:
        """Return the points; None if what would decide them is not known."""
        passed = sum(finding.passed is True for finding in self.findings)
        if self.shared:
            return round(self.of * passed / len(self.findings), 2)
        if passed == len(self.findings):
            return self.of
        return 0 if self.failed else None

    @property
    def failed(self) -> list[Finding]:
        """The checks that failed."""
        return [finding for finding in self.findings if finding.passed is False]

    @property
    def reason(self) -> str:
        """Say why points are missing: the first check that failed, or was not judged."""
        open_checks = [finding for finding in self.findings if finding.passed is None]
        first = next(iter(self.failed + open_checks), None)
        return f"{self.name} {first.check}: {first.seen}" if first else ""

    def lines(self) -> list[str]:
        """Say it on a terminal."""
        points = self.points
        got = f"{points:g} of {self.of:g} points" if points is not None else "not graded"
        n = len(self.findings)
        checks = f"{n} checks" if n > 1 else "1 check"
        how = f", each {self.of / n:.2g}" if self.shared else ", all must pass" if n > 1 else ""
        notes = [f"  note        {note}" for note in self.notes]
        lines = [finding.line() for finding in self.findings]
        return [f"{self.name} {self.title}: {got} ({checks}{how})", *lines, *notes]

    def data(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "name": self.name,
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
    """Make the finding of a check that lacks what it needs."""
    return Finding(check, None, wanted, why)
