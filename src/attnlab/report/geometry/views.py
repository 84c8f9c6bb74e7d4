"""Every explanation on a terminal, by kind."""

from typing import Any

from rich.console import RenderableType

from attnlab.geometry.argmax import HardAndSoft
from attnlab.geometry.beyond_weights import OutputExplained, RepairExplained
from attnlab.geometry.explanation import IdentityExplained, WeightsExplained
from attnlab.geometry.kqv import KqvExplained
from attnlab.geometry.noise import NoisyHeads
from attnlab.geometry.sharpness import Sharpness
from attnlab.geometry.subspaces import Extracted
from attnlab.report.geometry import constructions, queries

VIEWS: dict[type, Any] = {
    WeightsExplained: queries.weights_view,
    IdentityExplained: queries.identity_view,
    OutputExplained: queries.output_view,
    RepairExplained: queries.repair_view,
    NoisyHeads: constructions.heads_view,
    KqvExplained: constructions.kqv_view,
    Extracted: constructions.subspaces_view,
    Sharpness: constructions.sharpness_view,
    HardAndSoft: constructions.argmax_view,
}


def view(explained: Any) -> RenderableType:
    """Show an explanation; each kind has its own view."""
    shown: RenderableType = VIEWS[type(explained)](explained)
    return shown
