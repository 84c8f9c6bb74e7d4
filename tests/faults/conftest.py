"""What the fault tests share."""

from typing import Any

import pytest
from processes import finish, outcome


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the outcome of a run nobody hurt, made once for each number of processes."""
    known: dict[int, dict[str, Any]] = {}

    def get(processes: int = 1) -> dict[str, Any]:
        if processes not in known:
            folder = tmp_path_factory.mktemp(f"undisturbed-{processes}")
            done = finish(folder, processes=processes)
            assert done.returncode == 0, done.stderr
            known[processes] = outcome(folder)
        return known[processes]

    return get
