"""Models of the hub: those that were downloaded before, and downloading others."""

import os
import re
from pathlib import Path

from attnlab.errors import UserError

FILES = ("config.json", "vocab.txt", "model.safetensors", "pytorch_model.bin")
"""What a model needs: the first two, and one of the others."""
BESIDE = ("tokenizer_config.json",)
"""What is taken along where there is one."""
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def is_hub_name(name: str) -> bool:
    """Say whether the hub may have a model of that name; other texts can only be paths."""
    return HUB_NAME.fullmatch(name) is not None and not name.startswith(".")


def hub_cache() -> Path:
    """Return where downloads from the hub are, if the hub's own tools are not there to say so."""
    chosen = os.environ.get("HF_HUB_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(home) / "hub"


def cached_model(name: str) -> Path | None:
    """Look for a whole download: the hub's own tools know where it is, if they are installed."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return newest_download(name)
    try:
        config = try_to_load_from_cache(name, FILES[0])
    except ValueError:  # no model can have this name
        return None
    folder = Path(config).parent if isinstance(config, str) else None
    return folder if folder is not None and _is_whole(folder) else None


def newest_download(name: str) -> Path | None:
    """Return the newest whole download of a model, of whatever revision."""
    folder = hub_cache() / f"models--{name.replace('/', '--')}" / "snapshots"
    snapshots = sorted(folder.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True)
    return next((path for path in snapshots if _is_whole(path)), None)


def downloaded_models() -> dict[str, Path]:
    """Return every model in the hub's cache that is whole."""
    found = {}
    for folder in sorted(hub_cache().glob("models--*")):
        name = folder.name.removeprefix("models--").replace("--", "/")
        if (path := newest_download(name)) is not None:
            found[name] = path
    return found


def _is_whole(folder: Path) -> bool:
    *always, safe, pickled = ((folder / name).is_file() for name in FILES)
    return all(always) and (safe or pickled)


def download_model(name: str) -> Path:
    """Ask the hub; pickled weights are left there if there are others."""
    advice = (
        f"Download {', '.join((*FILES[:2], *BESIDE))} and {FILES[2]} (or {FILES[3]}) of"
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
        return Path(snapshot_download(name, allow_patterns=[*always, *BESIDE, weights]))
    except Exception as error:  # it has a dozen kinds of failure, most of them no network
        older = newest_download(name)
        if older is not None:
            return older  # of another revision, and better than none
        raise UserError(
            f"there is no folder {name}, and it could not be downloaded"
            f" ({type(error).__name__}). {advice}"
        ) from None
