"""What a user reads, and the exit code that goes with it."""

import signal

import pytest

from attnlab.errors import (
    AttnlabError,
    DamagedFileError,
    RunError,
    StoppedError,
    UserError,
    did_you_mean,
    unknown_name,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AttnlabError("x"), 1),
        (RunError("x"), 1),
        (UserError("x"), 2),
        (DamagedFileError("x"), 2),
        (StoppedError("x", signal_number=signal.SIGTERM), 143),
        (StoppedError("x", signal_number=signal.SIGINT), 130),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_knows_its_exit_code_and_its_text(error: AttnlabError, code: int) -> None:
    assert (error.exit_code, str(error)) == (code, "x")


def test_a_stopped_run_leaves_the_exit_code_of_others_alone() -> None:
    StoppedError("x", signal_number=9)
    assert AttnlabError("x").exit_code == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("adamq", " Did you mean 'adamw'?"), ("zzz", ""), ("", "")],
    ids=["near", "far", "empty"],
)
def test_the_nearest_known_name_is_offered_or_none(name: str, text: str) -> None:
    assert did_you_mean(name, ["sgd", "adamw", "muon"]) == text


def test_an_unknown_name_is_listed_with_the_known_ones_in_order() -> None:
    error = unknown_name("attention", "synthesiser", iter(["synthesizer", "dot_product"]))
    assert isinstance(error, UserError)
    assert str(error) == (
        "no attention is called 'synthesiser'. Did you mean 'synthesizer'?"
        " Known: dot_product, synthesizer."
    )


def test_an_unknown_name_where_there_are_none_says_so() -> None:
    assert str(unknown_name("tuning", "lora", [])) == "no tuning is called 'lora'. Known: none."
