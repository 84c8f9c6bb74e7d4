"""What a split holds, as a hash: two scores compare only if their splits are the same."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any


def content_sha256(rows: Iterable[Mapping[str, Any]]) -> str:
    """Hash the rows of a split in their order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()
