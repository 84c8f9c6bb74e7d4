"""Steps 1 and 2: does SST2Dataset make the batches that are asked for, and do the loaders cut them?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grading.findings import Finding, judge, not_judged
from grading.sst2 import toy
from grading.sst2.instruments import KEYS

SENTENCES = toy.sentences("train")[:5]
LONG = [("film " * 700, 1), ("a film", 0)]
MAX_LENGTH = 512
SIZES, BATCH_SIZE = (23, 11, 7), 5
WORKERS = 2
LABELS = [label for _, label in SENTENCES]
Said = Mapping[str, Any]
Verdict = tuple[str | None, str]
"""The problem, or what was seen where there is none."""
Check = tuple[str, str, str, Callable[[Any], Verdict]]
"""Its name, what it looks at of what the probe recorded, what is wanted, and the verdict."""


def request() -> dict[str, Any]:
    """Say what the probe is to run."""
    return {"sentences": SENTENCES, "long": LONG, "sizes": SIZES, "batch_size": BATCH_SIZE}


def encoded(sentences: Sequence[tuple[str, int]]) -> list[list[int]]:
    """Return the tokens of sentences, padded to the longest one."""
    start, end = toy.WORDS.index("[CLS]"), toy.WORDS.index("[SEP]")
    rows = [[start, *map(toy.WORDS.index, text.split()), end] for text, _ in sentences]
    longest = max(map(len, rows))
    return [row + [0] * (longest - len(row)) for row in rows]


IDS = encoded(SENTENCES)
MASK = [[int(token != 0) for token in row] for row in IDS]


def length(found: int) -> Verdict:
    """Check how long a Dataset is."""
    seen = f"{found} of {len(SENTENCES)} sentences"
    return (None if found == len(SENTENCES) else seen), seen


def keys(found: Said) -> Verdict:
    """Check that a batch is a dictionary of three tensors."""
    missing = [key for key in KEYS if key not in found]
    if missing:
        return f"there is no {missing[0]}; the keys are {', '.join(found) or 'none'}", ""
    for key in KEYS:
        if found[key]["type"] != "tensor":
            return f"{key} is {found[key]['type']}, not a tensor", ""
    return None, ", ".join(found)


def input_ids(found: Said) -> Verdict:
    """Compare the tokens with ours."""
    ids = _values(found, "input_ids")
    if ids == IDS:
        return None, f"{len(ids)} × {len(ids[0])}"
    if ids and len(ids[0]) > len(IDS[0]):
        return f"{len(ids[0])} tokens each: pad to the longest sentence of the batch, which has" \
            f" {len(IDS[0])}", ""  # fmt: skip
    if sorted(ids) == sorted(IDS):
        return "the sentences are in another order than the items", ""
    return "the tokens are not those of the sentences", ""


def attention_mask(found: Said) -> Verdict:
    """Check that the mask tells tokens from padding."""
    mask, ids = _values(found, "attention_mask"), _values(found, "input_ids")
    if mask == [[int(token != 0) for token in row] for row in ids]:
        return None, "1 for tokens, 0 for padding"
    if all(value == 1 for row in mask for value in row):
        return "it is 1 everywhere: padding is attended to", ""
    return "it does not tell tokens from padding", ""


def label_encoding(found: Said) -> Verdict:
    """Check the labels and their type."""
    labels, dtype = _values(found, "label_encoding"), found["label_encoding"]["dtype"]
    if dtype != "torch.int64":
        return f"{dtype}: a class is a whole number, torch.int64", ""
    if labels != LABELS:
        return f"{labels} instead of {LABELS}", ""
    return None, f"{dtype}, shape [{len(labels)}]"


def truncation(found: Said) -> Verdict:
    """Check that a long sentence is cut where it is asked for."""
    n = len(_values(found, "input_ids")[0])
    if n > MAX_LENGTH:
        return f"{n} tokens are left of a long sentence: truncation=True is missing", ""
    if n < MAX_LENGTH:
        return f"a long sentence is cut to {n} tokens", ""
    return None, f"cut to {n}"


def _values(found: Said, key: str) -> list[Any]:
    """Return the numbers under a key; KeyError if there is no such tensor."""
    values: list[Any] = found[key]["values"]
    return values


def batch_size(found: Said) -> Verdict:
    """Check how many rows the batches have."""
    for loader in found["epochs"]:
        sizes = [len(batch) for batch in loader[0]]
        if any(size != BATCH_SIZE for size in sizes[:-1]) or max(sizes) > BATCH_SIZE:
            return (
                f"batches of {', '.join(map(str, sizes))} rows with batch_size = {BATCH_SIZE}",
                "",
            )
    return None, f"batches of {BATCH_SIZE}"


def shuffle(found: Said) -> Verdict:
    """Check that the training rows come in a new order in every epoch, and the others in theirs."""
    train, *others = (_rows(loader) for loader in found["epochs"])
    if train[0] == sorted(train[0]) or train[0] == train[1]:
        return "the training rows come in the same order in every epoch", ""
    for name, epochs in zip(("validation", "test"), others, strict=True):
        if any(epoch != sorted(epoch) for epoch in epochs):
            return f"the {name} rows are shuffled", ""
    return None, "train alone is shuffled"


def rows(found: Said) -> Verdict:
    """Check that every loader gives all rows of its own dataset."""
    for k, (name, loader) in enumerate(
        zip(("train", "validation", "test"), found["epochs"], strict=True)
    ):
        epoch = _rows(loader)[0]
        if {row // 100 for row in epoch} != {k}:
            return f"the {name} loader gives rows of another dataset", ""
        if len(epoch) < SIZES[k]:
            return f"{SIZES[k] - len(epoch)} {name} rows are dropped", ""
    return None, ", ".join(map(str, SIZES))


def _rows(loader: list[list[list[int]]]) -> list[list[int]]:
    return [[row for batch in epoch for row in batch] for epoch in loader]


def num_workers(found: Said) -> Verdict:
    """Check that the argument is passed on."""
    seen = f"{', '.join(map(str, found['workers']))} with num_workers = {WORKERS}"
    return (None if set(found["workers"]) == {WORKERS} else seen), seen


STEP_1: tuple[Check, ...] = (
    ("length", "length", "len() is the number of sentences", length),
    ("keys", "batch", "a dictionary of three tensors", keys),
    ("input_ids", "batch", "the tokens, padded to the longest sentence of the batch", input_ids),
    ("attention_mask", "batch", "1 for a token, 0 for padding", attention_mask),
    ("label_encoding", "batch", "the labels as whole numbers", label_encoding),
    ("truncation", "long", f"at most {MAX_LENGTH} tokens", truncation),
)
STEP_2: tuple[Check, ...] = (
    ("collate_fn", "loaders", "collate_fn makes the batches", lambda _: (None, "it is called")),
    ("batch_size", "loaders", "batches of batch_size rows", batch_size),
    ("shuffle", "loaders", "train in a new order in every epoch, the others never", shuffle),
    ("rows", "loaders", "every loader gives all rows of its dataset", rows),
    ("num_workers", "loaders", "the argument is passed on", num_workers),
)


def judged(said: Said, checks: Sequence[Check]) -> list[Finding]:
    """Judge every check of a step; what one failure explains fails once."""
    findings, blamed = [], set[str]()
    for name, task, wanted, verdict in checks:
        why = said.get("fatal") or said["failures"].get(task)
        if why and why in blamed:
            findings.append(not_judged(name, wanted, "it does not run"))
        elif why:
            blamed.add(why)
            findings.append(judge(name, wanted, why, ""))
        else:
            findings.append(_judged(name, wanted, verdict, said[task]))
    return findings


def _judged(name: str, wanted: str, verdict: Callable[[Any], Verdict], found: Any) -> Finding:
    try:
        problem, seen = verdict(found)
    except (KeyError, TypeError) as lacking:  # the check of the keys says why
        return not_judged(name, wanted, f"there is nothing to look at: {lacking}")
    return judge(name, wanted, problem, seen)
