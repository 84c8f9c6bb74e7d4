"""A2S3 with one mistake each, to test that the grader catches it by name.

    python -m grading.sst2.submissions FOLDER     # one student per mistake

They are made from our own: a mistake replaces a line of it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from markers import complete

from grading.mistakes import Mistake, replace
from grading.probing import COURSES
from grading.sst2.results import FILE

CODE = "A2S3.py"
N_TEST = 692
VALIDATION = (0.80, 0.84, 0.83)


def right(folder: Path) -> None:
    """Write a right submission: the notebook as a Python file, and what a run recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    source = (COURSES / "sst2" / CODE).read_text(encoding="utf-8")
    (folder / CODE).write_text(complete(source), encoding="utf-8")
    (folder / FILE).write_text(json.dumps(record()), encoding="utf-8")


def record(**changes: Any) -> dict[str, Any]:
    """Return what a run writes down."""
    history = [
        {"step": i, "train_loss": 0.5, "train_accuracy": 0.8, "validation_loss": 0.4}
        | {"validation_accuracy": accuracy}
        for i, accuracy in enumerate(VALIDATION, 1)
    ]
    settings = {"batch_size": 64, "learning_rate": 5e-5, "num_epochs": len(VALIDATION)}
    test = {"test_loss": 0.4, "test_accuracy": 580 / N_TEST, "test_rows": N_TEST}
    made = {"model": "roberta-base", "train_rows": 640, "history": history, "best_epoch": 2}
    return made | settings | test | changes


def records(**changes: Any) -> Any:
    """Return what changes the record."""
    text = json.dumps(record(**changes))
    return lambda folder: (folder / FILE).write_text(text, encoding="utf-8")


def step(part: str, check: str) -> Any:
    """Return what makes the mistakes that a check is to catch."""

    def mistake(name: str, old: str, new: str, said: str) -> Mistake:
        return Mistake(name, replace(CODE, old, new), part, check, said)

    return mistake


def line(text: str, depth: int) -> str:
    """Return a line of code as it stands in the file."""
    return f"{' ' * 4 * depth}{text}\n"


ZERO, BACK, STEP = (
    line(text, 2) for text in ("optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
)
ARGUMENTS = "padding=True, truncation=True, max_length=512"
LENGTH, KEYS = step("1 dataset", "length"), step("1 dataset", "keys")
IDS, MASK = step("1 dataset", "input_ids"), step("1 dataset", "attention_mask")
LABELS, CUT = step("1 dataset", "label_encoding"), step("1 dataset", "truncation")
DATASET = (
    LENGTH("one sentence too few", "return len(self.sentences)", "return len(self.sentences) - 1",
           "4 of 5 sentences"),
    LENGTH("a misspelt class", "SST2Dataset", "SST2DataSet",
           "A2S3.py has no SST2Dataset. Did you mean 'SST2DataSet'?"),
    KEYS("another key", '"label_encoding": torch', '"labels": torch', "there is no label_encoding"),
    KEYS("labels as a list", '"label_encoding": torch.tensor(labels)',
         '"label_encoding": list(labels)', "label_encoding is a list, not a tensor"),
    KEYS("no padding", ARGUMENTS, ARGUMENTS.replace("True", "False", 1),
         "Unable to create tensor"),
    KEYS("a tuple", "return {\n            \"input_ids\": encoded[\"input_ids\"],",
         "return encoded[\"input_ids\"], {", "collate_fn returns a tuple: return a dictionary"),
    IDS("padded to 512", ARGUMENTS, ARGUMENTS.replace("True", '"max_length"', 1),
        "512 tokens each: pad to the longest sentence of the batch, which has 9"),
    IDS("special tokens left out", ARGUMENTS, f"{ARGUMENTS}, add_special_tokens=False",
        "the tokens are not those of the sentences"),
    IDS("items in another order", "zip(*items, strict=True)", "zip(*items[::-1], strict=True)",
        "the sentences are in another order than the items"),
    MASK("no mask", 'encoded["attention_mask"]', 'torch.ones_like(encoded["input_ids"])',
         "it is 1 everywhere: padding is attended to"),
    MASK("the mask inverted", 'encoded["attention_mask"]', '1 - encoded["attention_mask"]',
         "it does not tell tokens from padding"),
    LABELS("labels as floats", "torch.tensor(labels)", "torch.tensor(labels).float()",
           "torch.float32: a class is a whole number, torch.int64"),
    LABELS("the label of the neighbour", "self.labels[index]", "self.labels[index - 1]",
           "instead of ["),
    CUT("no truncation", "truncation=True, max_length=512", "truncation=False",
        "702 tokens are left of a long sentence: truncation=True is missing"),
    CUT("cut too early", "max_length=512", "max_length=128", "a long sentence is cut to 128"),
)  # fmt: skip

COLLATE, SIZE = step("2 loaders", "collate_fn"), step("2 loaders", "batch_size")
SHUFFLE, ROWS = step("2 loaders", "shuffle"), step("2 loaders", "rows")
WORKERS = step("2 loaders", "num_workers")
EVERY = "        batch_size=batch_size,\n"
LOADERS = (
    COLLATE("collate_fn not given", "        collate_fn=train.collate_fn,\n", "",
            "the DataLoader does not call collate_fn: give it collate_fn="),
    SIZE("a fixed batch size", EVERY, "        batch_size=64,\n",
         "batches of 23 rows with batch_size = 5"),
    SHUFFLE("train not shuffled", "shuffle=True", "shuffle=False",
            "the training rows come in the same order in every epoch"),
    SHUFFLE("all shuffled", "shuffle=False", "shuffle=True", "the validation rows are shuffled"),
    ROWS("the last batch dropped", EVERY, f"{EVERY}        drop_last=True,\n",
         "3 train rows are dropped"),
    ROWS("train as validation", "        validation,\n", "        train,\n",
         "the validation loader gives rows of another dataset"),
    WORKERS("workers not passed on", "num_workers=num_workers,", "num_workers=0,",
            "0, 0, 0 with num_workers = 2"),
)  # fmt: skip

MODE, LINES = step("3 training", "training mode"), step("3 training", "three lines")
TRAINING = (
    MODE("no training mode", "    model.train()\n", "",
         "the model is in evaluation mode: dropout is off"),
    LINES("no zero_grad", ZERO, "", "gradients add up over the batches: zero_grad() is missing"),
    LINES("no backward", BACK, "", "no parameter changes"),
    LINES("no step", STEP, "", "no parameter changes"),
    LINES("step before backward", ZERO + BACK + STEP, ZERO + STEP + BACK, "no parameter changes"),
    LINES("cleared before the step", ZERO + BACK + STEP, BACK + ZERO + STEP,
          "the gradients are cleared in between"),
    LINES("the step of the batch before", ZERO + BACK + STEP, STEP + ZERO + BACK,
          "has been modified by an inplace operation"),
    LINES("the gradient uphill", "loss.backward()", "(-loss).backward()",
          "the parameters are not those after zero_grad(), backward(), step()"),
)  # fmt: skip

IN_EVALUATION = step("3 evaluation", "evaluation mode")
NO_GRAD, SAME = step("3 evaluation", "no_grad"), step("3 evaluation", "changes nothing")
LOSS, ACCURACY = step("3 evaluation", "loss"), step("3 evaluation", "accuracy")
SUM_LOSS = line("loss_sum += output.loss.item() * len(labels)", 3)
RIGHT = line("n_right += (output.logits.argmax(dim=-1) == labels).sum().item()", 3)
COUNT = line("n += len(labels)", 3)
END = "    return loss_sum / n, n_right / n\n\n\n# %% [markdown]\n# **Q3.1**"
EVALUATION = (
    IN_EVALUATION("no evaluation mode", "    model.eval()\n", "",
                  "the model is in training mode: dropout is on"),
    NO_GRAD("gradients on", "with torch.no_grad():", "with torch.enable_grad():",
            "gradients are recorded"),
    SAME("it trains", COUNT, COUNT + line("list(model.parameters())[0].data.add_(1e-3)", 3),
         "the parameters change"),
    IN_EVALUATION("only the accuracy", END, END.replace("loss_sum / n, n_right / n", "n_right / n"),
                  "it returns a float: return the mean loss and the accuracy"),
    LOSS("loss averaged over batches", SUM_LOSS + RIGHT + COUNT + END,
         SUM_LOSS.replace(" * len(labels)", "") + RIGHT + COUNT
         + END.replace("loss_sum / n", "loss_sum / len(loader)"),
         "it is averaged over batches, of which the last is smaller"),
    LOSS("loss not divided", END, END.replace("loss_sum / n", "loss_sum"),
         "it is a sum, not divided"),
    LOSS("the model without the mask",
         'input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels\n'
         f"            )\n{SUM_LOSS}",
         f'input_ids=batch["input_ids"], labels=labels\n            )\n{SUM_LOSS}',
         "attention_mask is not passed to the model"),
    ACCURACY("accuracy averaged over batches", RIGHT + COUNT + END,
             RIGHT.replace(".sum().item()", ".double().mean().item()") + COUNT
             + END.replace("n_right / n", "n_right / len(loader)"),
             "it is averaged over batches, of which the last is smaller"),
    ACCURACY("accuracy in percent", END, END.replace("n_right / n", "100 * n_right / n"),
             "is in percent: return a share from 0 to 1"),
)  # fmt: skip

TRAINS, EVALUATES = (
    step("4 main loop", "trains on train"),
    step("4 main loop", "evaluates on validation"),
)
BEST, LEARNS = step("4 main loop", "best epoch"), step("4 main loop", "learns")
CALL = "train_one_epoch(model, train_loader, optimizer)\n        validation_loss"
IF = "if validation_accuracy > best_accuracy:\n            best_accuracy = validation_accuracy\n"
ASK = "evaluation(model, validation_loader)\n        if"
MAIN_LOOP = (
    TRAINS("training on validation", CALL, CALL.replace("train_loader", "validation_loader"),
           "it trains on the validation set"),
    TRAINS("two epochs in one", CALL,
           "train_one_epoch(model, train_loader, optimizer)\n"
           "        train_one_epoch(model, train_loader, optimizer)\n        validation_loss",
           "10 epochs instead of 5"),
    EVALUATES("the test set chooses", ASK, ASK.replace("validation_loader", "test_loader"),
              "it evaluates on the test set, which is for Step 5"),
    EVALUATES("evaluating on train", ASK, ASK.replace("validation_loader", "train_loader"),
              "it evaluates on the validation set 0 times in 5 epochs"),
    BEST("no copy of the weights", "copy.deepcopy(model.state_dict())", "model.state_dict()",
         "the last epoch: state_dict() is no copy, or the weights are not put back"),
    BEST("the best on train", IF, IF.replace("validation", "train"),
         "of epoch 3, which is best on train; epoch 2 has the best validation accuracy"),
    BEST("the lowest loss", IF, IF.replace("validation_accuracy", "-validation_loss"),
         "of epoch 4, whose validation loss is lowest"),
    LEARNS("training a copy", CALL, CALL.replace("(model,", "(copy.deepcopy(model),"),
           "right after training"),
)  # fmt: skip

TEST = "5 test"
RESULTS = (
    Mistake("no record", lambda folder: (folder / FILE).unlink(), TEST, "record",
            "run the notebook to its end, and hand the file in"),
    Mistake("half a record", lambda folder: (folder / FILE).write_text('{"model": '), TEST,
            "record", "cannot be read: JSONDecodeError"),
    Mistake("another epoch than the best", records(best_epoch=3), TEST, "record",
            "it says epoch 3, but epoch 2 is best on validation"),
    Mistake("an accuracy that cannot be", records(test_accuracy=0.9333), TEST, "record",
            "no number of 692 sentences is 0.9333"),
)  # fmt: skip
ALL = (*DATASET, *LOADERS, *TRAINING, *EVALUATION, *MAIN_LOOP, *RESULTS)


def main() -> None:
    """Write a class: one student per mistake."""
    for mistake in ALL:
        folder = Path(sys.argv[1]) / mistake.name.replace(" ", "_")
        right(folder)
        mistake.make(folder)


if __name__ == "__main__":
    main()
