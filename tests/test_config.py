"""Settings: how they are layered, every way they can be wrong, and the way to YAML and back."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import hypothesis
import pytest
from annotated_types import Gt
from hypothesis import given
from hypothesis import strategies as st

from attnlab.config import Given, describe, from_dict, resolve, to_dict, to_yaml
from attnlab.errors import UserError
from attnlab.models.sizes import ModelSettings, NGramTableSize
from attnlab.recipes.knowledge.settings import (
    RECIPES,
    DemoSettings,
    FinetuneSettings,
    ObjectiveSettings,
    PretrainSettings,
)
from attnlab.training.settings import OptimizerSettings, TrainingSettings

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")


@dataclass(frozen=True)
class Oven:
    """What bakes."""

    name: str = "gas"
    """Which oven."""
    heat: Annotated[int, Gt(0)] = 180
    """Degrees; a long
    line goes on."""
    options: dict[str, Any] = field(default_factory=dict)
    """The oven's own options."""


@dataclass(frozen=True)
class Bakery:
    """Everything about baking."""

    oven: Oven = Oven("steam", heat=220, options={"steam": 3})
    loaves: int = 12
    """How many."""
    flour: str = "rye"
    """Which kind."""


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_given_the_defaults_stand() -> None:
    assert resolve(Bakery()) == Bakery()


TWO = Given(2, "--loaves 2")


@pytest.mark.parametrize(
    ("text", "flags", "sets", "loaves"),
    [
        ("", {}, [], 12),
        ("loaves: 1", {}, [], 1),
        ("loaves: 1", {"loaves": TWO}, [], 2),
        ("loaves: 1", {"loaves": TWO}, ["loaves=3"], 3),
        ("loaves: 1", {"loaves": TWO}, ["loaves=3", "loaves=4"], 4),
    ],
    ids=["default", "file", "flag", "set", "last set"],
)
def test_a_later_layer_covers_an_earlier_one(
    tmp_path: Path, text: str, flags: dict[str, Given], sets: list[str], loaves: int
) -> None:
    file = written(tmp_path, text)
    assert resolve(Bakery(), file=file, flags=flags, sets=sets) == replace(Bakery(), loaves=loaves)


def test_each_layer_may_give_another_key(tmp_path: Path) -> None:
    file = written(tmp_path, "flour: wheat\noven:\n  heat: 90\n")
    settings = resolve(
        Bakery(), file=file, flags={"loaves": Given(5, "--loaves 5")}, sets=["oven.options.fan=2"]
    )
    options = {"steam": 3, "fan": 2}
    assert settings == Bakery(Oven("steam", heat=90, options=options), loaves=5, flour="wheat")


def test_a_json_file_is_read_as_well(tmp_path: Path) -> None:
    file = written(tmp_path, '{"loaves": 7, "oven": {"heat": 99}}')
    assert resolve(Bakery(), file=file) == Bakery(replace(Bakery().oven, heat=99), loaves=7)


@pytest.mark.parametrize("sets", [["oven.heat=90"], ["oven={heat: 90}"]], ids=["key", "mapping"])
def test_one_nested_key_leaves_the_outer_class_its_other_nested_defaults(sets: list[str]) -> None:
    assert resolve(Bakery(), sets=sets).oven == Oven("steam", heat=90, options={"steam": 3})


def test_another_name_leaves_the_default_options_behind() -> None:
    assert resolve(Bakery(), sets=["oven.name=gas"]).oven == Oven("gas", heat=220, options={})


def test_the_same_name_keeps_the_default_options() -> None:
    assert resolve(Bakery(), sets=["oven.name=steam"]) == Bakery()


@pytest.mark.parametrize(
    "sets",
    [["oven.name=gas", "oven.options.fan=2"], ["oven.options.fan=2", "oven.name=gas"]],
    ids=["name first", "options first"],
)
def test_options_given_with_another_name_are_kept(sets: list[str]) -> None:
    assert resolve(Bakery(), sets=sets).oven.options == {"fan": 2}


def test_empty_options_take_the_default_options_away() -> None:
    assert resolve(Bakery(), sets=["oven.options={}"]).oven == Oven("steam", heat=220, options={})


def test_another_optimizer_has_no_option_of_muon() -> None:
    settings = resolve(PretrainSettings(), sets=["training.optimizer.name=adamw"])
    assert PretrainSettings().training.optimizer.options
    assert settings.training.optimizer == replace(
        PretrainSettings().training.optimizer, name="adamw", options={}
    )


def test_an_option_may_be_a_mapping(tmp_path: Path) -> None:
    file = written(tmp_path, "oven:\n  options:\n    fan: {speed: 2}\n")
    expected = {"fan": {"speed": 2}}  # options given whole replace the default ones
    assert resolve(Bakery(), file=file).oven.options == expected
    sets = ["oven.options.fan.speed=2"]
    assert resolve(Bakery(), sets=sets).oven.options == {"steam": 3, **expected}


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert resolve(Bakery(), file=written(tmp_path, "# nothing yet\n")) == Bakery()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "flour: rye\noven:\n  haet: 3\n",
            r"settings.yaml:3: there is no setting 'oven.haet'. Did you mean 'oven.heat'\?"
            r" Known here: oven.name, oven.heat, oven.options.$",
            id="unknown key",
        ),
        pytest.param(
            "xyz: 3\n",
            r"settings.yaml:1: there is no setting 'xyz'. Known here: loaves, flour.$",
            id="unknown key like no other",
        ),
        pytest.param(
            "loaves: 1\noven: hot\n",
            r"settings.yaml:2: 'oven' is a section; give one of its keys: name, heat, options.$",
            id="section given as value",
        ),
        pytest.param(
            "oven:\n",
            r"settings.yaml:1: 'oven' is a section; give one of its keys: name, heat, options.$",
            id="section left empty",
        ),
        pytest.param(
            "loaves:\n  many: 3\n",
            r"settings.yaml:2: there is no setting 'loaves.many'",
            id="value given as section",
        ),
        pytest.param(
            "loaves: many\n",
            r"settings.yaml:1: loaves = 'many' is not possible: input should be a valid integer",
            id="another type",
        ),
        pytest.param(
            "oven:\n  heat: -3\n",
            r"settings.yaml:2: oven.heat = -3 is not possible: input should be greater than 0.$",
            id="out of bounds",
        ),
        pytest.param(
            "oven:\n  options: [1]\n",
            r"settings.yaml:2: oven.options = \[1\] is not possible: input should be a valid dict",
            id="options that are no mapping",
        ),
        pytest.param(
            "loaves: 3\nflour: rye\nloaves: 4\n",
            r"settings.yaml:3 gives 'loaves' again, after .*settings.yaml:1.$",
            id="double key",
        ),
        pytest.param(
            "oven:\n  heat: 3\noven.heat: 4\n",
            r"settings.yaml:3 gives 'oven.heat' again, after .*settings.yaml:2.$",
            id="double key in two spellings",
        ),
        pytest.param(
            "loaves: 3\nflour: [rye\n",
            r"settings.yaml:3 is not valid YAML: .*expected ',' or '\]'",
            id="invalid YAML",
        ),
        pytest.param(
            "- loaves\n- flour\n",
            r"settings.yaml must hold `key: value` lines, not a list.$",
            id="list at the top",
        ),
        pytest.param(
            "loaves",
            r"settings.yaml must hold `key: value` lines, not a single value.$",
            id="single value at the top",
        ),
        pytest.param("loaves: !loaf 3\n", r"settings.yaml:1", id="unknown tag"),
        pytest.param("oven: &o\n  options: *o\n", r"settings.yaml:2", id="alias of itself"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        resolve(Bakery(), file=written(tmp_path, text))


def test_all_impossible_values_are_named_at_once(tmp_path: Path) -> None:
    file = written(tmp_path, "loaves: x\noven:\n  heat: 0\n")
    with pytest.raises(UserError) as caught:
        resolve(Bakery(), file=file)
    heat, loaves = sorted(str(caught.value).splitlines(), key=lambda line: "loaves" in line)
    assert heat.startswith(f"{file}:3: oven.heat = 0 is not possible")
    assert loaves.startswith(f"{file}:1: loaves = 'x' is not possible")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no settings file .*nowhere.yaml\.$"):
        resolve(Bakery(), file=tmp_path / "nowhere.yaml")


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read the settings file .*Is a directory"):
        resolve(Bakery(), file=tmp_path)


def test_a_device_is_no_settings_file() -> None:
    with pytest.raises(UserError, match="cannot read the settings file /dev/zero: it is not a pl"):
        resolve(Bakery(), file=Path("/dev/zero"))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(b"flour: \xff\n")
    with pytest.raises(UserError, match=r"cannot read the settings file .*settings.yaml: 'utf-8'"):
        resolve(Bakery(), file=path)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("loaves", r"^--set loaves: expected KEY=VALUE, for example"),
        ("=3", r"^--set =3: expected KEY=VALUE, for example"),
        ("loaves=[1", r"^--set loaves=\[1: '\[1' is not a value in YAML.$"),
        ("loafs=3", r"^--set loafs=3: there is no setting 'loafs'. Did you mean 'loaves'\?"),
        ("oven=3", r"^--set oven=3: 'oven' is a section; give one of its keys: name, heat, opt"),
        ("oven.heat=0", r"^--set oven.heat=0: oven.heat = 0 is not possible: input should be gr"),
        ("loaves=", r"^--set loaves=: loaves = None is not possible: input should be a valid int"),
        ("oven={heat: 0}", r"^--set oven=\{heat: 0\}: oven.heat = 0 is not possible"),
    ],
)
def test_a_mistake_in_an_assignment_is_named_as_it_was_given(assignment: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        resolve(Bakery(), sets=[assignment])


def test_a_key_below_options_that_are_no_mapping_is_refused() -> None:
    with pytest.raises(UserError, match=r"oven.options = 3 is not possible"):
        resolve(Bakery(), sets=["oven.options=3", "oven.options.fan=1"])


def test_an_impossible_flag_is_named_as_it_was_typed() -> None:
    with pytest.raises(UserError, match=r"^--hot -1: oven.heat = -1 is not possible: input should"):
        resolve(Bakery(), flags={"oven.heat": Given(-1, "--hot -1")})


@pytest.mark.parametrize("value", [".inf", "-.inf", ".nan"])
def test_a_number_that_json_does_not_have_is_refused(value: str) -> None:
    with pytest.raises(UserError, match=r"^--set training.clip=.*training.clip = .* not possible"):
        resolve(PretrainSettings(), sets=[f"training.clip={value}"])


def test_values_take_the_type_of_their_setting() -> None:
    """YAML reads 1e-3 as a text, since it has no dot."""
    settings = resolve(PretrainSettings(), sets=["training.optimizer.lr=1e-3"])
    assert settings.training.optimizer.lr == 0.001


def test_an_option_in_scientific_notation_is_a_number() -> None:
    settings = resolve(PretrainSettings(), sets=["training.optimizer.options.adamw_lr=1e-3"])
    assert settings.training.optimizer.options == {"adamw_lr": 0.001}


def test_a_time_of_day_is_a_text_and_is_written_as_one(tmp_path: Path) -> None:
    """YAML 1.1 reads 12:00:00 as 43200, a number to the base 60."""
    settings = resolve(Bakery(), file=written(tmp_path, "flour: 12:00:00\n"))
    assert settings.flour == "12:00:00"
    assert resolve(Bakery(), file=written(tmp_path, to_yaml(settings))) == settings


MEMORIES = [NGramTableSize(), NGramTableSize(7, (4,)), NGramTableSize(2**20, (1, 3, 1))]


@st.composite
def pretrain_settings(draw: st.DrawFn) -> PretrainSettings:
    rates = st.floats(1e-12, 1e6)
    values = st.none() | st.booleans() | st.integers() | rates | st.text(CHARACTERS)
    names = st.text("abcdefgh_", min_size=1)
    optimizer = OptimizerSettings(
        draw(st.sampled_from(["sgd", "adamw", "yes", "1", "a: b", "#x", ""])),
        lr=draw(rates),
        options=draw(st.dictionaries(names, values | st.lists(rates), max_size=3)),
    )
    training = TrainingSettings(
        length=f"{draw(st.integers(1, 10**11))} {draw(st.sampled_from(['steps', 'epochs']))}",
        seed=draw(st.integers(0)),
        optimizer=optimizer,
        clip=draw(st.floats(0, 1e300)),
        precision=draw(st.sampled_from(["auto", "float32", "bfloat16", "float64"])),
    )
    return PretrainSettings(
        corpus=draw(st.text(CHARACTERS)),
        held_out=draw(st.floats(0, 0.99)),
        questions_write=draw(st.booleans()),
        objective=ObjectiveSettings("text", draw(st.dictionaries(names, values, max_size=2))),
        model=ModelSettings(
            n_heads=draw(st.integers(1)), ngram_table=draw(st.sampled_from(MEMORIES))
        ),
        training=training,
    )


@hypothesis.settings(deadline=None, max_examples=50)
@given(pretrain_settings())
def test_settings_come_back_from_their_dictionary(settings: PretrainSettings) -> None:
    assert from_dict(PretrainSettings, to_dict(settings), origin="config.json") == settings


@pytest.mark.parametrize("text", ["0E0", "1e-3", "2026-11-17", "yes", "~", "0x1F"])
def test_a_text_that_looks_like_something_else_stays_a_text(tmp_path: Path, text: str) -> None:
    settings = PretrainSettings(objective=ObjectiveSettings("text", {"option": text}))
    file = tmp_path / "settings.yaml"
    file.write_text(to_yaml(settings), encoding="utf-8")
    assert resolve(PretrainSettings(), file=file) == settings


@hypothesis.settings(deadline=None, max_examples=50)
@given(pretrain_settings())
def test_settings_come_back_from_their_yaml(
    tmp_path_factory: pytest.TempPathFactory, settings: PretrainSettings
) -> None:
    file = tmp_path_factory.getbasetemp() / "round_trip.yaml"
    file.write_text(to_yaml(settings), encoding="utf-8", newline="")
    assert resolve(PretrainSettings(), file=file) == settings


@pytest.mark.parametrize(
    "options",
    [{}, {"momentum": 0.9}, {"fan": {"speed": 2}}],
    ids=["none", "others", "nested"],
)
def test_options_other_than_the_defaults_come_back_from_a_dictionary(
    options: dict[str, Any],
) -> None:
    settings = Bakery(replace(Bakery().oven, options=options))
    assert from_dict(Bakery, to_dict(settings), origin="config.json") == settings


@pytest.mark.parametrize(
    "options", [{}, {"steam": 1}, {"steam": 3, "fan": {"speed": 2}}], ids=["none", "flat", "nested"]
)
def test_options_come_back_from_yaml(tmp_path: Path, options: dict[str, Any]) -> None:
    settings = Bakery(replace(Bakery().oven, options=options))
    assert resolve(Bakery(), file=written(tmp_path, to_yaml(settings))) == settings


def test_a_dictionary_is_checked_like_a_file() -> None:
    values = to_dict(Bakery()) | {"loafs": 3}
    with pytest.raises(UserError, match=r"^config.json: there is no setting 'loafs'. Did you mean"):
        from_dict(Bakery, values, origin="config.json")


def test_yaml_carries_each_meaning_above_its_value() -> None:
    assert to_yaml(Bakery()) == (
        "oven:\n"
        "  # Which oven.\n"
        "  name: steam\n"
        "  # Degrees; a long line goes on.\n"
        "  heat: 220\n"
        "  # The oven's own options.\n"
        "  options: {steam: 3}\n"
        "# How many.\n"
        "loaves: 12\n"
        "# Which kind.\n"
        "flour: rye\n"
    )


def test_the_values_of_the_given_instance_stand_under_those_of_the_user(tmp_path: Path) -> None:
    """A recipe is an instance, and a file or flag changes only what it names."""
    base = Bakery(Oven("gas", heat=150, options={"flame": 2}), loaves=8)
    file = written(tmp_path, "flour: wheat\n")
    assert resolve(base, file=file, sets=["oven.options.fan=1"]) == Bakery(
        Oven("gas", heat=150, options={"flame": 2, "fan": 1}), loaves=8, flour="wheat"
    )
    assert base == Bakery(Oven("gas", heat=150, options={"flame": 2}), loaves=8)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_comes_back_from_its_yaml(tmp_path: Path, name: str) -> None:
    for base in RECIPES[name]:
        file = written(tmp_path, to_yaml(base))
        assert resolve(type(base)(), file=file) == base


def test_a_memory_without_orders_is_refused() -> None:
    with pytest.raises(UserError, match=r"model.ngram_table.orders = \[\] is not possible"):
        resolve(PretrainSettings(), sets=["model.ngram_table.orders=[]"])


def test_of_the_errors_about_a_list_the_one_about_its_number_is_shown() -> None:
    with pytest.raises(UserError) as error:
        resolve(PretrainSettings(), sets=["model.ngram_table.orders=[0]", "batch_tokens=0"])
    first, second = sorted(str(error.value).splitlines())
    assert "batch_tokens = 0 is not possible" in first
    assert "orders = [0] is not possible: input should be greater than or equal to 1." in second


@pytest.mark.parametrize("settings", [PretrainSettings, FinetuneSettings, DemoSettings])
def test_every_setting_of_the_knowledge_lab_has_a_meaning(settings: type) -> None:
    fields = list(describe(settings))
    assert {"model.ngram_table.rows", "batch_tokens", "training.sparse_optimizer.options"} <= {
        field.key for field in fields
    }
    assert [field.key for field in fields if len(field.meaning) < 5] == []


def test_only_options_are_open_to_any_key() -> None:
    assert {field.key for field in describe(PretrainSettings) if field.is_open} == {
        "objective.options",
        "model.attention.options",
        "model.attention.position_options",
        "training.optimizer.options",
        "training.sparse_optimizer.options",
        "training.schedule.options",
    }
