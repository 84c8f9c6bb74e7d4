"""Where attnlab caches what it need not compute or download twice."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder; ``ATTNLAB_CACHE`` chooses another."""
    chosen = os.environ.get("ATTNLAB_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attnlab"
