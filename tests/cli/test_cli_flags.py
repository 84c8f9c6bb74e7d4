"""Flags from settings: tables that hold, help that shows all of them, errors that name them."""

import re
from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
import typer
from command_line import Attnlab, flowing
from test_cli_help import EVERY_COMMAND, GROUPS

from attnlab.cli.commands import app
from attnlab.cli.flags import FLAGS, Flag, take_apart
from attnlab.config import SettingField, describe
from attnlab.recipes.jobs import find_job

ALL = [(job, flag) for job, flags in FLAGS.items() for flag in flags]


def setting(job: str, flag: Flag) -> SettingField:
    return {field.key: field for field in describe(find_job(job).settings)}[flag.key]


def bounds(job: str, flag: Flag) -> str:
    return take_apart(setting(job, flag).annotation)[1]


BOUNDED = [(job, flag) for job, flag in ALL if bounds(job, flag)]


def words(job: str, flag: Flag) -> list[str]:
    """Return the words of a job's command, with the arguments it cannot do without."""
    needed = [one.key for one in FLAGS[job] if one.is_required and one is not flag]
    return [*job.split("-", 1), *needed]


def named(value: object) -> str | None:
    return value.typed if isinstance(value, Flag) else None


@pytest.mark.parametrize("job", FLAGS)
def test_every_key_is_a_setting_and_none_has_two_flags(job: str) -> None:
    keys = [flag.key for flag in FLAGS[job]]
    assert set(keys) <= {field.key for field in describe(find_job(job).settings)}
    assert max(Counter(keys).values(), default=1) == 1
    assert max(Counter(flag.typed for flag in FLAGS[job]).values(), default=1) == 1


def test_the_tables_hold_every_kind_of_flag() -> None:
    assert {"knowledge-demo", "knowledge-world", "classify-label-budget"} <= FLAGS.keys()
    assert {flag.typed for _, flag in BOUNDED} >= {"--alpha", "--labels", "--lr", "--people"}


@pytest.mark.parametrize(("job", "flag"), BOUNDED, ids=named)
def test_an_error_names_the_flag_as_it_was_typed(
    attnlab: Attnlab, tmp_path: Path, job: str, flag: Flag
) -> None:
    done = attnlab(*words(job, flag), flag.typed, "-7")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"attnlab: {flag.typed} -7: {flag.key} = ")
    assert "input should be greater than" in done.err
    assert len(done.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("job", "flag"), ALL, ids=named)
def test_the_help_shows_default_and_bounds_of_the_setting(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, job: str, flag: Flag
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = attnlab(*job.split("-", 1), "--help").out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"  {flag.typed} "))
    record = [lines[start]]
    for line in lines[start + 1 :]:
        if not line.startswith("     "):
            break
        record.append(line)
    shown = flowing(" ".join(record))
    default = reduce(getattr, flag.key.split("."), find_job(job).settings())
    assert (f"default: {flag.text(default)}" in shown) == (default not in ("", ()))
    assert bounds(job, flag) in shown
    assert (flag.help or setting(job, flag).meaning) in shown


@pytest.mark.parametrize("path", [*GROUPS, *EVERY_COMMAND], ids=lambda p: " ".join(p) or "-")
def test_help_fits_80_columns_uncut(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = attnlab(*path, "--help").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    usage, *rest = lines
    assert usage.startswith("Usage: attnlab")
    assert [line for line in rest if re.search(r"\w-$|\.\.\.$", line)] == []


@pytest.mark.parametrize("path", [path for path in EVERY_COMMAND if path[0] != "attention"])
def test_every_option_with_a_default_shows_it(path: tuple[str, ...]) -> None:
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="attnlab", resilient_parsing=True)
    for name in path:
        context = context.command.commands[name].make_context(
            name, [], parent=context, resilient_parsing=True
        )
    for parameter in context.command.params:
        if parameter.default not in (None, False):
            record = parameter.get_help_record(context)
            assert f"default: {parameter.default}" in record[1], parameter.name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["classify", "label-budget", "--labels", "10, all", "--alpha", "0.25"], "labels: [10, 0]"),
        (["classify", "label-budget", "--alpha", "0,1e-1"], "alphas: [0.0, 0.1]"),
        (["classify", "label-budget", "--lr", "1e-3"], "lr: 0.001"),
        (["classify", "select", "--lr", "1e-3,5e-4"], "lrs: [0.001, 0.0005]"),
        (["classify", "select", "--optimizer", "sgd,adamw"], "optimizers: [sgd, adamw]"),
        (["classify", "select", "--schedule", "linear"], "name: linear"),
        (["classify", "train", "x.csv", "--columns", "label, -"], "columns: [label, '-']"),
        (["classify", "train", "rotten-tomatoes", "--labels", "7"], "train: rotten-tomatoes"),
        (["classify", "predict", "a", "b", "--set", "columns=[text]"], "columns: [text]"),
        (["knowledge", "evaluate", "a", "b", "--samples", "2"], "samples: 2"),
        (["knowledge", "pretrain", "--positions", "alibi"], "positions: alibi"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_flag_sets_its_setting(attnlab: Attnlab, words: list[str], expected: str) -> None:
    done = attnlab(*words, "--settings")
    assert (done.code, done.err) == (0, "")
    assert expected in [line.strip() for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("knowledge pretrain --attention syn", "synthesizer"),
        ("knowledge pretrain --positions rot", "rotary"),
        ("knowledge finetune --recipe orig", "original"),
        ("classify label-budget --mlm", "--mlm-text"),
        ("classify select --optimizer adamw,sg", "adamw,sgd"),
        ("classify select --tuning full,lo", "full,lora"),
        ("classify select --schedule cos", "cosine"),
    ],
)
def test_the_shell_is_offered_names(
    attnlab: Attnlab, monkeypatch: pytest.MonkeyPatch, typed: str, offered: str
) -> None:
    monkeypatch.setenv("_ATTNLAB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"attnlab {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    assert offered in attnlab().out.split()
