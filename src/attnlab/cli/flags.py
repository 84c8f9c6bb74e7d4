"""Flags from settings: the command of a job is a table of flags and a text."""

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand

from attnlab.cli.options import (
    Assignments,
    ConfigFile,
    DryRun,
    Outputs,
    Parallel,
    RunName,
    RunsFolder,
    ShowSettings,
    complete_run,
    names,
    numbers,
)
from attnlab.cli.placement import Placement, placement_parameters, submit, take_placement
from attnlab.cli.show import print_view, show

if TYPE_CHECKING:
    from attnlab.config import Given, SettingField
    from attnlab.recipes.jobs import Job
    from attnlab.runs.directory import Run, RunPlace
    from attnlab.runs.study import Study

Complete = Callable[..., list[str]]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Flag:
    """A setting that has a flag; type, default, bounds and meaning are the setting's."""

    key: str
    help: str = ""
    """Says what the setting says of itself in other words, where a command needs them."""
    name: str = ""
    """Without dashes; by default the last part of the key."""
    is_path: bool = False
    is_argument: bool = False
    is_required: bool = False
    metavar: str | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    """Words that stand for values, such as all for 0 labels."""
    complete: Complete | None = None
    """Offers values to the shell."""

    @property
    def variable(self) -> str:
        """The flag's name in Python."""
        return (self.name or self.key.rpartition(".")[2]).replace("-", "_")

    @property
    def typed(self) -> str:
        """What a user types, or calls it."""
        return self.variable if self.is_argument else "--" + self.variable.replace("_", "-")

    def parameter(self, setting: "SettingField", default: Any) -> inspect.Parameter:
        """Return it as typer wants it; None means that it was not given."""
        plain, bounds, is_list = take_apart(setting.annotation)
        choices = get_args(plain) if get_origin(plain) is Literal else ()
        shown = [f"default: {self.text(default)}"] if default not in ("", ()) else []
        notes = "; ".join([*shown, *([bounds] if bounds else [])])
        texts: dict[str, Any] = {
            "help": (self.help or setting.meaning) + (f"  [{notes}]" if notes else ""),
            "metavar": self.metavar or "|".join(choices) or None,
            "autocompletion": complete_run if names_a_run(setting) else self.complete,
        }
        kind = Path if self.is_path else str if is_list or choices else plain
        info = typer.Argument(**texts) if self.is_argument else typer.Option(self.typed, **texts)
        return inspect.Parameter(
            self.variable,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if self.is_required else None,
            annotation=Annotated[kind if self.is_required else kind | None, info],
        )

    def text(self, value: Any) -> str:
        """Write a value as a user would type it."""
        if isinstance(value, (tuple, list)):
            return ",".join(map(self.text, value))
        by_value = {stands_for: word for word, stands_for in self.words.items()}
        text = str(value).removesuffix(".0") if isinstance(value, float) else str(value)
        return by_value.get(value, text)

    def given(self, value: Any, annotation: Any) -> "Given":
        """Read what the user typed, and remember it for an error."""
        from attnlab.config import Given

        plain, _, is_list = take_apart(annotation)
        origin = f"{self.typed} {shlex.quote(self.text(value))}"
        if is_list:
            parts = [str(self.words.get(part, part)) for part in names(value) or ()]
            value = parts if plain is str else numbers(",".join(parts), self.typed, plain)
        return Given(str(value) if self.is_path else value, origin)


def names_a_run(setting: "SettingField") -> bool:
    """Say whether a setting is the name or path of a run."""
    from attnlab.runs.lookup import RunReference
    from attnlab.runs.references import reference_of

    return isinstance(reference_of(setting.annotation), RunReference)


def take_apart(annotation: Any) -> tuple[Any, str, bool]:
    """Return the plain type of a setting, its bounds, and whether it is a list of such values."""
    plain, *marks = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    if get_origin(plain) is tuple:
        inner, bounds, _ = take_apart(get_args(plain)[0])
        return inner, bounds, True
    limits = {
        sign: limit
        for mark in marks
        for name, sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
        if (limit := getattr(mark, name, None)) is not None
    }
    return plain, " and ".join(f"{sign} {limit}" for sign, limit in limits.items()), False


PathFlag = partial(Flag, is_path=True)
PathArgument = partial(Flag, is_path=True, is_argument=True)
TRAINING = [
    Flag("training.length", "Training length: '30 epochs', '2M tokens', '60 seconds'."),
    Flag("training.seed"),
    Flag("training.device"),
]


def below(section: str, flags: Sequence[Flag]) -> list[Flag]:
    """Return the same flags for settings that are a section of others."""
    return [replace(flag, key=f"{section}.{flag.key}") for flag in flags]


@dataclass(frozen=True)
class Request:
    """What the user asked of a job: its flags, and the options that every such command has."""

    job: str
    flags: "Mapping[str, Given]"
    """Those that were given, by the keys of their settings."""
    config: ConfigFile = None
    sets: Assignments = None
    name: RunName = None
    runs: RunsFolder = Path("runs")
    show_settings: ShowSettings = False
    outputs: Outputs = None
    parallel: Parallel = None
    dry_run: DryRun = False
    placement: Placement = Placement()
    hand_out: bool = False
    """Whether a study submits its cells instead of running them."""

    @property
    def place(self) -> "RunPlace":
        """Where its run is to live."""
        from attnlab.runs.directory import RunPlace

        return RunPlace(self.runs, self.name)

    def settings(self, base: Any = None) -> Any:
        """Layer what was given over ``base``; with ``--settings``, print the result and stop."""
        from attnlab.config import to_yaml
        from attnlab.recipes.jobs import find_job
        from attnlab.runs.references import absolute_settings

        layered = self.resolved(base or find_job(self.job).settings())
        settings = absolute_settings(layered, self.runs)
        if self.show_settings:
            typer.echo(to_yaml(settings), nl=False)
            raise typer.Exit
        return settings

    def resolved(self, base: Any) -> Any:
        """Layer what was given over ``base``."""
        from attnlab.config import resolve

        return resolve(base, file=self.config, flags=self.flags, sets=self.sets or ())

    def runner(self) -> "Callable[[Any], Run | Study]":
        """Return what runs the job's settings; called by the caller, it adds no frame."""
        from attnlab.phases import messages
        from attnlab.recipes.jobs import find_job

        job, of_study = find_job(self.job), {}
        if job.is_study:
            of_study = {"parallel": self.parallel, "hand_out": self.hand_out}
        return partial(job.run, place=self.place, console=messages(), **of_study)

    def submit_or_plan(self, settings: Any) -> bool:
        """Submit the job, or show its plan, if the user wants that; return whether it was so."""
        from attnlab.recipes.jobs import find_job

        if (self.parallel or 1) > 1:
            refuse_parallel(find_job(self.job))
        if self.placement.is_submitted:
            submit(self, settings)
        elif self.dry_run:
            self.show_plan(settings)
        return self.placement.is_submitted or self.dry_run

    def show_plan(self, settings: Any) -> None:
        """Print what the job would take and could show, and run nothing."""
        from attnlab.recipes.planning import plan_of
        from attnlab.report.planning import plan_blocks
        from attnlab.report.terminal import blocks_view

        plan = plan_of(self.job, settings, self.place, parallel=self.parallel or 1)
        print_view(blocks_view(plan_blocks(plan)))


def refuse_parallel(job: "Job") -> None:
    """Refuse to run a single run in parallel."""
    from attnlab.errors import UserError

    if not job.is_study:
        raise UserError(f"--parallel is for studies, and {job.name} is a single run: leave it out.")


SETTINGS_OPTIONS = ("config", "sets", "show_settings")
RUN_OPTIONS = (*SETTINGS_OPTIONS, "name", "runs", "dry_run", "placement")
STUDY_OPTIONS = (*RUN_OPTIONS, "parallel")
"""Fields of a request that a command offers as options."""
RESUMES = "Repeat the command to resume an interrupted run or to show a finished one."
FLAGS: dict[str, Sequence[Flag]] = {}
"""The flags of every command, by its job."""


def job_command(
    app: typer.Typer,
    job: str,
    flags: Sequence[Flag] = (),
    *,
    about: str,
    options: Sequence[str] = RUN_OPTIONS,
    prepare: Function = lambda request: request.settings(),
) -> None:
    """Add the command of a job, ``lab-command``, to the group of its lab.

    ``about`` is its help; the last paragraph is an example. ``prepare`` takes a ``Request`` and
    returns the settings to run, or None if it has done the work itself; its other parameters are
    typer's, and become options too. The flags are made when the command is called: only then are
    the settings loaded.
    """
    *paragraphs, example = inspect.cleandoc(about).split("\n\n")
    if "runs" in options:
        paragraphs.append(RESUMES)
    texts: dict[str, Any] = {
        "name": job.partition("-")[2],
        "help": "\n\n".join(paragraphs),
        "epilog": example,
    }

    add_lazily(app, texts, lambda: _callback(prepare, job, flags, options))
    FLAGS[job] = flags


def add_lazily(app: typer.Typer, texts: Mapping[str, Any], make: Callable[[], Function]) -> None:
    """Add a command whose function, with its options, is made when it is called."""

    class LazyCommand(TyperCommand):
        def make_context(self, *args: Any, **extra: Any) -> Any:
            whole = typer.Typer(add_completion=False, rich_markup_mode=None)
            whole.command(**texts)(make())
            return typer.main.get_command(whole).make_context(*args, **extra)

    app.command(cls=LazyCommand, **texts)(lambda: None)


def _callback(
    prepare: Function, job: str, flags: Sequence[Flag], options: Sequence[str]
) -> Function:
    """Return the command as typer reads it: a flag is a parameter with type, default and help."""
    from attnlab.config import describe
    from attnlab.recipes.jobs import find_job

    cls = find_job(job).settings
    fields = {field.key: field for field in describe(cls)}
    from_settings = [
        flag.parameter(fields[flag.key], default=reduce(getattr, flag.key.split("."), cls()))
        for flag in flags
    ]
    own = list(inspect.signature(prepare).parameters.values())[1:]
    is_placed = "placement" in options
    shared = [
        p
        for p in inspect.signature(Request).parameters.values()
        if p.name in options and p.name != "placement"
    ]

    def call(**values: Any) -> None:
        given = {
            flag.key: flag.given(value, fields[flag.key].annotation)
            for flag in flags
            if (value := values.pop(flag.variable)) is not None
        }
        placement = take_placement(values) if is_placed else Placement()
        common = {p.name: values.pop(p.name) for p in shared}
        request = Request(job, given, placement=placement, **common)
        settings = prepare(request, **values)
        if settings is not None and not request.submit_or_plan(settings):
            show(request.runner()(settings), outputs=request.outputs)

    rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
    return with_options(
        call, [*from_settings, *rest, *(placement_parameters() if is_placed else [])]
    )


def with_options(function: Function, parameters: Sequence[inspect.Parameter]) -> Function:
    """Return a function as typer reads it: each option is a parameter."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function
