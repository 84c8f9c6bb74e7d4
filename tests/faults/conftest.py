"""What the fault tests share."""

from typing import Any

import pytest
from processes import finish, finish_here, outcome


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the outcome of a run nobody hurt, made once for each number of processes."""
    known: dict[int, dict[str, Any]] = {}

    def get(processes: int = 1) -> dict[str, Any]:
        if processes not in known:
            folder = tmp_path_factory.mktemp(f"undisturbed-{processes}")
            if processes == 1:
                done = finish_here(folder)
                assert done.code == 0, done.err
            else:
                ended = finish(folder, processes=processes)
                assert ended.returncode == 0, ended.stderr
            known[processes] = outcome(folder)
        return known[processes]

    return get
