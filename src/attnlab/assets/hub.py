"""Models of the hub: those that were downloaded before, and downloading others."""

import os
import re
from pathlib import Path

from attnlab.errors import UserError

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""One of them is needed."""
VOCABULARIES = ("vocab.txt", "tokenizer.json", "vocab.json", "spiece.model")
"""One of them is needed: which tokens there are."""
BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "merges.txt", "added_tokens.json")
"""What is taken along where there is one."""
TOKENIZER_FILES = (*VOCABULARIES, *BESIDE)
OWNERS = {
    "bert-base-cased": "google-bert",
    "bert-base-uncased": "google-bert",
    "bert-large-cased": "google-bert",
    "bert-large-uncased": "google-bert",
    "distilbert-base-cased": "distilbert",
    "distilbert-base-uncased": "distilbert",
    "distilroberta-base": "distilbert",
    "roberta-base": "FacebookAI",
    "roberta-large": "FacebookAI",
    "t5-base": "google-t5",
    "t5-large": "google-t5",
    "t5-small": "google-t5",
}
"""Models that are known without their owner, and often with other capitals: Roberta-base."""
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def is_hub_name(name: str) -> bool:
    """Say whether the hub may have a model of that name; other texts can only be paths."""
    return HUB_NAME.fullmatch(name) is not None and not name.startswith(".")


def other_names(name: str) -> list[str]:
    """Return what the hub also calls a model: in lower case, and with its owner."""
    short = name.rpartition("/")[2].lower()
    if short not in OWNERS or name.lower() not in (short, f"{OWNERS[short]}/{short}".lower()):
        return []
    return [known for known in (short, f"{OWNERS[short]}/{short}") if known != name]


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
        config = try_to_load_from_cache(name, CONFIG)
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
    there = {path.name for path in folder.iterdir()}
    return CONFIG in there and not there.isdisjoint(WEIGHTS) and not there.isdisjoint(VOCABULARIES)


def download_model(name: str) -> Path:
    """Ask the hub; pickled weights are left there if there are others."""
    advice = (
        f"Download {CONFIG}, the tokenizer's files ({VOCABULARIES[0]} or {VOCABULARIES[1]},"
        f" {BESIDE[0]}) and {WEIGHTS[0]} (or {WEIGHTS[1]}) of https://huggingface.co/{name} into a"
        " folder, and give that folder."
    )
    try:
        from huggingface_hub import file_exists, snapshot_download
    except ImportError:
        raise UserError(
            f"there is no folder {name}, and no such model was downloaded to {hub_cache()}."
            f" {advice} With `pip install huggingface_hub` this is done for you."
        ) from None
    safe, pickled = WEIGHTS
    try:
        weights = safe if file_exists(name, safe) else pickled
        wanted = [CONFIG, *TOKENIZER_FILES, weights]
        return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:  # it has a dozen kinds of failure, most of them no network
        older = newest_download(name)
        if older is not None:
            return older  # of another revision, and better than none
        raise UserError(
            f"there is no folder {name}, and it could not be downloaded"
            f" ({type(error).__name__}). {advice}"
        ) from None
