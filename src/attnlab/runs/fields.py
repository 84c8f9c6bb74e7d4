"""The fields of a run's files that anyone reads, with their types; ``runs/shapes.py`` checks them.

Files may hold more than this. A field that some jobs do not write is ``NotRequired`` here; whoever
cannot do without it asks for it with ``Run.recorded``, ``Run.resolved`` or ``Run.setting``.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from annotated_types import Ge, Le

Count = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]
Share = Annotated[float, Ge(0), Le(1)]
Range = tuple[float, float]
Signal = Literal["confidence", "agreement", "lead", "reader", "calibrated"]


class Hardware(TypedDict):
    """What a run computes with."""

    device: Literal["cpu", "cuda", "mps"]
    precision: Literal["float32", "bfloat16", "float64"]


class Resolved(TypedDict):
    """Every `auto` as it was resolved."""

    hardware: NotRequired[Hardware]
    processes: NotRequired[Positive]
    threads: NotRequired[Annotated[int, Ge(1), Le(1024)]]
    steps: NotRequired[Positive]
    data: NotRequired[dict[str, str]]
    fused_attention_from: NotRequired[Count]
    attention_files: NotRequired[str | None]
    base: NotRequired[str]
    tokenizer: NotRequired[str]
    objective: NotRequired[str]
    context: NotRequired[str]
    substituted: NotRequired[dict[str, str]]


class Masked(TypedDict):
    """Masked text, as a report reads it."""

    text: str
    alpha: float


class Settings(TypedDict):
    """What is read of a run's settings without knowing its job."""

    training: NotRequired[dict[str, Any]]
    run: NotRequired[str]
    start: NotRequired[str]
    model: NotRequired[str | dict[str, Any]]
    corpus: NotRequired[str]
    questions: NotRequired[str]
    held_out: NotRequired[Share]
    text_held_out: NotRequired[Share]
    text_column: NotRequired[str]
    label_column: NotRequired[str]
    pair_column: NotRequired[str]
    labels: NotRequired[Count]
    masked: NotRequired[Masked]


class Config(TypedDict):
    """config.json."""

    job: str
    settings: Settings
    resolved: Resolved


class Failure(TypedDict):
    """failure.json."""

    kind: str
    message: str
    time: str


class Baseline(TypedDict):
    """What guessing scores, and how it guesses."""

    name: str
    value: float


class Score(TypedDict):
    """A score, what it is worth, and the baseline."""

    metric: Literal["accuracy", "f1", "perplexity"]
    value: float
    n: Count
    interval: Range
    baseline: NotRequired[Baseline | None]
    verdict: NotRequired[str | None]
    bits_per_character: NotRequired[float]
    tokens: NotRequired[Count]
    characters: NotRequired[Count]


class LinearProbe(Score):
    """What a linear probe of hidden states scores."""

    place: str
    layer: Count
    dev: Share


class Split(TypedDict):
    """One split in the ledger."""

    n: Count
    sha256: str


Overlap = TypedDict(
    "Overlap", {"in": str, "also_in": str, "of": Count, "shared": dict[str, Count]}
)  # `in` cannot be written as an attribute


class Ledger(TypedDict):
    """What each split holds, and which rows stand in two of them."""

    splits: dict[str, Split]
    overlaps: list[Overlap]


class Estimate(TypedDict):
    """A number with its interval."""

    value: float
    interval: Range


class EstimateOf(Estimate):
    """A number with its interval and how many it is over."""

    n: Count


class Worth(TypedDict):
    """What the confidence is worth on one split."""

    right: dict[Signal, Estimate | None]
    risk_coverage_area: float
    calibration_error: float
    surest_half: EstimateOf


class Threshold(TypedDict):
    """From which confidence on an answer counts as retrieved, or as made up."""

    value: float
    promise: float


class Thresholds(TypedDict):
    """Both thresholds, if the answers were enough to choose them on."""

    retrieved: Threshold | None
    made_up: Threshold | None
    chosen_on: Count
    invented: NotRequired[Count]


class Kept(TypedDict):
    """Whether a threshold's promise is kept."""

    n: Count
    coverage: float
    value: float | None
    interval: Range | None


class NamePart(TypedDict):
    """How often the answer changes with a part of the name."""

    changed: float
    interval: Range
    n: Count


class Judge(TypedDict):
    """What combines the signals of an answer: centre, spread and weight of each."""

    signals: dict[str, tuple[float, float, float]]
    bias: float


class Confidence(TypedDict):
    """What a run's confidence is worth."""

    splits: dict[str, Worth]
    judge: NotRequired[Judge]
    thresholds: NotRequired[Thresholds | None]
    kept: NotRequired[dict[str, Kept | None]]
    verdicts: NotRequired[dict[str, dict[str, Count]]]
    seen: NotRequired[dict[str, dict[Signal, Estimate | None]]]
    name_parts: NotRequired[dict[str, NamePart]]


class Leak(TypedDict):
    """What a model sees of the future."""

    largest_change: float
    sentence: str


class Probe(TypedDict):
    """Whether training with a batch fits into memory."""

    batch_size: Positive
    fits: bool
    ended: str
    peak: Count
    budget: Positive


class Processor(TypedDict):
    """The processor a result was measured on."""

    name: NotRequired[str]


class Record(TypedDict):
    """record.json."""

    scores: dict[str, Score]
    failed: NotRequired[Failure]
    probe: NotRequired[Probe]
    linear_probes: NotRequired[list[LinearProbe]]
    job: NotRequired[str]
    warnings: NotRequired[list[str] | None]
    test: NotRequired[str]
    dev: NotRequired[str]
    ledger: NotRequired[Ledger]
    confidence: NotRequired[Confidence]
    reader: NotRequired[EstimateOf]
    reader_seconds: NotRequired[float]
    views_favour: NotRequired[str]
    synthetic_questions: NotRequired[Count]
    leak: NotRequired[Leak | None]
    classes: NotRequired[list[str]]
    begun_afresh: NotRequired[list[str]]
    tuning: NotRequired[str]
    n_trainable: NotRequired[Count]
    has_pairs: NotRequired[bool]
    has_read: NotRequired[bool]
    split_notes: NotRequired[dict[str, str]]
    file_split: NotRequired[str]
    chosen_on: NotRequired[str]
    steps: NotRequired[Count]
    steps_per_epoch: NotRequired[Positive]
    best_step: NotRequired[Count | None]
    stopped_early: NotRequired[bool]
    tokens: NotRequired[Count]
    training_seconds: NotRequired[float]
    resolved: NotRequired[Resolved]
    command: NotRequired[str]
    versions: NotRequired[dict[str, str]]
    cpu: NotRequired[Processor]
    platform: NotRequired[str]
    commit: NotRequired[str | None]


class LoggedStep(TypedDict):
    """One line of metrics.jsonl; everything else in it is a number as well."""

    step: Count


class LossRow(TypedDict):
    """One row of predictions on running text."""

    id: str
    input: str
    loss: float
    tokens: Count


class AnswerRow(TypedDict):
    """One row of predictions with an answer."""

    id: str
    input: str
    prediction: str
    confidence: Share
    gold: NotRequired[str]
    loss: NotRequired[float]
    tokens: NotRequired[Count]
    probabilities: NotRequired[dict[str, Share]]
    was_read: NotRequired[bool]
    agreement: NotRequired[Share]
    runner_up: NotRequired[str | None]
    runner_up_probability: NotRequired[Share]
    reader_answer: NotRequired[str | None]
    reader_probability: NotRequired[Share]
    reader_runner_up: NotRequired[Share]
    known_ngrams: NotRequired[Share]
    calibrated: NotRequired[Share]


class OptimizationState(TypedDict):
    """What optimizers and schedules keep that is no tensor."""

    numbers: dict[str, float | bool | None]
    rates: list[list[float]]
    schedules: list[dict[str, Any]]


class State(TypedDict):
    """state.json of a checkpoint."""

    step: Count
    best_step: Count | None
    best_score: float | None
    worse_evaluations: Count
    stopped_early: bool
    tokens: Count
    seconds: float
    metrics_bytes: Count
    optimization: OptimizationState
    frozen_sha256: str | None


class Cell(TypedDict):
    """One cell of a study."""

    name: str
    job: str
    needs: NotRequired[list[str]]
    command: NotRequired[str]


class StudyFile(TypedDict):
    """study.json, which a user may have written."""

    runs: list[str]
    title: NotRequired[str | None]
    notes: NotRequired[list[str]]
    job: NotRequired[str]
    settings: NotRequired[dict[str, Any]]
    featured: NotRequired[str | None]
    cells: NotRequired[list[Cell]]
    closed: NotRequired[bool]
