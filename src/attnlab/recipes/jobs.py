"""The table of jobs: everything that can be run, by name. Listing it imports no job.

A job is a settings class, what runs it, and the section of a report that describes the results. A
study is a job whose work is other jobs: a ``StudyPlan`` runs it instead of a function. A new job is
a line here and a file of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from attnlab.errors import unknown_name

ATTENTION, KNOWLEDGE = "attnlab.recipes.attention", "attnlab.recipes.knowledge"
CLASSIFY = "attnlab.recipes.classify"
SECTIONS = "attnlab.report.sections"


@dataclass(frozen=True)
class Job:
    """One line of the table; its parts are written as ``module:name`` and imported when used."""

    name: str
    summary: str
    settings_from: str
    run_from: str
    section_from: str = f"{SECTIONS}.one_run:ONE_RUN"
    texts_from: str = ""
    """What reads its texts from its settings, as something with ``eval_splits``."""
    is_prediction: bool = False
    """Whether it only asks another run's model, which lists of runs leave out."""
    is_study: bool = False
    """Whether its work is other jobs; said here, so that submitting it need not load it."""
    next: tuple[str, ...] = ("attnlab runs report {run}",)
    """What to try when it is finished: the first command whose {run}, {input} (a stored input) or
    {words} (the first of it) are known."""

    @property
    def settings(self) -> type[Any]:
        """The class of its settings; all of them have a default."""
        found: type[Any] = _look_up(self.settings_from)
        return found

    @property
    def run(self) -> Callable[..., Any]:
        """What runs it: ``run(settings, place=…, console=…)`` returns the finished run or study."""
        return partial(self.work, self.name)

    @property
    def work(self) -> Any:
        """What does its work: a function, or the ``StudyPlan`` of a study."""
        return _look_up(self.run_from)

    def sizes(self, settings: Any) -> dict[str, int]:
        """Return how many examples of each split are evaluated; none where that is not known."""
        if not self.texts_from:
            return {}
        return {
            split: len(rows)
            for split, rows in _look_up(self.texts_from)(settings).eval_splits.items()
        }

    @property
    def section(self) -> Any:
        """What describes its results on a terminal and on a page, a ``report.sections.Section``."""
        return _look_up(self.section_from)


def _look_up(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


_ALL = (
    Job(
        "attention-ablate",
        "which attention is worth it? a small GPT per condition and seed",
        f"{ATTENTION}.settings:AblateSettings",
        f"{ATTENTION}.ablate:ABLATE",
        f"{SECTIONS}.ablation:ABLATION",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
    Job(
        "attention-coins",
        "write a text of fair coin flips",
        f"{ATTENTION}.settings:CoinSettings",
        f"{ATTENTION}.coins:run_coins",
        next=("attnlab runs show {run}",),
    ),
    Job(
        "attention-cost",
        "measure time and memory of attention layers by length",
        f"{ATTENTION}.settings:CostSettings",
        f"{ATTENTION}.cost_by_length:run_cost",
        next=("attnlab runs show {run}",),
    ),
    Job(
        "attention-fill-in",
        "train BERT with any attention on masked characters of a text",
        f"{ATTENTION}.settings:FillInSettings",
        f"{ATTENTION}.fill_in:run_fill_in",
    ),
    Job(
        "attention-examine",
        "measure how a trained language model reads and writes",
        f"{ATTENTION}.settings:ExamineSettings",
        f"{ATTENTION}.examine:run_examine",
        is_prediction=True,
        next=("attnlab runs show {run}",),
    ),
    Job(
        "knowledge-world",
        "make up people, and write their biographies and questions",
        "attnlab.data.settings:WorldSettings",
        f"{KNOWLEDGE}.world:run_world",
        next=("attnlab runs show {run}",),
    ),
    Job(
        "knowledge-pretrain",
        "read a corpus, optionally with training questions mixed in",
        f"{KNOWLEDGE}.settings:PretrainSettings",
        f"{KNOWLEDGE}.pretrain:run_pretrain",
        texts_from=f"{KNOWLEDGE}.texts:read_texts",
        next=(
            "attnlab knowledge ask {run} {input}",
            "attnlab knowledge write {run} {prompt}",
            'attnlab knowledge write {run} "The"',
        ),
    ),
    Job(
        "knowledge-finetune",
        "learn to answer questions, from a pretrained model or from scratch",
        f"{KNOWLEDGE}.settings:FinetuneSettings",
        f"{KNOWLEDGE}.finetune:run_finetune",
        texts_from=f"{KNOWLEDGE}.texts:read_texts",
        next=(
            "attnlab knowledge ask {run} {input}",
            "attnlab knowledge write {run} {prompt}",
            'attnlab knowledge write {run} "The"',
        ),
    ),
    Job(
        "knowledge-evaluate",
        "ask a run's model the questions of a file",
        f"{KNOWLEDGE}.settings:EvaluateSettings",
        f"{KNOWLEDGE}.evaluate:run_evaluate",
        is_prediction=True,
    ),
    Job(
        "knowledge-majority",
        "the baseline: always the most common training answer",
        f"{KNOWLEDGE}.settings:MajoritySettings",
        f"{KNOWLEDGE}.majority:run_majority",
    ),
    Job(
        "knowledge-linear-probe",
        "where in a model is the answer? linear probes of hidden states",
        f"{KNOWLEDGE}.study_settings:LinearProbeSettings",
        f"{KNOWLEDGE}.linear_probe:run_probe",
        is_prediction=True,
        next=("attnlab runs show {run}",),
    ),
    Job(
        "knowledge-demo",
        "four ways to answer where made-up people were born",
        f"{KNOWLEDGE}.settings:DemoSettings",
        f"{KNOWLEDGE}.demo:DEMO",
        f"{SECTIONS}.comparison:COMPARISON",
        is_study=True,
        next=("attnlab knowledge ask {asked} {input}", "attnlab runs list {run}"),
    ),
    Job(
        "knowledge-course",
        "the knowledge course's model: read, fine-tune as held-out questions choose, answer dev",
        f"{KNOWLEDGE}.study_settings:CourseSettings",
        f"{KNOWLEDGE}.course:COURSE",
        f"{SECTIONS}.extraction:EXTRACTION",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
    Job(
        "knowledge-extraction",
        "what lets a model say what it has read?",
        f"{KNOWLEDGE}.study_settings:ExtractionSettings",
        f"{KNOWLEDGE}.extraction:EXTRACTION",
        f"{SECTIONS}.extraction:EXTRACTION",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
    Job(
        "knowledge-extraction-map",
        "how many people and biographies does it take to say what was read?",
        f"{KNOWLEDGE}.study_settings:ExtractionMapSettings",
        f"{KNOWLEDGE}.extraction_map:EXTRACTION_MAP",
        f"{SECTIONS}.extraction_map:EXTRACTION_MAP",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
    Job(
        "classify-train",
        "fine-tune a pretrained encoder to classify text",
        f"{CLASSIFY}.settings:ClassifySettings",
        f"{CLASSIFY}.train:run_train",
        texts_from=f"{CLASSIFY}.texts:read_texts",
        next=("attnlab classify predict {run} --text {words}", "attnlab runs report {run}"),
    ),
    Job(
        "classify-predict",
        "classify the texts of a file with a run's model",
        f"{CLASSIFY}.settings:PredictSettings",
        f"{CLASSIFY}.predict:run_predict",
        is_prediction=True,
    ),
    Job(
        "classify-label-budget",
        "how few labels are enough, with and without unlabelled text?",
        f"{CLASSIFY}.settings:LabelBudgetSettings",
        f"{CLASSIFY}.label_budget:LABEL_BUDGET",
        f"{SECTIONS}.label_budget:LABEL_BUDGET",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
    Job(
        "classify-select",
        "which learning rate, epochs, batch size, optimizer and tuning?",
        f"{CLASSIFY}.settings:SelectSettings",
        f"{CLASSIFY}.select:SELECT",
        f"{SECTIONS}.selection:SELECTION",
        is_study=True,
        next=("attnlab classify predict {asked} --text {words}", "attnlab runs list {run}"),
    ),
    Job(
        "classify-probe",
        "does training with a batch of this size fit into memory?",
        f"{CLASSIFY}.settings:ProbeSettings",
        f"{CLASSIFY}.probe:run_probe",
        next=("attnlab runs show {run}",),
    ),
    Job(
        "classify-batch-size",
        "how large a batch fits into memory, and when does dev turn down?",
        f"{CLASSIFY}.settings:BatchSizeSettings",
        f"{CLASSIFY}.batch_size:BATCH_SIZE",
        f"{SECTIONS}.batch_size:BATCH_SIZE",
        is_study=True,
        next=("attnlab classify predict {asked} --text {words}", "attnlab runs list {run}"),
    ),
    Job(
        "classify-compare",
        "which model, tuning method or optimizer, each at its own best settings?",
        f"{CLASSIFY}.settings:CompareSettings",
        f"{CLASSIFY}.compare:COMPARE",
        f"{SECTIONS}.contestants:CONTESTANTS",
        is_study=True,
        next=("attnlab runs list {run}",),
    ),
)
JOBS: Mapping[str, Job] = {job.name: job for job in _ALL}


def find_job(name: str) -> Job:
    """Return the job of that name."""
    if name not in JOBS:
        raise unknown_name("job", name, JOBS)
    return JOBS[name]
