"""The comparison study: what each scores on test, and on dev, where its settings were chosen."""

from collections.abc import Iterator, Sequence

from attnlab.evaluation.common_splits import common_splits
from attnlab.evaluation.comparison import compare
from attnlab.evaluation.failures import part_failed
from attnlab.report import figures
from attnlab.report.document import Block, Figure, Sentences
from attnlab.report.sections import Section
from attnlab.report.sections.comparison import comparison_blocks
from attnlab.report.sections.one_run import curves
from attnlab.report.tables import failures_table, why_failed
from attnlab.runs.directory import Run


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Compare on test, or on dev if there is none, and draw both where both are known."""
    scored, failed = part_failed(runs)
    if failed:
        yield failures_table(failed)
        yield Sentences(why_failed(failed), warning=True)
    if not scored:
        return
    comparison = compare(scored, all_pairs=False)
    yield from comparison_blocks(comparison)
    caption = "with 95 % intervals; dots are seeds, the red mark is what guessing would score"
    split = comparison.split
    bars = figures.score_bars(comparison, failed)
    yield Figure(f"scores-{split}", f"On {split} {caption}.", bars)
    if set(common_splits(scored).values()) == {"test"}:
        on_dev = figures.score_bars(compare(scored, split="dev", all_pairs=False), failed)
        yield Figure("scores-dev", f"On dev, which chose the settings, {caption}.", on_dev)


def details(runs: Sequence[Run]) -> Iterator[Block]:
    """Draw the curves of what has a score."""
    yield from curves(part_failed(runs)[0])


CONTESTANTS = Section(summary, details)
