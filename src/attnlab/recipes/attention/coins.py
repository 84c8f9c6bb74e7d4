"""A text of fair coin flips: no causal model loses less than 1 bit per flip on new ones."""

from rich.console import Console

from attnlab.randomness import rng
from attnlab.recipes.attention.settings import CoinSettings
from attnlab.recipes.closing import Splits, close_run
from attnlab.recipes.opening import run_without_training
from attnlab.runs.directory import Run, RunPlace
from attnlab.runs.files import replace_file

COINS = "coins.txt"


def run_coins(
    job: str,
    settings: CoinSettings,
    *,
    place: RunPlace,
    console: Console,  # noqa: ARG001 - every job is run alike
) -> Run:
    """Write the flips into the run's own folder; a missing file is written again."""

    def work(run: Run) -> None:
        if not (run.path / COINS).exists():
            replace_file(run.path / COINS, coin_flips(settings))
        if not run.finished:
            close_run(run, {}, splits=Splits({}, inputs=[]), files=[COINS])

    return run_without_training(job, settings, work, place=place, files={})


def coin_flips(settings: CoinSettings) -> bytes:
    """Flip the coins: one line of zeros and ones."""
    flips = rng(settings.seed, "coins").integers(2, size=settings.flips, dtype="uint8")
    return bytes(flips + ord("0")) + b"\n"
