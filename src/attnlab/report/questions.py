"""One answer on a terminal: the answer, its confidence, and whether to believe it."""

from rich.console import Group, RenderableType
from rich.text import Text

from attnlab.evaluation.calibration import Answer
from attnlab.evaluation.intervals import percent

COLORS = {"retrieved": "green", "unsure": "yellow", "made up": "red"}


def answer_view(answer: Answer) -> RenderableType:
    """Show an answer with its verdict and the reason for it, then what else was likely."""
    verdict = Text(answer.verdict, style=COLORS[answer.verdict])
    sure, agree = percent(answer.probability), percent(answer.agreement)
    lines = [
        Text.assemble((answer.text or "(nothing)", "bold"), "   ", verdict, f": {answer.reason}"),
        Text(f"sure {sure}; {agree} of drawn answers agree"),
    ]
    if answer.runners_up:
        others = ", ".join(f"{text} {percent(likely)}" for text, likely in answer.runners_up)
        lines.append(Text(f"also drawn: {others}"))
    return Group(*lines)
