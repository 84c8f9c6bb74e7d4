"""A real browser on the page: Debian's Chromium, driven by Playwright's client."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="needs chromium")
WIDE, NARROW = (1280, 900), (390, 844)
SERIOUS = ("serious", "critical")
expect.set_options(timeout=30_000)  # the first run's page loads matplotlib


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser that is installed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def page_of(
    browser: Browser,
    size: tuple[int, int] = WIDE,
    *,
    dark: bool = False,
    refused: int | None = None,
) -> Iterator[Page]:
    """Open an empty page; what it writes to the console as an error fails the test.

    Chromium itself writes an error for every request that is ``refused`` with some status.
    """
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page, errors = context.new_page(), []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert [one for one in errors if f"status of {refused} " not in one] == []


def obstacles_on(page: Page) -> list[str]:
    """Return what keeps somebody from using the page: what axe finds, or too much width."""
    return serious_findings(page) + ["it is too wide"] * is_too_wide(page)


def serious_findings(page: Page) -> list[str]:
    """Return what axe finds that keeps somebody from using the page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html']}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


def is_too_wide(page: Page) -> bool:
    """Whether the page itself, and not a box in it, has to be scrolled sideways."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return wide
