"""metrics.jsonl: appended to during a run, and truncated when the run resumes."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnlab.errors import DamagedFileError
from attnlab.runs.files import naming_the_path


class MetricsFile:
    """The growing log of one run."""

    def __init__(self, path: Path, *, keep: int) -> None:
        """Open the log and cut it to its first ``keep`` bytes: those the checkpoint knows of."""
        self.path = path
        size = path.stat().st_size if path.exists() else 0
        if size < keep:
            raise DamagedFileError(
                f"{path} has {size} bytes, but the checkpoint was saved when it had {keep}."
                " Restore it, or delete the run's folder to start again."
            )
        with naming_the_path(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            os.ftruncate(self._descriptor, keep)
            os.lseek(self._descriptor, keep, os.SEEK_SET)

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line through to the operating system."""
        content = (json.dumps(line, allow_nan=False) + "\n").encode()
        with naming_the_path(self.path):
            while content:
                content = content[os.write(self._descriptor, content) :]

    def sync(self) -> int:
        """Wait until the disk has everything; return the length in bytes."""
        with naming_the_path(self.path):
            os.fsync(self._descriptor)
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def close(self) -> None:
        """Stop writing."""
        os.close(self._descriptor)
