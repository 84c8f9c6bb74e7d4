"""The comparison study: what each scores on test, and on dev, where its settings were chosen."""

from collections.abc import Iterator, Sequence

from attnlab.evaluation.common_splits import common_splits
from attnlab.evaluation.comparison import compare
from attnlab.report import figures
from attnlab.report.document import Block, Figure
from attnlab.report.sections import Section
from attnlab.report.sections.comparison import comparison_blocks
from attnlab.report.sections.one_run import curves
from attnlab.runs.directory import Run


def summary(runs: Sequence[Run]) -> Iterator[Block]:
    """Compare on test, or on dev if there is none, and draw both where both are known."""
    comparison = compare(runs, all_pairs=False)
    yield from comparison_blocks(comparison)
    caption = "with 95 % intervals; dots are seeds, the red mark is what guessing would score"
    split = comparison.split
    yield Figure(f"scores-{split}", f"On {split} {caption}.", figures.score_bars(comparison))
    if set(common_splits(runs).values()) == {"test"}:
        on_dev = figures.score_bars(compare(runs, split="dev", all_pairs=False))
        yield Figure("scores-dev", f"On dev, which chose the settings, {caption}.", on_dev)


CONTESTANTS = Section(summary, curves)
