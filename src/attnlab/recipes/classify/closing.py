"""What a classifier scores on dev, and what is kept of its run."""

from collections.abc import Mapping
from typing import Any

from attnlab.evaluation.metrics import ACCURACY
from attnlab.recipes.classify.settings import MODEL, ClassifySettings
from attnlab.recipes.classify.texts import ClassifyTexts
from attnlab.recipes.closing import LAST_STEP, close_run
from attnlab.runs.directory import Run
from attnlab.runs.predictions import Predictions, column
from attnlab.training.length import length_in_words
from attnlab.training.loop import TrainingState
from attnlab.training.task import Evaluation


def score_dev(answers: Predictions) -> Evaluation:
    """Return the accuracy, which chooses the step that is kept, and the mean loss."""
    accuracy = ACCURACY.score(answers)
    loss = sum(column(answers, "loss")) / len(answers)
    return Evaluation(accuracy, {"dev_accuracy": accuracy, "dev_loss": loss})


def overfitting_verdict(answers: Predictions, *, steps: int) -> str:
    """Say whether the texts were learned by heart, and what it means if not."""
    n_right, n = sum(row["prediction"] == row["gold"] for row in answers), len(answers)
    length = length_in_words(f"{steps} steps")
    if n_right == n:
        return (
            f"overfitting: all {n} texts were learned by heart in {length}. Texts, labels, loss and"
            " optimizer fit together."
        )
    return (
        f"overfitting: {n_right} of {n} texts were learned by heart in {length}. Train longer or"
        " raise the learning rate; if that does not help, something is wrong: equal texts with"
        " different labels, texts cut before what matters, or too little that is trained."
    )


def close_classification(
    run: Run,
    texts: ClassifyTexts,
    predictions: Mapping[str, Predictions],
    *,
    settings: ClassifySettings,
    state: TrainingState,
    **found: Any,
) -> None:
    """Close the run of a classifier whose model is written; ``found`` goes into the record."""
    if not settings.read_test:
        found["test"] = "not read"
    # with one evaluation, after the last step, there was nothing to choose among
    chose = "dev" in texts.eval_splits and settings.training.evaluate_every > 0
    close_run(
        run,
        predictions,
        splits=texts.splits(),
        train_gold=[example.label for example in texts.train],
        files=[f"{MODEL}/*"],
        classes=list(texts.classes),
        has_pairs=texts.has_pairs,
        dev=_origin_of_dev(texts),
        split_notes=dict(texts.notes),
        **found,
        **state.summary(),
        chosen_on="dev" if chose else LAST_STEP,
    )


def _origin_of_dev(texts: ClassifyTexts) -> str:
    return texts.notes.get("dev", "given") if "dev" in texts.eval_splits else "none"
