"""What the probes share: they run a submission's code in a process of their own and judge nothing.

    python -m grading.COURSE.probe FILE REQUEST.json ANSWER.npz

``sandbox`` starts them. The request says what to do under ``kind``; the answer holds arrays, and
JSON under ``said``. Nothing of attnlab is imported here.
"""

import contextlib
import difflib
import json
import math
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

COURSES = Path(__file__).resolve().parents[1]
Arrays = dict[str, np.ndarray]
Answer = tuple[dict[str, Any], Arrays]
Work = Callable[[Path, Mapping[str, Any]], Answer]
NOT_WRITTEN = "not written yet: "
NO_MEMORY = re.compile("can't allocate memory|Unable to allocate|out of memory")


def find(file: Path, name: str) -> Any:
    """Return what a submission's file calls by this name; if nothing, say what is nearest."""
    module = load(file)
    if not hasattr(module, name):
        raise AttributeError(f"{file.name} has no {name}.{nearest(name, vars(module))}")
    return getattr(module, name)


def nearest(name: str, known: Iterable[str]) -> str:
    """Ask whether the most similar name was meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def load(file: Path) -> ModuleType:
    """Run a file or a notebook as a module."""
    module = ModuleType(f"submission_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses look for it there
    exec(compile(source_of(file), str(file), "exec"), module.__dict__)
    return module


def source_of(file: Path) -> str:
    """Return the code of a file, or of a notebook's cells without what only a notebook can run."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells)
    return re.sub(r"^( *)[%!].*", r"\1pass", code, flags=re.MULTILINE)


def set_seed(seed: int) -> None:
    """Seed whatever a submission may draw from."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop what takes longer, if it is Python; the rest is stopped by the limit of the process."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def last_line(error: BaseException) -> str:
    """Say what was raised, and in which line of the submission."""
    if isinstance(error, NotImplementedError) and str(error):
        return f"{NOT_WRITTEN}{error}"
    if isinstance(error, MemoryError) or NO_MEMORY.search(str(error)):
        return f"it needs more memory than it may have{_place(error)}"
    return f"{traceback.format_exception_only(error)[-1].strip()[:200]}{_place(error)}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    files = [(frame, Path(frame.filename)) for frame in frames]
    own = [
        frame
        for frame, file in files
        if file.is_file() and "site-packages" not in file.parts and COURSES not in file.parents
    ]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def main(kinds: Mapping[str, Work]) -> None:
    """Do what the request asks, within the limits, and leave the answer in a file."""
    file, request_file, answer_file = map(Path, sys.argv[1:4])
    others = [path for path in sys.path if Path(path).resolve() != COURSES]
    sys.path[:] = [str(file.parent), *others]  # a file may import its neighbours, and not ours
    request = json.loads(request_file.read_text(encoding="utf-8"))
    # From now on: the seconds that our own imports took are not the submission's.
    seconds = math.ceil(time.process_time() + request["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (request["bytes"], request["bytes"]))
    try:
        said, arrays = kinds[request["kind"]](file, request)
    except BaseException as error:
        said, arrays = {"fatal": last_line(error)}, {}
    text = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    partial = answer_file.with_name("partial.npz")
    np.savez(partial, said=text, **{f"array {name}": a for name, a in arrays.items()})
    partial.replace(answer_file)  # never half an answer
