"""What the tests of the page share: a folder of runs, and clients that ask about it."""

import shutil
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from served import TOKEN, write_runs

from attnlab.web.app import create_app
from attnlab.web.settings import WebSettings


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return runs of every kind, to be copied and never changed."""
    folder = tmp_path_factory.mktemp("written") / "runs"
    write_runs(folder)
    return folder


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "runs"))


def client_of(settings: WebSettings) -> TestClient:
    address = f"http://127.0.0.1:{settings.port}"
    return TestClient(create_app(settings), base_url=address, follow_redirects=False)


@pytest.fixture
def client(root: Path) -> TestClient:
    """Return a client on this machine, without the token."""
    return client_of(WebSettings(runs=root, token=TOKEN))


@pytest.fixture
def stranger(root: Path) -> TestClient:
    """Return a client of a server that others can reach, without the token."""
    return client_of(WebSettings(runs=root, host="0.0.0.0", token=TOKEN))
