"""Figures of attention by hand, by kind of explanation."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from attnlab.errors import UserError
from attnlab.geometry.argmax import HardAndSoft
from attnlab.geometry.beyond_weights import OutputExplained, RepairExplained
from attnlab.geometry.explanation import IdentityExplained, WeightsExplained, errors_by_length
from attnlab.geometry.kqv import KqvExplained
from attnlab.geometry.noise import NoisyHeads
from attnlab.geometry.sharpness import Sharpness
from attnlab.report.figures import STYLE
from attnlab.report.geometry.panels import (
    bars,
    error_lines,
    heat,
    histograms,
    mass_line,
    noisy_keys,
    rate_lines,
)
from attnlab.report.geometry.space import keys_panel

Panel = Callable[[Figure, SubplotSpec], None]
LONGEST = 1e3
"""Queries are followed up to this length."""
OURS = "our query"


def draw(explained: Any) -> Figure:
    """Draw an explanation; each kind has its own panels."""
    if type(explained) not in PANELS:
        raise UserError("there is no figure of this.")
    panels: list[Panel] = PANELS[type(explained)](explained)
    if not panels:
        raise UserError("there is nothing to draw: no weights, and more than three dimensions.")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(0.6 + 4.2 * len(panels), 4.0), layout="constrained")
        grid = figure.add_gridspec(1, len(panels))
        for i, panel in enumerate(panels):
            panel(figure, grid[0, i])
    return figure


def weights_panels(explained: WeightsExplained) -> list[Panel]:
    """Weights as bars, the error against the length of the query, the keys."""
    solution, answer = explained.solution, explained.answer
    series, directions = {"wanted": solution.target}, {}
    lines: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    if explained.reached is not None:
        series[OURS], directions[OURS] = explained.reached.weights, explained.reached.query
    if solution.verdict == "limit":
        lines[OURS] = errors_by_length(explained.instance, solution, most=LONGEST)
    if answer is not None:
        name = answer.report.text
        series[name], directions[name] = answer.report.here.weights[0], answer.report.here.value[0]
        if answer.ray is not None:
            ray = answer.ray
            lines[f"S·{ray.direction}"] = ray.curve.scales * ray.length, ray.curve.errors
    panels: list[Panel] = [partial(bars, series=series)]
    if lines:
        tolerance = 0.05 if answer is None else answer.tolerance
        panels.append(partial(error_lines, lines=lines, tolerance=tolerance))
    chosen = np.flatnonzero(solution.target).tolist()
    return panels + _keys(explained.instance.keys, directions, chosen)


def output_panels(explained: OutputExplained) -> list[Panel]:
    """Weights as bars, the keys, the values with the output among them."""
    series, directions, outputs = {}, {}, {"wanted": explained.solution.output}
    if explained.reached is not None:
        series[OURS], directions[OURS] = explained.reached.weights, explained.reached.query
    if explained.answer is not None:
        made = explained.answer
        series[made.text], directions[made.text] = made.weights, made.query
        outputs[made.text] = made.output
    panels: list[Panel] = [partial(bars, series=series)] if series else []
    panels += _keys(explained.instance.keys, directions, explained.solution.tokens)
    values = explained.instance.values
    if values.shape[1] <= 3:
        panels.append(partial(keys_panel, keys=values, points=outputs, letter="v"))
    return panels


def identity_panels(explained: IdentityExplained) -> list[Panel]:
    """The weights of our queries and of the answer's, and the keys."""
    rows = [
        np.full(explained.instance.n_tokens, np.nan) if reached is None else reached.weights
        for reached in explained.reached
    ]
    answer = explained.answer.report
    inside = [i for i, s in enumerate(explained.solutions) if s.verdict == "never"]
    return [
        partial(heat, matrix=np.stack(rows), title="our queries"),
        partial(heat, matrix=answer.here.weights, title=answer.text),
        *_keys(explained.instance.keys, {}, inside),
    ]


def repair_panels(explained: RepairExplained) -> list[Panel]:
    """Weights before and after, and the keys with the new one."""
    series = {"wanted": explained.target, "old key": explained.before, "new key": explained.after}
    moved = {f"new k{explained.token}": explained.repair.key}
    if explained.answer is not None:
        name = explained.answer.report.text
        series[name] = explained.answer.report.here.weights[0]
        moved[name] = explained.answer.report.here.value[0]
    directions = {f"q = {explained.query_text}": explained.query}
    keys = explained.instance.keys
    return [
        partial(bars, series=series),
        *_keys(keys, directions, [explained.token], points=moved),
    ]


def heads_panels(drawn: NoisyHeads) -> list[Panel]:
    """The keys, as in the assignment's figure, and the weight on v_a."""
    weights = {"one head": drawn.weight_on_a(1), "two heads": drawn.weight_on_a(2)}
    return [
        partial(noisy_keys, keys=drawn.keys_a, ignored=drawn.ignored),
        partial(histograms, series=weights),
    ]


def kqv_panels(explained: KqvExplained) -> list[Panel]:
    """The weights of the tokens, and the error against the length of the words."""
    checked = explained.checked
    title, tokens = f"weights at β = {checked.beta:g}", ["$x_1$", "$x_2$", "$x_3$"]
    contexts = [f"$c_{token + 1}$" for token in checked.wanted]
    return [
        partial(heat, matrix=checked.contexts.weights, title=title, names=tokens),
        partial(rate_lines, rate=checked.rate, names=contexts),
    ]


def argmax_panels(found: HardAndSoft) -> list[Panel]:
    """Hard and soft weights, and the keys with the query."""
    hard = np.zeros(found.instance.n_tokens)
    hard[list(found.hard.winners)] = 1 / len(found.hard.winners)
    series = {"argmax": hard, "softmax": found.soft_weights}
    return [
        partial(bars, series=series),
        *_keys(found.instance.keys, {"query": found.query}, found.hard.winners),
    ]


def _keys(
    keys: np.ndarray,
    directions: Mapping[str, np.ndarray],
    chosen: Sequence[int],
    points: Mapping[str, np.ndarray] | None = None,
) -> list[Panel]:
    """Draw keys where they can be drawn: in up to three dimensions."""
    if keys.shape[1] > 3:
        return []
    return [
        partial(keys_panel, keys=keys, directions=directions, chosen=chosen, points=points or {})
    ]


PANELS: dict[type, Any] = {
    WeightsExplained: weights_panels,
    IdentityExplained: identity_panels,
    OutputExplained: output_panels,
    RepairExplained: repair_panels,
    NoisyHeads: heads_panels,
    KqvExplained: kqv_panels,
    Sharpness: lambda found: [partial(mass_line, found=found)],
    HardAndSoft: argmax_panels,
}
