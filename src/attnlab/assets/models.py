"""Finds a model's files: in a folder, this machine's caches, the package index or the hub."""

import os
import re
from pathlib import Path

from attnlab.assets.packages import PACKAGED, packaged_model
from attnlab.errors import UserError

FILES = ("config.json", "vocab.txt", "model.safetensors", "pytorch_model.bin")
"""What a model needs: the first two, and one of the others."""
OPTIONAL = ("tokenizer_config.json",)
"""Downloaded as well if there is one."""
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def find_model(name: str) -> Path:
    """Return the folder of a model, given its path or its name.

    A model that a Python package contains comes from the package index, since the hub may be out of
    reach. Any other name is looked up among earlier downloads, then on the hub.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name in PACKAGED:
        return packaged_model(name)
    if folder.exists() or not HUB_NAME.fullmatch(name) or name.startswith("."):
        known = ", ".join(PACKAGED)
        raise UserError(f"there is no folder {name} with a model in it. Known by name: {known}.")
    found = _cached(name)
    return found if found is not None else _download(name)


def hub_cache() -> Path:
    """Return where downloads from the hub are, for when the hub's own tools are not installed."""
    chosen = os.environ.get("HF_HUB_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(home) / "hub"


def _cached(name: str) -> Path | None:
    """Look for a complete download; the hub's own tools know where it is, if installed."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return _newest_download(name)
    try:
        config = try_to_load_from_cache(name, FILES[0])
    except ValueError:  # no model can have this name
        return None
    folder = Path(config).parent if isinstance(config, str) else None
    return folder if folder is not None and _is_whole(folder) else None


def _newest_download(name: str) -> Path | None:
    folder = hub_cache() / f"models--{name.replace('/', '--')}" / "snapshots"
    snapshots = sorted(folder.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True)
    return next((path for path in snapshots if _is_whole(path)), None)


def _is_whole(folder: Path) -> bool:
    *always, safe, pickled = ((folder / name).is_file() for name in FILES)
    return all(always) and (safe or pickled)


def _download(name: str) -> Path:
    """Download from the hub; pickled weights only if there are no others."""
    advice = (
        f"Download {', '.join((*FILES[:2], *OPTIONAL))} and {FILES[2]} (or {FILES[3]}) of"
        f" https://huggingface.co/{name} into a folder, and give that folder."
    )
    try:
        from huggingface_hub import file_exists, snapshot_download
    except ImportError:
        raise UserError(
            f"there is no folder {name}, and no such model was downloaded to {hub_cache()}."
            f" {advice} With `pip install huggingface_hub` this is done for you."
        ) from None
    *always, safe, pickled = FILES
    try:
        weights = safe if file_exists(name, safe) else pickled
        return Path(snapshot_download(name, allow_patterns=[*always, *OPTIONAL, weights]))
    except Exception as error:  # it has a dozen kinds of failure, most of them no network
        older = _newest_download(name)
        if older is not None:
            return older  # of another revision, and better than none
        raise UserError(
            f"there is no folder {name}, and it could not be downloaded"
            f" ({type(error).__name__}). {advice}"
        ) from None
