"""The files of the courses, loaded by their path."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import torch

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "courses" / "knowledge"
sys.path.insert(0, str(ROOT / "courses"))  # where the courses' own programs find what they share
YELP = ROOT / "courses" / "yelp"
BOOLQ = ROOT / "courses" / "boolq"
FILES = {file.stem for folder in (COURSE / "src", YELP, BOOLQ) for file in folder.glob("*.py")}


def load(file: str, *, course: Path = COURSE) -> ModuleType:
    """Load a file of a course under a name that nothing else has."""
    return _load(f"course_file_{course.name}_{Path(file).stem}", course / file)


def _load(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def forget() -> None:
    """Let every file of a course be read again, as by a new process: courses share file names."""
    for name in FILES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def edit(path: Path, old: str, new: str) -> None:
    """Put something else into a student's file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def exit_code(module: ModuleType) -> int:
    """Call a program's main as the shell would, and leave torch's threads as they were."""
    threads = torch.get_num_threads()
    try:
        module.main()
        return 0
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        torch.set_num_threads(threads)
