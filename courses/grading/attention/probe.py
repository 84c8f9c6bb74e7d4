"""Runs a submission's functions of A2S1 and records the vectors they return; judges nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnlab.checks.findings import FAILURES, describe_failure
from attnlab.checks.notebooks import load_submission
from attnlab.errors import UserError
from grading.probing import NOT_WRITTEN, Answer, Arrays, at_most, main, nearest

QUERY = "average_two"
"""Gives the query that meets the new keys."""


def run_functions(file: Path, request: Mapping[str, Any]) -> Answer:
    """Call every function that is asked for; what cannot be loaded is said under ``fatal``."""
    torch.set_default_dtype(torch.float64)  # as in the notebook, where only definitions are run
    wanted: Mapping[str, str] = request["functions"]
    try:
        module = load_submission(file, set(wanted))
    except UserError as error:
        return {"fatal": str(error).replace(str(file), file.name)}, {}
    own = {name: value for name, value in vars(module).items() if callable(value)}
    seconds = request["seconds"] / (len(wanted) + 1)  # so that one endless loop costs one answer
    failures: dict[str, str] = {}
    arrays: Arrays = {}
    given: dict[str, Any] = {"keys": torch.tensor(request["keys"])}
    for name, takes in wanted.items():
        if name not in own:
            near = nearest(name, own.keys() - wanted.keys())
            failures[name] = f"{file.name} has no function {name}.{near}"
        elif takes not in given:
            failures[name] = _without_query(failures[takes])
        else:
            found = result_of(own[name], given[takes], seconds)
            if isinstance(found, str):
                failures[name] = found
            else:
                given[name], arrays[name] = found
    return {"failures": failures}, arrays


def _without_query(failure: str) -> str:
    """Say why a key cannot be tried."""
    if failure.startswith(NOT_WRITTEN):
        return f"{NOT_WRITTEN}first write {QUERY}, whose query it keeps"
    return f"it needs the query of {QUERY}; there is none"


def result_of(
    function: Callable[..., Any], argument: Any, seconds: float
) -> tuple[Any, np.ndarray] | str:
    """Return what a function returns, as it is and as numbers; or say why there are none."""
    try:
        with at_most(seconds):
            result = function(argument.clone() if hasattr(argument, "clone") else argument)
        return f"{NOT_WRITTEN}it returns nothing" if result is None else (result, _numbers(result))
    except TimeoutError:
        return f"it took longer than {seconds:.2g} seconds and was stopped"
    except FAILURES as error:
        inside = error.__traceback__ and error.__traceback__.tb_next  # without our own line
        unwritten = NOT_WRITTEN if isinstance(error, NotImplementedError) else ""
        return unwritten + describe_failure(error.with_traceback(inside))


def _numbers(result: Any) -> np.ndarray:
    """Take tensors, arrays and lists of either as numbers."""
    if isinstance(result, list | tuple):
        result = torch.stack([torch.as_tensor(row) for row in result])
    return np.asarray(torch.as_tensor(result).detach().double().numpy())


if __name__ == "__main__":
    main({"functions": run_functions})
