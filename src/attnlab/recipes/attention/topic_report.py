"""The mini-report of one topic, from the runs of a study that may have more."""

from pathlib import Path

from attnlab.attention.conditions import condition_name, condition_of
from attnlab.attention.topics import Topic, find_topic
from attnlab.config import from_dict
from attnlab.errors import UserError
from attnlab.phases import phase
from attnlab.recipes.attention.ablate import budget
from attnlab.recipes.attention.settings import AblateSettings
from attnlab.report.ablation.sentences import setup
from attnlab.report.build_report import build_report
from attnlab.report.sections.ablation import section_of_topic
from attnlab.report.write import save
from attnlab.runs.directory import Run
from attnlab.runs.study import STUDY, Study, read_study

JOB = "attention-ablate"


@phase("drawing the report")
def report_on_topic(
    study: Path, name: str, folder: Path | None = None, *, as_markdown: bool = False
) -> Path:
    """Write a page about one topic of a study; return its path."""
    topic = find_topic(name)
    if not (study / STUDY).exists() or Study.open(study).job != JOB:
        raise UserError(f"{study} is not a study of attnlab attention ablate.")
    settings = from_dict(AblateSettings, read_study(study)["settings"], origin=str(study / STUDY))
    document = build_report(
        runs_of(topic, study),
        section_of_topic(topic),
        title=topic.title,
        notes=[*setup(topic), budget(settings)],
    )
    return save(document, folder or study / f"report-{name}", as_markdown=as_markdown)


def runs_of(topic: Topic, study: Path) -> list[Run]:
    """Return the finished runs of a topic's conditions; refuse a study that never has them."""
    wanted = {condition_name(one): one for one in topic.conditions}
    cells = {condition_of(cell["name"]) for cell in Study.open(study).cells}
    if missing := [text for name, text in wanted.items() if name not in cells]:
        raise UserError(
            f"the study {study} has no runs of {', '.join(missing)}, which the topic {topic.name}"
            f" compares: run it with --topic {topic.name} or --topic all."
        )
    return [run for run in Study.open(study).opened() if condition_of(run.name) in wanted]
