"""``attnlab attention ablate``, which trains a GPT per condition, and ``report`` on a topic."""

from pathlib import Path
from typing import Annotated, Any

import typer

from attnlab.cli.flags import TRAINING, Flag, PathArgument, Request, below
from attnlab.cli.options import RunsFolder, complete_run
from attnlab.cli.show import say_next


def complete_topics(incomplete: str) -> list[str]:
    """Offer the shell the topics; of several between commas, the last one is completed."""
    from attnlab.attention.topics import ALL, topic_names

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in [*topic_names(), ALL] if name.startswith(last)]


STUDY = typer.Argument(
    help="A study of attention ablate, by name or path.", autocompletion=complete_run
)
TOPIC = typer.Option(
    help="aft, fast, late-mask, positions, projections, sharing or similarity.",
    metavar="NAME",
    autocompletion=complete_topics,
)
OUT = typer.Option(help="Folder for the page; without it, report-TOPIC/ in the study.")
MARKDOWN = typer.Option("--markdown", help="Write Markdown.")
ABLATE_FLAGS = [
    PathArgument("base.corpus", "Text to learn from; its end is held out.", name="text"),
    Flag("topics", name="topic", metavar="NAMES", complete=complete_topics),
    Flag("conditions", metavar="NAMES"),
    Flag("seeds"),
    Flag("match"),
    Flag("encoder"),
    Flag("base.tokenizer.kind", name="tokenizer"),
    *below("base", TRAINING),
]
ABOUT = """Compare attention variants and position schemes: one small GPT per condition and seed.

    Every condition is compared with dot_product on the held-out end of the text, by bits per
    character. A topic brings its conditions, and what is expected of them. Conditions that several
    topics have are trained once.

    Example: attnlab attention ablate shakespeare.txt --topic sharing --conditions
    hard,dot_product@rotary --seeds 3 --parallel 2
    """


def ablate_settings(request: Request) -> Any:
    """Layer the settings, and say what the runs are computed on."""
    from attnlab.phases import messages

    settings = request.settings()

    from attnlab.recipes.attention.ablate import device_line

    messages().print(device_line(settings), highlight=False)
    return settings


def report(
    study: Annotated[str, STUDY],
    topic: Annotated[str, TOPIC],
    out: Annotated[Path | None, OUT] = None,
    markdown: Annotated[bool, MARKDOWN] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write the mini-report of one topic, from the runs of a study that may cover more."""
    from attnlab.runs.files import check_output_folder
    from attnlab.runs.lookup import find_run

    path = find_run(study, runs)
    if out is not None:
        check_output_folder(out)

    from attnlab.recipes.attention.topic_report import report_on_topic

    page = report_on_topic(path, topic, out, as_markdown=markdown)
    typer.echo(str(page))
    say_next(f"attnlab runs list {study}")
