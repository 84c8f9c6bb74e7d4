"""The cost of layers by length as a run, with the length from which each is cheaper."""

from dataclasses import asdict

from rich.console import Console

from attnlab.attention.conditions import CONTROL
from attnlab.checks.cost import crossover
from attnlab.recipes.attention.cost import measure_attention
from attnlab.recipes.attention.settings import CostSettings
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace


def run_cost(
    job: str,
    settings: CostSettings,
    *,
    place: RunPlace,
    console: Console,  # noqa: ARG001 - every job is run alike
) -> Run:
    """Measure the layers and leave a run with the costs."""

    def work(run: Run) -> None:
        if run.finished:
            return
        costs = measure_attention(
            settings.names,
            sorted(settings.lengths),
            d_model=settings.d_model,
            n_heads=settings.n_heads,
            rounds=settings.rounds,
            on_round=lambda: None,
        )
        others = [name for name in settings.names if name != CONTROL]
        close_run(
            run,
            {},
            splits=Splits({}, inputs=[]),
            costs=[asdict(cost) for cost in costs],
            crossover={name: crossover(costs, name, CONTROL) for name in others},
        )

    return run_without_training(job, settings, work, place=place, files={})
