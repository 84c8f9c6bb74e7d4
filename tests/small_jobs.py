"""Tiny settings of every job: a run of each takes a second or less."""

from dataclasses import replace
from pathlib import Path

from attnlab.attention.settings import AttentionSettings
from attnlab.data.settings import WorldSettings
from attnlab.models.sizes import ModelSettings
from attnlab.recipes.attention.settings import (
    SMALL_GPT,
    AblateSettings,
    CoinSettings,
    CostSettings,
    ExamineSettings,
    FillInSettings,
)
from attnlab.recipes.classify.settings import (
    GRID_TRAINING,
    BatchSizeSettings,
    ClassifySettings,
    CompareSettings,
    LabelBudgetSettings,
    PredictSettings,
    ProbeSettings,
    SelectSettings,
)
from attnlab.recipes.knowledge.settings import (
    DemoSettings,
    EvaluateSettings,
    FinetuneSettings,
    MajoritySettings,
    ObjectiveSettings,
    PretrainSettings,
    TokenizerSettings,
)
from attnlab.recipes.knowledge.study_settings import (
    CourseSettings,
    ExtractionMapSettings,
    ExtractionSettings,
    LinearProbeSettings,
)
from attnlab.training.settings import TrainingSettings
from small_bert import write_reviews, write_small_bert

SHORT = TrainingSettings(length="2 steps", threads=1)
TINY = ModelSettings(12, 3, 1, attention=AttentionSettings(positions="rotary"))
WORLD = WorldSettings(people=20, biographies=1, unwritten=0.1)
TRAIN, DEV, TEST = (f"runs/world/birth_{name}.tsv" for name in ("places_train", "dev", "test"))
SMALL_EXTRACTION = ExtractionSettings(
    world=replace(WORLD, unwritten=0.0, biographies=2),
    tokenizer=TokenizerSettings(size=300),
    model=TINY,
    pretraining=SHORT,
    finetunings=("adamw-3e-4",),
    held_out=0.3,
    finetuning=replace(ExtractionSettings().finetuning, threads=1),
)
BERT = ClassifySettings(
    model="bert",
    train="reviews/train.csv",
    dev="reviews/dev.csv",
    max_len=16,
    batch_size=20,
    training=SHORT,
)
SMALL_DEMO = {
    "world": "{people: 10, biographies: 2}",
    "model": "{d_model: 12, n_heads: 3, n_layers: 1}",
    "questions_length": "1 step",
    "training.length": "2 steps",
    "training.threads": "1",
}
"""The values of --set that make the demo take seconds."""
SETTINGS = {
    "knowledge-world": WORLD,
    "knowledge-majority": MajoritySettings(TRAIN, TEST),
    "knowledge-pretrain": PretrainSettings(
        corpus="runs/world/wiki.txt", questions=TRAIN, test=TEST, model=TINY, training=SHORT
    ),
    "knowledge-finetune": FinetuneSettings(
        questions=TRAIN, start="runs/pretrain", test=TEST, training=SHORT
    ),
    "knowledge-evaluate": EvaluateSettings("runs/finetune", TEST, samples=2),
    "knowledge-demo": DemoSettings(
        world=WORLD, samples=1, model=TINY, training=SHORT, questions_length="1 step"
    ),
    "knowledge-linear-probe": LinearProbeSettings("runs/pretrain", TRAIN, DEV, TEST),
    "knowledge-extraction": replace(
        SMALL_EXTRACTION,
        conditions=("one", "many-permuted"),
        finetunings=("adamw-3e-4", "query-key"),
        seeds=2,
    ),
    "knowledge-extraction-map": ExtractionMapSettings(
        people=(20,), biographies=(1, 2), tokens_per_person=50, base=SMALL_EXTRACTION
    ),
    "knowledge-course": CourseSettings(
        questions=TRAIN,
        dev=DEV,
        held_out=0.3,
        finetunings=("adamw-5e-5", "muon-0.002"),
        base=replace(
            CourseSettings().base,
            corpus="runs/world/wiki.txt",
            model=replace(TINY, attention=AttentionSettings()),
            training=SHORT,
        ),
        finetuning=replace(
            finetune := CourseSettings().finetuning, training=replace(finetune.training, threads=1)
        ),
    ),
    "attention-coins": CoinSettings(3000),
    "attention-cost": CostSettings(("dot_product", "linear"), (8, 16), 12, 3, rounds=1),
    "attention-ablate": AblateSettings(
        conditions=("cosine",),
        seeds=1,
        match="flops",
        base=replace(
            SMALL_GPT,
            corpus="runs/world/wiki.txt",
            objective=ObjectiveSettings("running_text", {"block": 16}),
            model=replace(TINY, attention=AttentionSettings(positions="learned")),
            training=SHORT,
        ),
    ),
    "attention-fill-in": FillInSettings(
        "runs/world/wiki.txt",
        block=16,
        model=replace(TINY, attention=AttentionSettings("cosine", positions="none")),
        training=SHORT,
    ),
    "attention-examine": ExamineSettings("runs/ablate/cosine-seed-0", sample_tokens=20),
    "classify-train": BERT,
    "classify-predict": PredictSettings("runs/train", "reviews/test.csv"),
    "classify-label-budget": LabelBudgetSettings((10, 0), (0.0,), seeds=1, base=BERT),
    "classify-select": SelectSettings(
        (1e-3,), (1, 2), base=replace(BERT, training=replace(GRID_TRAINING, threads=1))
    ),
    "classify-probe": ProbeSettings(memory_bytes=2**40, base=BERT),
    "classify-batch-size": BatchSizeSettings(
        memory="1TB",
        start=60,
        epochs=1,
        base=replace(
            BERT,
            batch_size=BatchSizeSettings().base.batch_size,
            training=replace(BatchSizeSettings().base.training, threads=1),
        ),
    ),
    "classify-compare": CompareSettings(
        ("bert",),
        ("full", "head"),
        epochs=(1,),
        base=replace(BERT, training=replace(GRID_TRAINING, threads=1)),
    ),
}
"""In an order in which each finds what it needs."""


def write_inputs(folder: Path) -> None:
    """Write the model and the reviews that the settings name, relative to a folder."""
    write_small_bert(folder / "bert")
    write_reviews(folder / "reviews")


def name_of(job: str) -> str:
    """Return the name that the settings of other jobs call a job's run by."""
    return job.partition("-")[2]
