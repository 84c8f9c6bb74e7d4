"""The runs of a folder: all of them, or one by its name."""

from pathlib import Path

from attnlab.errors import UserError
from attnlab.runs.directory import CONFIG, Run


def locate(name: str, root: Path) -> Path:
    """Return the path of a run or study, given its name in the folder of runs or its path."""
    by_name = root / name
    return by_name if by_name.exists() or not Path(name).exists() else Path(name)


def list_runs(root: Path) -> tuple[list[Run], list[str]]:
    """Return the runs below ``root``, newest first, and what could not be read there."""
    if not root.is_dir():
        return [], []
    runs, problems = [], []
    files = [*root.glob(f"*/{CONFIG}"), *root.glob(f"*/*/{CONFIG}")]  # the latter in studies
    inside_runs = {file.parent for file in files if (file.parent.parent / CONFIG).exists()}
    folders = [
        file.parent
        for file in files
        if not file.parent.name.startswith(".") and file.parent not in inside_runs
    ]
    for path in sorted(folders, key=lambda p: p.stat().st_mtime, reverse=True):
        try:
            run = Run.open(path)
            run.check()
            runs.append(run)
        except UserError as error:
            problems.append(str(error))
    return runs, problems
