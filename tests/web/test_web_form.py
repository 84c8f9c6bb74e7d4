"""Forms made of settings, and what a form may name."""

from pathlib import Path
from typing import Any

import pytest

from attnlab.attention.assemble import attention_builder, build_positions
from attnlab.attention.conditions import with_options
from attnlab.config import SettingsError, to_dict
from attnlab.environment import NO_USERS_CODE
from attnlab.errors import UserError
from attnlab.recipes.attention.settings import AblateSettings, CostSettings
from attnlab.recipes.classify.settings import ClassifySettings, CompareSettings
from attnlab.recipes.jobs import JOBS
from attnlab.recipes.knowledge.settings import DemoSettings, EvaluateSettings, PretrainSettings
from attnlab.recipes.knowledge.write_settings import WriteSettings
from attnlab.runs.references import absolute_settings
from attnlab.web.allowed import refuse_what_is_not_allowed
from attnlab.web.children import Children
from attnlab.web.form import form_of, read_form


@pytest.mark.parametrize("job", JOBS)
def test_every_setting_of_a_job_is_a_field_with_its_meaning_and_its_default(job: str) -> None:
    settings = JOBS[job].settings()
    fields = form_of(settings)
    assert all(field["meaning"] for field in fields)
    assert read_form(settings, {field["key"]: field["value"] for field in fields}) == settings


def test_a_field_has_the_type_the_limits_and_the_choices_of_its_setting() -> None:
    fields = {field["key"]: field for field in form_of(DemoSettings())}
    people, share = fields["world.people"], fields["world.asked_share"]
    assert (people["kind"], people["value"], people["limits"]) == ("integer", 1000, {"minimum": 10})
    assert share["limits"] == {"exclusiveMinimum": 0, "maximum": 0.4}
    assert fields["world.order"]["choices"] == ["fixed", "shuffled"]
    assert fields["world.full_names"]["kind"] == "boolean"
    orders = fields["model.ngram_table.orders"]
    assert (orders["kind"], orders["items"]) == ("array", "integer")
    assert fields["training.optimizer.options"]["value"] == {"adamw_lr": 3e-3}
    assert fields["questions_length"]["kind"] == "string"


def test_a_field_may_name_a_run_or_be_empty() -> None:
    assert next(f for f in form_of(EvaluateSettings()) if f["key"] == "run")["is_run"]
    top_k = next(f for f in form_of(WriteSettings()) if f["key"] == "top_k")
    assert (top_k["may_be_empty"], top_k["kind"], top_k["value"]) == (True, "integer", None)


def test_what_is_wrong_is_said_by_field() -> None:
    wrong = {"world.people": 3, "training.length": "long", "samples": 5}
    with pytest.raises(SettingsError, match=r"the form: world\.people = 3 is not") as found:
        read_form(DemoSettings(), wrong)
    assert found.value.reasons.keys() == {"world.people", "training.length"}
    assert found.value.reasons["world.people"] == "Input should be greater than or equal to 10."
    with pytest.raises(UserError, match="there is no setting 'peoples'"):
        read_form(DemoSettings(), {"peoples": 3})


CODE = [
    (PretrainSettings(), {"model.attention.name": "mine.py:Mine"}, "model.attention.name"),
    (PretrainSettings(), {"model.attention.options": {"a": ["x.py:Y"]}}, "model.attention.options"),
    (PretrainSettings(), {"training.optimizer.name": "/tmp/o.py:O"}, "training.optimizer.name"),
    (PretrainSettings(), {"objective.name": "o.py:O"}, "objective.name"),
    (AblateSettings(), {"conditions": ["cosine", "mine.py:Mine@rotary"]}, "conditions"),
    (CostSettings(), {"names": ["mine.py:Mine:a=1"]}, "names"),
    (ClassifySettings(), {"tuning.name": "mine.py:tune"}, "tuning.name"),
]


@pytest.mark.parametrize(("base", "values", "key"), CODE, ids=lambda one: str(one)[:40])
def test_code_of_a_users_own_is_refused_wherever_it_is_named(
    base: Any, values: dict[str, Any], key: str, tmp_path: Path
) -> None:
    absolute = absolute_settings(read_form(base, values), tmp_path)
    with pytest.raises(SettingsError, match="your own code is not run from the page") as found:
        refuse_what_is_not_allowed(absolute, [Path("/")])
    assert found.value.reasons.keys() == {key}


OUTSIDE = [
    (PretrainSettings(), {"corpus": "/etc/passwd"}),
    (PretrainSettings(), {"dev": "../secret.tsv"}),
    (PretrainSettings(), {"dev": "~/secret.tsv"}),
    (PretrainSettings(), {"questions": "link.tsv"}),
    (EvaluateSettings(), {"run": "../../elsewhere"}),
    (EvaluateSettings(), {"run": "/somewhere/run"}),
    (ClassifySettings(), {"model": "../bert"}),
    (ClassifySettings(), {"train": "/somewhere/train.csv"}),
    (CompareSettings(), {"models": ["prajjwal1/bert-tiny", "/somewhere/bert"]}),
]


@pytest.mark.parametrize(("base", "values"), OUTSIDE, ids=lambda one: str(one)[:40])
def test_a_file_outside_of_the_folders_is_refused(
    base: Any, values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = tmp_path / "work", tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "secret.tsv").write_text("secret")
    (folder / "link.tsv").symlink_to(tmp_path / "secret.tsv")
    monkeypatch.chdir(folder)
    absolute = absolute_settings(read_form(base, values), runs)
    with pytest.raises(SettingsError, match="the page reads no other files") as found:
        refuse_what_is_not_allowed(absolute, [folder, runs])
    assert found.value.reasons.keys() == values.keys()


def test_files_of_the_folders_names_and_defaults_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = tmp_path / "work", tmp_path / "runs"
    folder.mkdir()
    monkeypatch.chdir(folder)
    texts = {"corpus": "wiki.txt", "dev": str(runs / "world" / "birth_dev.tsv")}
    allowed = [
        read_form(PretrainSettings(), {**texts, "model.attention.name": "cosine"}),
        read_form(EvaluateSettings(), {"run": "study/reader"}),
        read_form(ClassifySettings(), {"model": "prajjwal1/bert-tiny", "train": "boolq:dev"}),
        *(job.settings() for job in JOBS.values()),
    ]
    for settings in allowed:
        absolute = absolute_settings(settings, runs)
        refuse_what_is_not_allowed(absolute, [folder, runs])
        assert to_dict(absolute)


DISGUISED = ["evil.py/:f", '"evil.p\\x79:f"', "evil.py/.:f"]


@pytest.mark.parametrize("score", DISGUISED)
def test_code_that_is_named_in_disguise_is_not_run_by_a_job(
    score: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the form lets pass is refused by the process that would run it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("raise AssertionError('it ran')\n", encoding="utf-8")
    monkeypatch.setenv(NO_USERS_CODE, "1")
    settings = with_options(f"custom:score={score}")
    positions = build_positions(settings, d_model=12, n_heads=3, max_len=8)
    build = attention_builder(settings, positions, d_model=12, n_heads=3, max_len=8)
    with pytest.raises(UserError, match="a file of your own code, which is not run here"):
        build()


def test_a_job_of_the_page_must_run_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []

    def command(*_: Any, environment: dict[str, str], **__: Any) -> None:
        given.append(environment)
        raise UserError("enough")

    monkeypatch.setattr("attnlab.web.children.Started.command", command)
    with pytest.raises(UserError, match="enough"):
        Children(tmp_path).start("mine", "knowledge-demo", "")
    assert given == [{NO_USERS_CODE: "1"}]
