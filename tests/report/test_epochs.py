"""A run epoch by epoch."""

from attnlab.report.epochs import epochs_of


def test_training_is_averaged_over_an_epoch_and_dev_is_its_last_evaluation() -> None:
    lines = [
        {"step": 1, "loss": 9.0, "classification": 1.0, "train_accuracy": 0.25},
        {"step": 2, "loss": 9.0, "classification": 3.0, "train_accuracy": 0.75},
        {"step": 2, "dev_loss": 0.7, "dev_accuracy": 0.5},
        {"step": 3, "classification": 0.5, "train_accuracy": 1.0},
        {"step": 3, "dev_loss": 0.6, "dev_accuracy": 0.6},
        {"step": 4, "classification": 0.3, "train_accuracy": 0.5},
        {"step": 4, "dev_loss": 0.9, "dev_accuracy": 0.4},
        {"step": 5, "classification": 0.1, "train_accuracy": 1.0},
    ]
    first, second, third = epochs_of(lines, 2)
    assert (first.number, first.values) == (
        1,
        {"train_loss": 2.0, "train_accuracy": 0.5, "dev_loss": 0.7, "dev_accuracy": 0.5},
    )
    assert second.values == {
        "train_loss": 0.4,
        "train_accuracy": 0.75,
        "dev_loss": 0.9,
        "dev_accuracy": 0.4,
    }
    assert third.values == {"train_loss": 0.1, "train_accuracy": 1.0}
