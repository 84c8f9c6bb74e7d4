"""Parts chosen by name: listed without importing, checked when they are built."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attnlab.attention import ATTENTION
from attnlab.errors import UserError
from attnlab.registry import Registry, load_part
from attnlab.training.optimizers import OPTIMIZERS
from attnlab.training.schedules import SCHEDULES

PACKAGE = "registry_zoo"
INIT = f"""
from attnlab.registry import Registry
ANIMALS = Registry("animal", package="{PACKAGE}")
"""
LION = f"""
from {PACKAGE} import ANIMALS
@ANIMALS.register("lion")
def lion(place, /, *, roar: int = 3, mane: bool = True):
    return place, roar, mane
"""
BROKEN = f"""
from {PACKAGE} import ANIMALS
raise RuntimeError("the broken file was imported")
@ANIMALS.register("broken")
def broken(): ...
"""
MISNAMED = f"""
from {PACKAGE} import ANIMALS
MENTION = '.register("misnamed")'
@ANIMALS.register("tiger")
def tiger(): ...
"""


@pytest.fixture
def animals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Registry[Callable[..., Any]]]:
    """A package on the path: a lion, a file that breaks, a misnamed one and a plain helper."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    files = {"__init__": INIT, "lion": LION, "broken": BROKEN, "misnamed": MISNAMED}
    for name, text in {**files, "helper": "raise RuntimeError"}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(PACKAGE).ANIMALS
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


Animals = Registry[Callable[..., Any]]


def test_listing_imports_none_of_the_files(animals: Animals) -> None:
    assert animals.names() == ["broken", "lion", "misnamed"]
    assert [name for name in sys.modules if name.startswith(f"{PACKAGE}.")] == []


def test_getting_one_imports_that_one_file(animals: Animals) -> None:
    assert animals.get("lion")("desert") == ("desert", 3, True)
    assert [n for n in sys.modules if n.startswith(f"{PACKAGE}.")] == [f"{PACKAGE}.lion"]


def test_the_broken_file_would_have_told(animals: Animals) -> None:
    with pytest.raises(RuntimeError, match="the broken file was imported"):
        animals.get("broken")


@pytest.mark.parametrize("name", ["lino", "helper", "../lion", ""])
def test_an_unknown_name_is_answered_with_the_known_ones(animals: Animals, name: str) -> None:
    hint = r" Did you mean 'lion'\?" if name in ("lino", "../lion") else ""
    with pytest.raises(
        UserError,
        match=rf"^no animal is called '{name}'\.{hint} Known: broken, lion, misnamed\.$",
    ):
        animals.get(name)


def test_a_part_takes_its_own_options(animals: Animals) -> None:
    assert animals.build("lion", "zoo", options={"roar": 5}) == ("zoo", 5, True)


def test_an_option_the_part_does_not_have_is_refused(animals: Animals) -> None:
    with pytest.raises(
        UserError,
        match=r"^animal 'lion' has no option 'raor'. Did you mean 'roar'\? It takes: roar, mane.$",
    ):
        animals.build("lion", "zoo", options={"raor": 5})


def test_options_can_be_checked_without_building_anything(animals: Animals) -> None:
    animals.check("lion", {"roar": 5})
    for options in ({"raor": 5}, {"roar": "loud"}):
        with pytest.raises(UserError) as checked:
            animals.check("lion", options)
        with pytest.raises(UserError) as built:
            animals.build("lion", "zoo", options=options)
        assert str(checked.value) == str(built.value)


def test_an_argument_that_is_no_option_cannot_be_given_as_one(animals: Animals) -> None:
    with pytest.raises(UserError, match=r"^animal 'lion' has no option 'place'"):
        animals.build("lion", "zoo", options={"place": "moon"})


def test_a_name_that_is_not_the_file_name_is_refused(animals: Animals) -> None:
    with pytest.raises(AssertionError, match=r"'tiger' is registered in misnamed.py: use one name"):
        animals.get("misnamed")


@pytest.mark.parametrize(
    ("registry", "some"),
    [
        (ATTENTION, {"dot_product"}),
        (OPTIMIZERS, {"adamw", "muon", "sgd"}),
        (SCHEDULES, {"constant", "cosine", "linear"}),
    ],
    ids=["attention", "optimizer", "schedule"],
)
def test_every_listed_name_of_the_house_can_be_had(
    registry: Registry[Callable[..., Any]], some: set[str]
) -> None:
    assert some <= set(registry.names())
    assert all(callable(registry.get(name)) for name in registry.names())


USERS_FILE = """
from pathlib import Path

def roar(place, /, *, loud: bool = True):
    return place, loud

LIONS = 3
"""


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    path = tmp_path / "users.py"
    path.write_text(USERS_FILE, encoding="utf-8")
    return path


def test_a_users_file_needs_no_registration(animals: Animals, users_file: Path) -> None:
    assert animals.build(f"{users_file}:roar", "zoo", options={"loud": "no"}) == ("zoo", False)
    assert animals.names() == ["broken", "lion", "misnamed"]


@pytest.mark.parametrize("name", ["LIONS", "raor"])
def test_a_name_that_cannot_be_called_is_answered_with_those_that_can(
    users_file: Path, name: str
) -> None:
    hint = r" Did you mean 'roar'\?" if name == "raor" else ""
    with pytest.raises(
        UserError, match=rf"users\.py has no class or function '{name}'\.{hint} It has: roar\.$"
    ):
        load_part(f"{users_file}:{name}", "animal")


@pytest.mark.parametrize("reference", ["roar", ":roar", "users.py:", ""])
def test_a_reference_without_file_or_name_is_refused(reference: str) -> None:
    with pytest.raises(
        UserError, match=rf"^animal '{reference}' is not of the form path/to/file\.py:Name\.$"
    ):
        load_part(reference, "animal")


def test_a_users_file_that_is_not_python_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "users.txt"
    path.write_text(USERS_FILE, encoding="utf-8")
    with pytest.raises(UserError, match=r"users\.txt"):
        load_part(f"{path}:roar", "animal")


def test_the_summary_of_a_part_is_its_files_first_line() -> None:
    assert ATTENTION.summaries()["dot_product"] == (
        "Scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762)."
    )
    assert set(ATTENTION.summaries()) == set(ATTENTION.names())
