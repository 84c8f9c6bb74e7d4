"""The views of runs in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import needs_browser, obstacles_on, page_of
from playwright.sync_api import Browser, Page, Route, expect
from served import grow, serving, with_log, write_runs

from attnlab.web.settings import WebSettings

pytestmark = [pytest.mark.slow, needs_browser]
VIEWS = [
    pytest.param("#/runs", "List of runs", id="list"),
    pytest.param("#/runs/classes", "Confusion matrix", id="classifier"),
    pytest.param("#/runs/stopped", "", id="stopped"),
    pytest.param("#/runs/failed", "", id="failed"),
    pytest.param("#/runs/study", "Cells", id="study"),
    pytest.param("#/compare?run=reader&run=guesser", "", id="compare"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebSettings]:
    root: Path = tmp_path_factory.mktemp("browser") / "runs"
    write_runs(root)
    with serving(root) as settings:
        yield settings


def go(page: Page, server: WebSettings, view: str) -> None:
    page.goto(f"{server.address}{view}")
    expect(page.locator(".view h1")).to_be_visible()


@pytest.mark.parametrize(("view", "region"), VIEWS)
def test_every_view_can_be_used_by_everyone(
    any_page: Page, server: WebSettings, view: str, region: str
) -> None:
    go(any_page, server, view)
    if region:
        expect(any_page.get_by_role("region", name=region)).to_be_visible()
    any_page.wait_for_load_state("networkidle")
    assert obstacles_on(any_page) == []


def test_a_view_that_waits_for_its_data_says_so(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        waiting: list[Route] = []
        page.route("**/api/runs/detail*", lambda route: waiting.append(route))
        with page.expect_request("**/api/runs/detail*"):
            page.goto(f"{server.address}#/runs/classes")
        assert page.get_by_text("Loading …").is_visible()
        for route in waiting:
            route.continue_()
        expect(page.locator(".view h1")).to_be_visible()
        expect(page.get_by_text("Loading …")).to_be_hidden()


def test_the_list_sorts_filters_unfolds_and_leads_to_a_comparison(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser) as page:
        go(page, server, "#/runs")
        names = page.locator("tbody .name a")
        page.get_by_role("button", name="Name").click()
        assert names.all_inner_texts() == sorted(names.all_inner_texts())
        expect(page.get_by_role("columnheader", name="Name")).to_have_attribute(
            "aria-sort", "ascending"
        )
        page.get_by_role("button", name="Cells of study").click()
        expect(names).to_have_count(9)
        page.get_by_label("State").select_option("failed")
        assert names.all_inner_texts() == ["failed"]
        page.get_by_label("State").select_option("")
        page.get_by_label("Search").fill("READER")
        assert names.all_inner_texts() == ["reader", "study", "reader", "guesser"]
        page.get_by_label("Search").fill("")
        compare = page.get_by_role("button", name=re.compile("^Compare"))
        expect(compare).to_be_disabled()
        page.get_by_label("Compare reader", exact=True).check()
        page.get_by_label("Compare guesser", exact=True).check()
        compare.click()
        expect(page.get_by_text("guesser is lower than reader").first).to_be_visible()


def test_a_curve_grows_while_a_run_trains(browser: Browser, server: WebSettings) -> None:
    run, log = with_log(server.runs, "training", lines=5)
    with page_of(browser) as page, run:
        go(page, server, "#/runs/training")
        curve = page.locator("figure polyline").first
        expect(page.locator(".state")).to_have_text("running")
        expect(page.get_by_text("step 5 of 200")).to_be_visible()
        assert len((curve.get_attribute("points") or "").split()) == 5
        grow(log, range(6, 41))
        expect(page.get_by_text("step 40 of 200")).to_be_visible()
        assert len((curve.get_attribute("points") or "").split()) == 40
        expect(page.locator("progress")).to_have_attribute("value", "40")
        run.__exit__(None, None, None)
        expect(page.locator(".state")).to_have_text("stopped")


def test_what_a_user_or_model_wrote_is_text_and_never_markup(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser) as page:
        go(page, server, "#/runs/failed")
        expect(page.get_by_text("the loss is <script>alert(1)</script>")).to_be_visible()
        go(page, server, "#/runs/study")
        expect(page.locator("h1")).to_have_text("Readers & <b>guessers</b>")
        assert page.locator("main script, h1 b").count() == 0


def test_a_run_that_is_not_there_is_a_sentence(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        page.goto(f"{server.address}#/nothing")
        expect(page.get_by_role("alert")).to_have_text("There is no view called nothing.")


def test_the_theme_follows_the_system_until_it_is_chosen_and_is_remembered(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser, dark=True) as page:
        go(page, server, "#/runs")
        html = page.locator("html")
        expect(html).to_have_attribute("data-theme", "dark")
        page.get_by_role("button", name="Light").click()
        expect(html).to_have_attribute("data-theme", "light")
        page.reload()
        expect(html).to_have_attribute("data-theme", "light")


def test_answers_are_turned_page_by_page(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        go(page, server, "#/runs/reader")
        expect(page.get_by_text("1–20 of 60; 10 of 60 are wrong.")).to_be_visible()
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("21–40 of 60")).to_be_visible()
        page.get_by_label("Only wrong ones").check()
        expect(page.get_by_text("1–10 of 10")).to_be_visible()


def test_the_keyboard_reaches_the_content_and_a_run(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        go(page, server, "#/runs")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.get_by_role("link", name="writer").focus()
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("writer")
        expect(page.locator("main")).to_be_focused()
