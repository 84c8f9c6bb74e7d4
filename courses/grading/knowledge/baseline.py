"""2(d): does src/london_baseline.py print the share of people born in London?

It runs in a folder with a birth_dev.tsv of ours, in which that share is like no other number.
"""

import re
from typing import Any

from grading.findings import Finding, judge
from grading.probing import Answer

N_LONDON, N_QUESTIONS = 14, 80
PERCENT = 100 * N_LONDON / N_QUESTIONS
PLACES = ("London", "Lima", "Oslo", "Londonderry", "New London")
WANTED = "python src/london_baseline.py prints the score of always answering London"


def request() -> dict[str, Any]:
    """Say what the probe is to run."""
    others = [PLACES[1 + i % (len(PLACES) - 1)] for i in range(N_QUESTIONS - N_LONDON)]
    places = [*others, *["London"] * N_LONDON]
    questions = "".join(f"Where was Person {i} born?\t{place}\n" for i, place in enumerate(places))
    return {"kind": "baseline", "questions": questions}


def grade(answer: Answer) -> Finding:
    """Look for the share in what was printed, in percent or as a fraction."""
    said, _ = answer
    problem = said.get("fatal")
    if problem is None:
        numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", said["printed"])]
        right = any(abs(n - PERCENT) < 0.06 or abs(n - PERCENT / 100) < 6e-4 for n in numbers)
        shown = " ".join(said["printed"].split())[:80] or "nothing"
        truth = f"it printed {shown} where {N_LONDON} of {N_QUESTIONS} are right: {PERCENT:g} %"
        problem = None if right else truth
    return judge("London baseline", WANTED, problem, f"{PERCENT:g} % of a file of ours")
