"""What the tests of the page share: a folder of runs, and clients that ask about it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import NARROW, WIDE, chromium, page_of
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page
from served import TOKEN, client_of, write_runs
from trained import write_models

from attnlab.web.settings import WebSettings


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return runs of every kind, to be copied and never changed."""
    folder = tmp_path_factory.mktemp("written") / "runs"
    write_runs(folder)
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return runs with models, to be asked and never changed."""
    folder = tmp_path_factory.mktemp("trained") / "runs"
    write_models(folder)
    return folder


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "runs"))


@pytest.fixture
def client(root: Path) -> TestClient:
    """Return a client on this machine, without the token."""
    return client_of(WebSettings(runs=root, token=TOKEN))


@pytest.fixture
def stranger(root: Path) -> TestClient:
    """Return a client of a server that others can reach, without the token."""
    return client_of(WebSettings(runs=root, host="0.0.0.0", token=TOKEN))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a browser; while it is there, no test can run an event loop of its own."""
    with chromium() as started:
        yield started


@pytest.fixture(
    params=[(WIDE, False), (WIDE, True), (NARROW, False), (NARROW, True)],
    ids=["wide-light", "wide-dark", "narrow-light", "narrow-dark"],
)
def any_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return an empty page of each size, in light and dark."""
    size, dark = request.param
    with page_of(browser, size, dark=dark) as page:
        yield page
