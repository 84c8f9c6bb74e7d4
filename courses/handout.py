"""Writes the folder that a student gets: the files of a course without their solutions.

    python courses/handout.py knowledge FOLDER

A course's ``handout.toml`` names them all, as "name there" = "name here"; nothing else is written.
Solutions are left out of Python files by their marks (``markers``). A notebook is copied: name the
student's version.
"""

import argparse
import tomllib
from pathlib import Path

from markers import for_students

from attnlab.cli.course import run_command
from attnlab.errors import UserError
from attnlab.runs.files import check_output_folder

COURSES = Path(__file__).parent
LIST = "handout.toml"


def handout(course: Path) -> dict[str, bytes]:
    """Return what each file of the folder holds."""
    listed = tomllib.loads((course / LIST).read_text(encoding="utf-8"))
    return {there: _without_solutions(course / here) for there, here in listed.items()}


def _without_solutions(file: Path) -> bytes:
    if file.suffix != ".py":
        return file.read_bytes()
    return for_students(file.read_text(encoding="utf-8")).encode()


def write(course: Path, folder: Path) -> list[Path]:
    """Write the folder; one that holds anything else is left as it is."""
    check_output_folder(folder)
    files = {folder / name: content for name, content in handout(course).items()}
    there = (path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else ()
    if other := next((path for path in there if path not in files), None):
        raise UserError(
            f"{other} is no part of the handout: remove it, or give another folder than {folder}."
        )
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)
    return list(files)


def main() -> None:
    """Write the folder of the course that is named."""
    courses = sorted(path.parent.name for path in COURSES.glob(f"*/{LIST}"))
    parser = argparse.ArgumentParser(
        prog="handout.py", description="Write the folder that a student of a course gets."
    )
    parser.add_argument("course", choices=courses)
    parser.add_argument("folder", type=Path, help="where it goes; new, or an earlier handout")

    def work(options: argparse.Namespace) -> None:
        written = write(COURSES / options.course, options.folder)
        print("\n".join(str(path) for path in written))

    run_command(parser, work, folder=COURSES)


if __name__ == "__main__":
    main()
