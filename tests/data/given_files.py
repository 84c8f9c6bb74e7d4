"""Files as a user might give them."""

from pathlib import Path


def file(path: Path, content: str | bytes) -> Path:
    """Write a file with exactly these bytes."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
