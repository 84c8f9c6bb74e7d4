"""The figure of an explanation: its panels side by side."""

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from attnlab.errors import UserError
from attnlab.geometry import panels
from attnlab.geometry.explanation import Explanation
from attnlab.report.figures import STYLE
from attnlab.report.geometry import charts
from attnlab.report.geometry.space import MOST_DIMENSIONS, space

DRAW: dict[type, Callable[..., None]] = {
    panels.Bars: charts.bars,
    panels.Curves: charts.curves,
    panels.Heat: charts.heat,
    panels.Space: space,
    panels.NoisyKey: charts.noisy_key,
    panels.Histogram: charts.histogram,
}


def draw(explained: Explanation) -> Figure:
    """Draw what can be drawn."""
    drawn = [panel for panel in explained.panels if _can_be_drawn(panel)]
    if not drawn:
        raise UserError("there is nothing to draw: no weights, and more than three dimensions.")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(0.6 + 4.6 * len(drawn), 4.6), layout="constrained")
        grid = figure.add_gridspec(1, len(drawn))
        for i, panel in enumerate(drawn):
            DRAW[type(panel)](figure, grid[0, i], panel)
    return figure


def _can_be_drawn(panel: Any) -> bool:
    return not isinstance(panel, panels.Space) or panel.points.shape[1] <= MOST_DIMENSIONS
