"""Ask and Write in a real browser, against the command line."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import needs_browser, obstacles_on, page_of
from playwright.sync_api import Browser, Page, Route, expect
from served import serving

from attnlab.models import decoding
from attnlab.recipes.knowledge import write as recipe
from attnlab.runs.directory import Run
from attnlab.web.settings import WebSettings
from attnlab.web.words import in_form_words
from commands_here import attnlab_in

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def server(trained: Path) -> Iterator[WebSettings]:
    with serving(trained) as settings:
        yield settings


@pytest.fixture(scope="module")
def asked(trained: Path) -> str:
    """Return a question about somebody of the corpus."""
    return str(Run.open(trained / "gpt").predictions("test")[0]["input"])


def go(page: Page, server: WebSettings, view: str) -> None:
    page.goto(f"{server.address}{view}")
    expect(page.get_by_label("Run")).to_be_visible()


def ask(page: Page) -> None:
    expect(page.get_by_label("Question")).not_to_have_value("")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="Where it looked")).to_be_visible()


def test_the_page_gives_the_answer_of_the_command_line(
    browser: Browser, server: WebSettings, asked: str
) -> None:
    runs = server.runs
    told = attnlab_in(
        runs.parent, "knowledge", "ask", "gpt", asked, "--json", "--runs", str(runs)
    ).out
    wanted = json.loads(told)
    with page_of(browser) as page:
        go(page, server, "#/ask?run=gpt")
        expect(page.get_by_label("Question")).to_have_value(asked)
        ask(page)
        shown = page.locator(".answer-text")
        expect(shown.locator("strong")).to_have_text(wanted["text"] or "(nothing)")
        expect(shown.locator(".verdict")).to_have_text(wanted["verdict"])
        reason = in_form_words(wanted["reason"])
        expect(page.get_by_text(f"{reason[0].upper()}{reason[1:]}.", exact=True)).to_be_visible()
        sure = f"Confidence {100 * wanted['probability']:.0f} %"
        expect(page.get_by_text(sure).first).to_be_visible()
        for text, _ in wanted["runners_up"]:
            expect(page.get_by_role("region", name="Also sampled")).to_contain_text(text)
        expect(page.locator(".corpus li").first).to_contain_text("born")


def test_another_name_is_another_answer(browser: Browser, server: WebSettings, asked: str) -> None:
    with page_of(browser) as page:
        go(page, server, "#/ask?run=gpt")
        ask(page)
        page.get_by_label("First name").fill("Xaver")
        page.keyboard.press("Enter")
        last = asked.removesuffix(" born?").split()[-1]
        expect(page.get_by_label("Question")).to_have_value(f"Where was Xaver {last} born?")
        expect(page.locator(".verdict")).to_have_text("made up")
        expect(page.get_by_text(f"The corpus has no line about Xaver {last}.")).to_be_visible()
        page.get_by_role("button", name="Another last name").click()
        rows = page.get_by_role("region", name="Asked so far").locator("tbody tr")
        expect(rows).to_have_count(3)
        expect(rows.nth(2)).to_contain_text(asked)
        expect(rows.first).not_to_contain_text(last)
        expect(page.get_by_role("button", name="Another last name")).to_be_focused()


def test_a_runs_page_leads_to_its_model(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        page.goto(f"{server.address}#/runs/gpt")
        page.get_by_role("link", name="Ask its model").click()
        expect(page.get_by_label("Run")).to_have_value("gpt")
        page.goto(f"{server.address}#/runs/world")
        expect(page.locator("h1")).to_have_text("world")
        expect(page.get_by_role("link", name="Ask its model")).to_have_count(0)


def test_what_cannot_be_asked_is_told(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=400) as page:
        go(page, server, "#/ask?run=gpt")
        page.get_by_label("Question").fill("x " * 300)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Ask a shorter question")


def test_an_answer_that_comes_after_another_run_is_chosen_is_not_shown(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser, refused=500) as page:
        go(page, server, "#/ask?run=gpt")
        expect(page.get_by_label("Question")).not_to_have_value("")
        held: list[Route] = []
        page.route("**/api/ask", lambda route: held.append(route))
        for _ in range(2):
            page.get_by_label("Run").select_option("gpt")
            with page.expect_request("**/api/ask"):
                page.get_by_role("button", name="Ask", exact=True).click()
            page.get_by_label("Run").select_option("weightless")
            expect(page.get_by_text("Asking …")).to_have_count(0)
        with page.expect_response("**/api/ask"):
            held[0].continue_()
        with page.expect_response("**/api/ask"):
            held[1].fulfill(status=500, json={"error": "It failed."})
        page.unroute("**/api/ask")
        page.wait_for_timeout(200)
        expect(page.locator(".answer-text")).to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)
        page.get_by_label("Run").select_option("gpt")
        ask(page)
        expect(page.get_by_role("region", name="Asked so far")).to_have_count(0)


def test_a_session_that_failed_is_asked_for_again(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=500) as page:
        go(page, server, "#/ask?run=gpt")
        expect(page.get_by_label("Question")).not_to_have_value("")
        fails = {"error": "It failed."}
        page.route("**/api/session", lambda route: route.fulfill(status=500, json=fails), times=1)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_role("alert")).to_have_text("It failed.")
        ask(page)


def test_the_page_writes_the_text_of_the_command_line(
    browser: Browser, server: WebSettings
) -> None:
    runs = server.runs
    flags = ["--seed", "3", "--tokens", "40", "--runs", str(runs)]
    wanted = attnlab_in(runs.parent, "knowledge", "write", "gpt", "The city", *flags).out
    with page_of(browser) as page:
        go(page, server, "#/write?run=gpt")
        page.get_by_label("Prompt").fill("The city")
        page.get_by_text("How to write").click()
        page.get_by_label("seed").fill("3")
        page.get_by_label("tokens").fill("40")
        page.get_by_role("button", name="Write", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("tokens. ")
        assert page.locator(".written").text_content() == wanted.removesuffix("\n")


def test_writing_is_stopped_by_a_button(
    browser: Browser, server: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def slowly(*given: object, **how: object) -> Iterator[int]:
        for token in decoding.write_on(*given, **how):  # type: ignore[arg-type]
            drawn.append(token)
            time.sleep(0.02)
            yield token

    monkeypatch.setattr(recipe, "write_on", slowly)
    with page_of(browser) as page:
        go(page, server, "#/write?run=gpt")
        page.get_by_text("How to write").click()
        page.get_by_label("tokens").fill("2000")
        page.get_by_role("button", name="Write", exact=True).click()
        text = page.locator(".written")
        expect(text).to_be_visible()
        first = text.text_content() or ""
        expect(text).not_to_have_text(first)  # it grows while it is written
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("status")).to_have_text("Stopped.")
        expect(page.get_by_role("button", name="Write", exact=True)).to_be_focused()
        page.wait_for_timeout(300)
        reached = len(drawn)
        page.wait_for_timeout(300)
        assert len(drawn) == reached < 2000


def test_whoever_writes_again_is_not_told_of_a_stop(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        go(page, server, "#/write?run=gpt")
        held: list[Route] = []
        page.route("**/api/write", lambda route: held.append(route))
        for _ in range(2):
            with page.expect_request("**/api/write"):
                page.get_by_role("button", name="Write", exact=True).click()
        page.wait_for_timeout(200)
        assert page.get_by_role("status").text_content() == "Writing …"
        held[1].continue_()
        expect(page.get_by_role("status")).to_contain_text("tokens. ")


def test_a_setting_that_cannot_be_is_marked(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=422) as page:
        go(page, server, "#/write?run=gpt")
        page.get_by_text("How to write").click()
        page.get_by_label("tokens").fill("5000")
        page.get_by_role("button", name="Write", exact=True).click()
        expect(page.get_by_text("At most 2,000 in the page")).to_be_visible()


def test_ask_and_write_can_be_used_by_everyone(any_page: Page, server: WebSettings) -> None:
    go(any_page, server, "#/ask?run=gpt")
    ask(any_page)
    assert obstacles_on(any_page) == []
    go(any_page, server, "#/write?run=gpt")
    any_page.get_by_text("How to write").click()
    any_page.get_by_role("button", name="Write", exact=True).click()
    expect(any_page.get_by_role("status")).to_contain_text("tokens. ")
    assert obstacles_on(any_page) == []


def test_without_a_model_the_page_says_how_to_get_one(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as settings, page_of(browser) as page:
        page.goto(f"{settings.address}#/ask")
        expect(page.get_by_text("Try: attnlab knowledge demo")).to_be_visible()
