"""Fine-tuning that is chosen: several ways are tried, and held-out training questions decide.

How gently a model is fine-tuned decides how much of what it has read it can still say. The cells of
a study try the ways on every pretrained model; dev and test stay unread until one is chosen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attnlab.errors import UserError
from attnlab.evaluation.selection import select_best
from attnlab.recipes.knowledge.settings import EvaluateSettings, FinetuneSettings
from attnlab.recipes.knowledge.study_settings import FINETUNINGS, Way
from attnlab.recipes.studies import Cell, Finished
from attnlab.training.settings import TrainingSettings

HELD_OUT = "held_out"


def refuse_without_effect(given: TrainingSettings, usual: TrainingSettings, key: str) -> None:
    """Refuse a length or an optimizer that every way of fine-tuning would replace."""
    for name in ("length", "optimizer"):
        if getattr(given, name) != getattr(usual, name):
            raise UserError(
                f"{key}.{name} has no effect: each way of fine-tuning has its own. Choose among"
                " them with finetunings."
            )


@dataclass(frozen=True)
class Choice:
    """Pretrained models that differ in nothing but the seed, and what is tried on each of them."""

    name: str
    pretrained: Mapping[int, str]
    """The cell of each seed."""
    ways: Sequence[Way]
    base: FinetuneSettings
    """What all have in common: the questions, how many are held out, the batch."""
    asked: str
    """File of the questions that what is chosen is asked."""
    needs: tuple[str, ...] = ()
    """Cells that the questions come from."""

    def cells(self, finished: Finished) -> Iterator[Cell]:
        """Give all trials, and once they are finished, the evaluation of those chosen."""
        trials = [self._trial(way, seed, finished) for way in self.ways for seed in self.pretrained]
        yield from trials
        if all(cell.name in finished.runs for cell in trials):
            runs = [finished.runs[cell.name] for cell in trials]
            chosen = select_best(runs, split=HELD_OUT).chosen.runs
            for seed, run in zip(self.pretrained, chosen, strict=True):
                settings = EvaluateSettings(finished.path(run), self.asked, samples=0)
                yield Cell(self.of_seed(seed), "knowledge-evaluate", settings, (run, *self.needs))

    def of_seed(self, seed: int, *parts: str) -> str:
        """Name a cell; the seed is told where there are several."""
        told = [f"seed-{seed}"] if len(self.pretrained) > 1 else []
        return "-".join([self.name, *parts, *told])

    @property
    def evaluated(self) -> list[str]:
        """The cells that tell what was chosen is worth, one per seed."""
        return [self.of_seed(seed) for seed in self.pretrained]

    def _trial(self, way: Way, seed: int, finished: Finished) -> Cell:
        found, start = FINETUNINGS[way], self.pretrained[seed]
        training = replace(
            self.base.training, length=found.length, optimizer=found.optimizer, seed=seed
        )
        settings = replace(
            self.base, start=finished.path(start), tuning=found.tuning, training=training
        )
        name = self.of_seed(seed, way)
        return Cell(name, "knowledge-finetune", settings, (*self.needs, start))
