"""The largest batch that fits into memory, then a long training with it: when does dev turn down?

Each batch size that is tried is a cell of its own, so that nothing is tried twice. What fits is
trained with, evaluated after every epoch. The run keeps the best epoch; a second one, which trains
nothing, keeps the last, so that both have answered dev and can be compared row by row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from attnlab.assets.models import find_model
from attnlab.environment import world_size
from attnlab.errors import UserError
from attnlab.models.encoder import open_checkpoint
from attnlab.recipes.classify.classifier import check_fits
from attnlab.recipes.classify.settings import (
    BatchSizeSettings,
    ClassifySettings,
    ProbeSettings,
)
from attnlab.recipes.classify.texts import fetch_texts, read_texts
from attnlab.recipes.classify.train import need_texts_and_model
from attnlab.recipes.studies import Cell, Finished, StudyPlan
from attnlab.runs.memory import read_bytes
from attnlab.runs.study import StudyOutcome

TITLE = "How large a batch fits, and when does dev turn down?"
TRAIN, LAST_EPOCH = "train", "last-epoch"
GRAIN = 8
"""The search ends when the next size to try would be larger by less than an eighth."""


def plan(settings: BatchSizeSettings, finished: Finished) -> Sequence[Cell]:
    """Try batch sizes one by one; then train with the largest that fits, if one does."""
    if not finished.runs:
        _check(settings)
    n_texts = len(read_texts(settings.base).train)
    probes = list(_probe_cells(settings, finished, n_texts))
    if any(cell.name not in finished.runs for cell in probes):
        return probes
    largest = max((b for b, fits in _tried(probes, finished).items() if fits), default=0)
    return [*probes, *(_training_cells(settings, finished, largest, n_texts) if largest else ())]


def close(settings: BatchSizeSettings, finished: Finished) -> StudyOutcome:  # noqa: ARG001
    """Show every probe and both ends of the training."""
    featured = TRAIN if TRAIN in finished.runs else None
    return StudyOutcome(list(finished.runs), featured=featured)


def next_batch(tried: Mapping[int, bool], *, start: int, most: int) -> int | None:
    """Return the batch size to try next, given which of the others fit; None if it is found.

    Double what fits, halve what does not, then try the middle until the gap is small.
    """
    fits = max((size for size, good in tried.items() if good), default=0)
    too_large = min((size for size, good in tried.items() if not good), default=None)
    if not tried:
        return min(start, most)
    if too_large is None:
        return min(2 * fits, most) if fits < most else None
    if not fits:
        return too_large // 2 or None
    return (fits + too_large) // 2 if too_large - fits > max(1, fits // GRAIN) else None


def _probe_cells(settings: BatchSizeSettings, finished: Finished, n_texts: int) -> Iterator[Cell]:
    """Give the probes that are known by now; the last one may not be finished."""
    tried: dict[int, bool] = {}
    budget = read_bytes(settings.memory)
    while (size := next_batch(tried, start=settings.start, most=n_texts)) is not None:
        base = replace(settings.base, batch_size=size, read_test=False)
        name = f"batch-{size}"
        yield Cell(name, "classify-probe", ProbeSettings(budget, base))
        if name not in finished.runs:
            return
        probe = finished.runs[name].recorded("probe")
        tried[size], budget = probe["fits"], probe["budget"]  # what was free at first, for all


def _tried(probes: Sequence[Cell], finished: Finished) -> dict[int, bool]:
    found = (finished.runs[cell.name].recorded("probe") for cell in probes)
    return {probe["batch_size"]: probe["fits"] for probe in found}


def _training_cells(
    settings: BatchSizeSettings, finished: Finished, largest: int, n_texts: int
) -> Iterator[Cell]:
    """Give the training, then the run that keeps its last epoch, if another was the best."""
    train = training_with(settings, largest, n_texts)
    yield Cell(TRAIN, "classify-train", train)
    trained = finished.runs.get(TRAIN)
    if trained and trained.recorded("best_step") != trained.recorded("steps"):
        last = replace(train.training, evaluate_every=0)
        again = replace(train, training=last, resume_from=finished.path(TRAIN))
        yield Cell(LAST_EPOCH, "classify-train", again, (TRAIN,))


def training_with(settings: BatchSizeSettings, largest: int, n_texts: int) -> ClassifySettings:
    """Return the training whose parts of a batch fit; an epoch has as many steps as that needs."""
    batch = min(settings.effective_batch or largest, n_texts)
    training = replace(
        settings.base.training,
        length=f"{settings.epochs} epochs",
        accumulate=-(-batch // largest),
        evaluate_every=-(-n_texts // batch),
    )
    return replace(settings.base, batch_size=batch, read_test=False, training=training)


def _check(settings: BatchSizeSettings) -> None:
    """Refuse now what would fail in a late cell, or would have no effect."""
    base, usual = settings.base, BatchSizeSettings().base
    if world_size() > 1:
        raise UserError("batch-size looks for what fits one process: leave torchrun out.")
    need_texts_and_model(base)
    instead = {
        "training.length": (base.training.length, usual.training.length, "give --epochs"),
        "training.accumulate": (base.training.accumulate, 1, "give --effective-batch"),
        "training.evaluate_every": (
            base.training.evaluate_every,
            usual.training.evaluate_every,
            "every epoch is evaluated",
        ),
        "training.patience": (base.training.patience, 0, "the last epoch is compared"),
        "batch_size": (base.batch_size, usual.batch_size, "give --start"),
        "masked.text": (base.masked.text, "", "batches of labelled texts alone are tried"),
    }
    for key, (value, default, advice) in instead.items():
        if value != default:
            raise UserError(f"base.{key} = {value} has no effect here: {advice}.")
    if settings.memory and base.training.device not in ("auto", "cpu"):
        raise UserError(
            f"--memory limits the memory of the machine, but {base.training.device} has its own:"
            " leave one of them out."
        )
    fetch_texts(base)
    texts = read_texts(base)
    if "dev" not in texts.eval_splits:
        raise UserError("there is no dev to evaluate every epoch on: give --dev, or --dev-share.")
    check_fits(open_checkpoint(find_model(base.model)), base, texts)


BATCH_SIZE = StudyPlan(TITLE, plan, close)
