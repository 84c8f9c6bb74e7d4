"""Jobs in a real browser: the demo is started, watched, stopped, gone on with and finished."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import needs_browser, obstacles_on, page_of, serious_findings
from playwright.sync_api import Browser, Page, Route, expect
from served import serving, stopped_coins

from attnlab.runs.directory import Run
from attnlab.web import children
from attnlab.web.settings import WebSettings

pytestmark = [pytest.mark.slow, needs_browser]
WAITS = "import time; print('waiting', flush=True); time.sleep(60)"
STEPS = 800
SMALL = {
    "world.people": "20",
    "world.biographies": "1",
    "samples": "1",
    "questions_length": "1 step",
    "model.d_model": "12",
    "model.n_heads": "3",
    "model.ngram_table.rows": "0",
    "training.length": f"{STEPS} steps",
    "training.threads": "1",
    "training.evaluate_every": "0",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebSettings]:
    with serving(tmp_path / "runs") as settings:
        yield settings


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a job be a process that only waits."""
    argv = [sys.executable, "-c", WAITS]
    monkeypatch.setattr(children, "command_of", lambda *_: argv)


def go(page: Page, server: WebSettings, view: str) -> None:
    page.goto(f"{server.address}{view}")
    expect(page.locator(".view h1")).to_be_visible()


def fill(page: Page, values: dict[str, str]) -> None:
    for key, value in values.items():
        control = page.locator(f"[id='setting-{key}']")
        if not control.is_visible():
            section = " › ".join(key.split(".")[:-1])
            page.locator("summary").filter(has_text=section).first.click()
        control.fill(value)


def state(page: Page, word: str, *, seconds: int = 30) -> None:
    expect(page.locator(".state")).to_have_text(word, timeout=1000 * seconds)


def test_the_demo_is_started_stopped_and_gone_on_with_from_the_page(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser) as page:
        go(page, server, "#/jobs?job=knowledge-demo")
        page.get_by_label("Name of the run").fill("demo")
        for key, value in SMALL.items():
            fill(page, {key: value})
        page.get_by_role("button", name="Start").click()
        expect(page.locator("h1")).to_have_text("demo")
        expect(page.get_by_text("recall: step")).to_be_visible(timeout=120_000)
        expect(page.get_by_text("left of this cell's training")).to_be_visible(timeout=60_000)
        expect(page.locator("figure polyline").first).to_be_visible()
        page.reload()  # the job goes on, and its page finds it
        state(page, "running")
        page.get_by_role("button", name="Stop").click()
        state(page, "stopped")
        cell = Run.open(server.runs / "demo" / "recall")
        assert not cell.finished
        reached = cell.metrics()[-1]["step"]
        assert 0 < reached < STEPS
        page.get_by_role("button", name="Resume").click()
        state(page, "finished", seconds=120)
        assert Run.open(server.runs / "demo" / "recall").metrics()[-1]["step"] == STEPS
        page.get_by_role("link", name="Open its page in Runs").click()
        expect(page.get_by_role("region", name="Cells")).to_contain_text("recall")


def test_what_is_wrong_stands_next_to_its_field(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=422) as page:
        go(page, server, "#/jobs?job=knowledge-pretrain")
        fill(page, {"corpus": "/etc/passwd", "training.length": "long"})
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_have_text("Change the marked setting.")
        length = page.locator("[id='setting-training.length']")
        expect(length).to_be_focused()
        expect(length).to_have_attribute("aria-invalid", "true")
        reason = page.locator("[id='setting-training.length-error']")
        expect(reason).to_contain_text("Give a number above 0")
        length.fill("20 steps")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("[id='setting-corpus-error']")).to_contain_text("reads no other files")
        expect(reason).to_be_hidden()
        assert serious_findings(page) == []
        assert not (server.runs / ".web").exists()


def test_a_name_that_cannot_be_is_marked(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=422) as page:
        go(page, server, "#/jobs?job=attention-coins")
        name = page.get_by_label("Name of the run")
        name.fill("a/b")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_have_text("Change the marked setting.")
        expect(name).to_be_focused()
        expect(name).to_have_attribute("aria-invalid", "true")
        reason = page.locator("#run-name-error")
        expect(reason).to_contain_text("It must be a plain folder name")
        name.fill("ab")
        page.get_by_label("flips").fill("3")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_label("flips")).to_be_focused()
        expect(reason).to_be_hidden()


def test_options_that_are_no_json_are_told_without_asking_the_server(
    browser: Browser, server: WebSettings
) -> None:
    with page_of(browser) as page:
        go(page, server, "#/jobs?job=knowledge-pretrain")
        fill(page, {"objective.options": "{block"})
        page.get_by_role("button", name="Start").click()
        reason = page.locator("[id='setting-objective.options-error']")
        expect(reason).to_contain_text("This must be JSON")


def test_the_form_is_that_of_the_job_chosen_last(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        go(page, server, "#/jobs")
        expect(page.get_by_role("form", name="Settings of knowledge-demo")).to_be_visible()
        held: list[Route] = []
        page.route("**/api/jobs/form?job=knowledge-pretrain", lambda route: held.append(route))
        choose = page.locator(".controls select")
        with page.expect_request("**/api/jobs/form?job=knowledge-pretrain"):
            choose.select_option("knowledge-pretrain")
        choose.select_option("attention-coins")
        chosen = page.get_by_role("form", name="Settings of attention-coins")
        expect(chosen).to_be_visible()
        with page.expect_response("**/api/jobs/form?job=knowledge-pretrain"):
            held[0].continue_()
        page.wait_for_timeout(200)
        assert chosen.is_visible()


@pytest.mark.usefixtures("waiting")
def test_an_unfinished_run_goes_on_from_its_own_page(browser: Browser, server: WebSettings) -> None:
    stopped_coins(server.runs, "reader")
    with page_of(browser) as page:
        go(page, server, "#/runs/reader")
        page.get_by_role("button", name="Resume").focus()
        page.keyboard.press("Enter")
        state(page, "running")
        expect(page.get_by_text("step 5 of 200")).to_be_visible()
        expect(page.get_by_role("region", name="What it printed last")).to_have_text("waiting")
        page.get_by_role("link", name="Jobs").click()
        expect(page.get_by_role("link", name="reader")).to_be_visible()


@pytest.mark.usefixtures("waiting")
def test_jobs_can_be_used_by_everyone(any_page: Page, server: WebSettings) -> None:
    go(any_page, server, "#/jobs?job=attention-coins")
    any_page.get_by_label("Name of the run").fill("coins")
    any_page.get_by_role("button", name="Start").click()
    state(any_page, "running")
    assert obstacles_on(any_page) == []
    go(any_page, server, "#/jobs?job=classify-compare")
    expect(any_page.locator("[id='setting-models']")).to_be_visible()
    for section in any_page.locator("details:not([open]) summary").all()[::-1]:
        section.click()
    assert obstacles_on(any_page) == []


def test_a_job_of_another_server_is_a_sentence(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        go(page, server, "#/jobs/nobody")
        expect(page.get_by_text("This server has not started a job of this name.")).to_be_visible()
