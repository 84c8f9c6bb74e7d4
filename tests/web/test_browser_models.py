"""The views of attention and classification in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsers import is_too_wide, needs_browser, obstacles_on, page_of, serious_findings
from playwright.sync_api import Browser, Locator, Page, Route, expect
from served import serving
from trained import write_classifier, write_models

from attnlab.recipes.attention.look_at_text import LookingSession
from attnlab.recipes.classify.explain_text import ExplainingSession
from attnlab.web.models import load
from attnlab.web.settings import WebSettings

pytestmark = [pytest.mark.slow, needs_browser]
QUESTION = "Where was she born? <b>&"
REVIEW = "the food was superb and we came back"
LONG = 512


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebSettings]:
    root: Path = tmp_path_factory.mktemp("asked") / "runs"
    write_models(root)
    write_classifier(root, "long", max_len=LONG)
    with serving(root) as settings:
        yield settings


def look(page: Page, server: WebSettings, run: str = "gpt", text: str = QUESTION) -> None:
    page.goto(f"{server.address}#/attention?run={run}")
    page.get_by_role("textbox", name="Text", exact=True).fill(text)
    page.get_by_role("button", name="Look").click()


def classify(page: Page, server: WebSettings, text: str = REVIEW, run: str = "bert") -> None:
    page.goto(f"{server.address}#/classify?run={run}")
    page.get_by_role("textbox", name="Text", exact=True).fill(text)
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_text("Neither is a reason")).to_be_visible()
    expect(page.get_by_text("tokens so far")).to_have_count(0)


def matrix(run: Path, layer: int, head: int, *, text: str = QUESTION) -> np.ndarray:
    session = LookingSession(load(run))
    size = len(session.read(text).tokens)
    found = session.matrix(text, layer=layer, head=head, what="weights")
    return np.frombuffer(found, "<f4").reshape(size, size)


def token_of(page: Page) -> Locator:
    return page.get_by_role("combobox", name=re.compile("^Token"))


def shares(page: Page) -> list[float]:
    cells = page.locator(".head-view td data")
    return [float(cell.get_attribute("value") or "nan") for cell in cells.all()]


def test_both_views_can_be_used_by_everyone(any_page: Page, server: WebSettings) -> None:
    look(any_page, server)
    expect(
        any_page.get_by_text("Leak meter: no leak; nothing before a change feels it")
    ).to_be_visible()
    for drawing in ("heat", "arcs"):
        any_page.get_by_label("Drawing").select_option(drawing)
        any_page.wait_for_load_state("networkidle")
        assert obstacles_on(any_page) == []
    classify(any_page, server)
    any_page.get_by_text("All numbers").click()
    assert obstacles_on(any_page) == []


def test_the_top_keys_of_a_token_are_the_models_own(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        look(page, server)
        page.get_by_role("button", name="layer 2, head 3").click()
        expect(page.get_by_role("heading", name="Layer 2, head 3")).to_be_visible()
        token_of(page).select_option("6")
        expect(
            page.get_by_role("heading", name=re.compile("Top keys of .*, token 7"))
        ).to_be_visible()
        row = matrix(server.runs / "gpt", 1, 2)[6]
        expected = np.sort(row)[::-1][:10]
        assert shares(page) == pytest.approx(expected.tolist(), abs=1e-7)


def test_the_heat_map_has_the_pixels_of_the_weights(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        look(page, server)
        expect(page.get_by_role("heading", name="Layer 1, head 1")).to_be_visible()
        page.wait_for_load_state("networkidle")
        first = page.locator(".heads canvas").first
        corner, future = (
            first.evaluate("(c, x) => [...c.getContext('2d').getImageData(x, 0, 1, 1).data]", x)
            for x in (0, 5)
        )
        assert corner == [0x24, 0x50, 0xB0, 255]  # the first token sees itself alone
        assert future == [0xFD, 0xFD, 0xFC, 255]


def test_scores_before_and_after_the_mask(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        look(page, server)
        page.get_by_label("Numbers").select_option("masked")
        page.wait_for_load_state("networkidle")
        canvas = page.locator(".head-view canvas")
        box = canvas.bounding_box()
        assert box is not None
        canvas.hover(position={"x": box["width"] - 20, "y": 112})  # the last key of the first query
        expect(page.get_by_text("hidden by the mask")).to_be_visible()
        page.get_by_label("Numbers").select_option("scores")
        page.wait_for_load_state("networkidle")
        canvas.hover(position={"x": box["width"] - 22, "y": 112})
        expect(page.locator(".readout")).to_have_text(re.compile(r"→.*: -?\d+\.\d{3}$"))
        page.get_by_label("Drawing").select_option("arcs")
        expect(page.get_by_label("Numbers")).to_be_disabled()


def test_heads_and_tokens_are_chosen_by_the_keyboard(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        look(page, server)
        first = page.get_by_role("button", name="layer 1, head 1")
        expect(first).to_have_attribute("aria-pressed", "true")
        first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("heading", name="Layer 2, head 2")).to_be_visible()
        chosen = page.get_by_role("button", name="layer 2, head 2")
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("tabindex", "0")
        page.keyboard.press("ArrowDown")  # there is no third layer
        expect(chosen).to_be_focused()


@pytest.mark.parametrize("drawing", ["heat", "arcs"])
def test_what_is_shown_is_saved_as_png_svg_and_json(
    browser: Browser, server: WebSettings, drawing: str
) -> None:
    with page_of(browser) as page:
        look(page, server)
        page.get_by_label("Drawing").select_option(drawing)
        page.wait_for_load_state("networkidle")
        files = {}
        for kind in ("PNG", "SVG", "JSON"):
            with page.expect_download() as saving:
                page.get_by_role("button", name=f"Save {kind}").click()
            assert saving.value.suggested_filename.startswith("gpt-layer-1-head-1-")
            files[kind] = Path(saving.value.path()).read_bytes()
        assert files["PNG"].startswith(b"\x89PNG")
        drawn = page.evaluate(
            """(text) => {
              const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
              return {errors: parsed.querySelectorAll("parsererror").length,
                      texts: [...parsed.querySelectorAll("text")].map((one) => one.textContent)};
            }""",
            files["SVG"].decode(),
        )
        assert drawn["errors"] == 0
        assert "<" in drawn["texts"]
        saved = json.loads(files["JSON"])
        assert (saved["run"], saved["text"], saved["layer"]) == ("gpt", QUESTION, "layer 1")
        assert np.array_equal(np.float32(saved["values"]), matrix(server.runs / "gpt", 0, 0))


def test_a_text_of_512_tokens_fetches_one_head_at_a_time(
    browser: Browser, server: WebSettings
) -> None:
    sizes: list[int] = []
    with page_of(browser) as page:
        page.on(
            "response",
            lambda got: sizes.append(len(got.body())) if got.url.endswith("/head") else None,
        )
        look(page, server, "long", "fine food and service " * 200)
        expect(page.get_by_text("512 tokens; the model reads no more")).to_be_visible()
        page.get_by_role("button", name="layer 2, head 3").click()
        expect(page.get_by_role("heading", name="Layer 2, head 3")).to_be_visible()
        token_of(page).select_option("300")
        page.get_by_label("Drawing").select_option("arcs")
        page.wait_for_load_state("networkidle")
        assert not is_too_wide(page)
        assert serious_findings(page) == []
        down = page.locator(".picture").evaluate("(box) => box.scrollTop / box.scrollHeight")
        assert 0.4 < down < 0.65  # token 301 of 512 is in sight
    assert sizes == [4 * LONG * LONG] * 2


def test_an_attention_without_weights_says_so(browser: Browser, server: WebSettings) -> None:
    page = browser.new_page()  # whose console notes that a request was refused
    look(page, server, "weightless")
    expect(page.get_by_role("alert")).to_have_text(re.compile("AttentionFree .* has no weights"))
    assert serious_findings(page) == []
    page.close()


def test_a_leak_meter_that_fails_leaves_the_heads(browser: Browser, server: WebSettings) -> None:
    with page_of(browser, refused=500) as page:
        fails = {"error": "It failed."}
        page.route("**/attention/leak", lambda route: route.fulfill(status=500, json=fails))
        look(page, server)
        expect(page.get_by_text("Leak meter: It failed.")).to_be_visible()
        expect(page.get_by_role("heading", name="Layer 1, head 1")).to_be_visible()


def test_the_heads_are_those_of_the_text_sent_last(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        held: list[Route] = []
        page.route("**/attention/overview", lambda route: held.append(route))
        with page.expect_request("**/attention/overview"):
            look(page, server)
        page.get_by_role("textbox", name="Text", exact=True).fill("born")
        with page.expect_request("**/attention/overview"):
            page.get_by_role("button", name="Look").click()
        held[1].continue_()
        expect(page.get_by_role("heading", name="Layer 1, head 1")).to_be_visible()
        count = token_of(page).locator("option").count()
        with page.expect_response("**/attention/overview"):
            held[0].continue_()
        page.wait_for_timeout(200)
        assert token_of(page).locator("option").count() == count < len(QUESTION)


def test_classes_and_tokens_are_the_models_own(browser: Browser, server: WebSettings) -> None:
    session = ExplainingSession(server.runs / "bert")
    expected = session.classify(REVIEW, None, None)
    left = session.leave_one_out(REVIEW, None, label=expected["label"])["falls_by"]
    with page_of(browser) as page:
        classify(page, server)
        best = expected["prediction"]
        expect(page.get_by_role("heading", name=f"Class {best},")).to_be_visible()
        likely = page.get_by_role("region", name="Probabilities of the classes").locator("data")
        found = sorted(float(one.get_attribute("value") or "nan") for one in likely.all())
        assert found == pytest.approx(sorted(expected["probabilities"].values()))
        page.get_by_text("All numbers").click()
        numbers = page.get_by_role("region", name="What each token was worth").locator("tr")
        row = numbers.nth(5).locator("data")  # after the heading: [CLS] the food was superb
        assert float(row.nth(0).get_attribute("value") or "nan") == pytest.approx(
            expected["gradient_times_input"][4]
        )
        assert float(row.nth(1).get_attribute("value") or "nan") == pytest.approx(left["4"])


def test_another_class_can_be_explained(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        classify(page, server)
        before = page.locator(".colored").first.inner_html()
        choose = page.get_by_label("For the class")
        other = next(one for one in "12345" if one != choose.input_value())
        choose.select_option(other)
        expect(page.get_by_label("For the class")).to_have_value(other)
        expect(page.locator(".colored").first).not_to_have_js_property("innerHTML", before)


def test_a_run_for_pairs_asks_for_the_second_text(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        page.goto(f"{server.address}#/classify?run=bert")
        expect(page.get_by_role("textbox")).to_have_count(1)
        page.get_by_label("Run").select_option("pairs")
        page.get_by_role("textbox", name="Text", exact=True).fill("food")
        page.get_by_role("textbox", name="Second text").fill("the place")
        page.get_by_role("button", name="Classify").click()
        expect(page.get_by_role("heading", name=re.compile("Class [01],"))).to_be_visible()


def test_what_a_user_types_is_text(browser: Browser, server: WebSettings) -> None:
    with page_of(browser) as page:
        classify(page, server, "<img src=x> fine")
        look(page, server, text="<img src=x>")
        expect(page.get_by_text("Leak meter: no leak")).to_be_visible()
        assert page.locator("main img").count() == 0
