"""The playground in a browser: points move, weights follow, the solver's answers are drawn."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browsers import needs_browser, obstacles_on, page_of
from playwright.sync_api import Browser, Locator, Page, Route, expect
from served import serving

from attnlab.geometry.argmax import argmax_attention
from attnlab.geometry.examples import EXAMPLES, example
from attnlab.geometry.explain import answer
from attnlab.geometry.instance import make_instance, output_of, weights_of
from attnlab.geometry.noise import noisy_heads

pytestmark = [needs_browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("runs")) as settings:
        yield settings.address


@pytest.fixture
def page(address: str, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setattr(answer, "DRAWS", 12)
    with page_of(browser) as opened:
        opened.goto(address)
        yield opened


def play(page: Page, name: str) -> None:
    """Open the playground with an example on its board."""
    page.goto(f"{page.url.split('#')[0]}#/playground?example={name}")
    expect(page.get_by_role("heading", name="One head or two")).to_be_visible()
    expect(page.locator("section[aria-labelledby=heads-title] table")).to_be_visible()


def point(page: Page, label: str) -> Locator:
    return page.get_by_role("slider", name=label, exact=True)


def place_of(page: Page, label: str) -> list[float]:
    """Return a point's coordinates, with all their digits."""
    text = point(page, label).get_attribute("aria-valuetext")
    assert text
    return [float(number) for number in text.split(", ")]


def weights(page: Page) -> list[float]:
    shown = page.locator(".tokens data")
    return [float(one.get_attribute("value") or "nan") for one in shown.all()]


def output(page: Page) -> list[float]:
    return list(json.loads(page.locator("figcaption data").nth(1).get_attribute("value") or ""))


def set_point(page: Page, label: str, numbers: list[float]) -> None:
    page.get_by_role("group", name="Exact values").get_by_role("combobox").select_option(
        label=label
    )
    for axis, number in enumerate(numbers):
        page.get_by_label(f"Coordinate {axis + 1}", exact=True).fill(str(number))


def middle(where: Locator) -> tuple[float, float]:
    where.scroll_into_view_if_needed()
    box = where.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, label: str, *, by: tuple[float, float]) -> None:
    x, y = middle(point(page, label).locator(".dot"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0] / 2, y + by[1] / 2)
    page.mouse.move(x + by[0], y + by[1])
    page.mouse.up()


def instance_on(page: Page, *, tokens: int) -> Any:
    keys = [place_of(page, f"key {i}") for i in range(tokens)]
    values = [place_of(page, f"value {i}") for i in range(tokens)]
    return make_instance(keys, values)


def is_what_geometry_computes(page: Page, *, tokens: int) -> bool:
    instance, query = instance_on(page, tokens=tokens), np.array(place_of(page, "query"))
    return bool(
        np.abs(weights(page) - weights_of(instance.keys, query)).max() < 1e-9
        and np.abs(output(page) - output_of(instance, query)).max() < 1e-9
    )


class TestPoints:
    def test_a_dragged_key_changes_the_weights_to_what_geometry_computes(self, page: Page) -> None:
        play(page, "interior")
        assert weights(page) == [0.25] * 4
        set_point(page, "query", [0.3, -0.7])
        before, old = weights(page), place_of(page, "key 1")
        drag(page, "key 1", by=(-60, -40))
        new = place_of(page, "key 1")
        assert new[0] < old[0] - 0.5
        assert new[1] > old[1] + 0.3
        assert np.abs(np.subtract(weights(page), before)).max() > 0.01
        assert is_what_geometry_computes(page, tokens=4)

    def test_values_and_the_query_can_be_dragged_too(self, page: Page) -> None:
        play(page, "interior")
        drag(page, "query", by=(50, 30))
        drag(page, "value 2", by=(40, 25))
        assert place_of(page, "query")[0] > 0.5
        assert place_of(page, "value 2") != [-1, 0]
        assert is_what_geometry_computes(page, tokens=4)

    def test_a_finger_drags_a_point(self, page: Page) -> None:
        play(page, "interior")
        x, y = middle(point(page, "key 2").locator(".dot"))
        touch = page.context.new_cdp_session(page)
        for kind, spots in (
            ("touchStart", [(x, y)]),
            ("touchMove", [(x + 20, y + 30)]),
            ("touchMove", [(x + 40, y + 60)]),
            ("touchEnd", []),
        ):
            spot = [{"x": a, "y": b} for a, b in spots]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": spot})
        found = place_of(page, "key 2")
        assert found[0] > 0.5
        assert found[1] < 3.5

    def test_the_arrow_keys_move_a_focused_point_and_the_weights_are_announced(
        self, page: Page
    ) -> None:
        play(page, "interior")
        point(page, "query").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Shift+ArrowUp")
        assert place_of(page, "query") == [0.1, 0.6]
        assert is_what_geometry_computes(page, tokens=4)
        shares = ", ".join(f"token {i} {weight:.2f}" for i, weight in enumerate(weights(page)))
        expect(page.get_by_role("status").first).to_contain_text(f"Weights: {shares}. Output: [")

    def test_a_third_coordinate_is_moved_by_page_up_and_by_its_slider(self, page: Page) -> None:
        play(page, "cse517")
        point(page, "key 1").focus()
        page.keyboard.press("PageUp")
        assert place_of(page, "key 1") == [0.64, 0.5, pytest.approx(-0.56)]
        page.get_by_label("Coordinate 3, slider").press("ArrowRight")
        assert place_of(page, "key 1")[2] > -0.56
        assert is_what_geometry_computes(page, tokens=4)

    def test_a_drag_in_space_keeps_to_the_pointer_however_it_is_turned(self, page: Page) -> None:
        play(page, "cse517")
        for angle, step in (("Turn the view", "ArrowLeft"), ("Tilt the view", "ArrowRight")):
            for _ in range(9):
                page.get_by_label(angle).press(step)
        x, y = middle(point(page, "key 3").locator(".dot"))
        drag(page, "key 3", by=(-25, -30))
        found = middle(point(page, "key 3").locator(".dot"))
        assert found == pytest.approx((x - 25, y - 30), abs=1)
        assert is_what_geometry_computes(page, tokens=4)

    def test_exact_numbers_tokens_and_dimensions(self, page: Page) -> None:
        play(page, "midpoint")
        set_point(page, "query", [0.123456789, -2])
        page.get_by_role("button", name="Add a token").click()
        page.get_by_role("button", name="Remove token 0").click()
        page.get_by_label("Dimensions").select_option("3")
        assert place_of(page, "query") == [0.123456789, -2, 0]
        assert place_of(page, "key 0") == [2, 2, 0]
        set_point(page, "value 3", [1, 2, 3])
        assert place_of(page, "value 3") == [1, 2, 3]
        assert is_what_geometry_computes(page, tokens=4)


class TestArithmetic:
    def test_a_page_that_computes_something_else_is_noticed(self, page: Page) -> None:
        def spoil(route: Route) -> None:
            fetched = route.fetch()
            right, wrong = "(score - best) / temperature", "(score - best) / (temperature + 1e-6)"
            assert right in fetched.text()
            route.fulfill(response=fetched, body=fetched.text().replace(right, wrong))

        page.route("**/attention.js", spoil)
        play(page, "interior")
        set_point(page, "query", [0.3, -0.7])
        assert not is_what_geometry_computes(page, tokens=4)

    def test_the_page_computes_what_geometry_does_at_any_temperature(self, page: Page) -> None:
        draw = np.random.default_rng(5)
        for temperature in (1.0, 0.03, 7.5, 0.0):
            instance = make_instance(draw.normal(size=(7, 3)) * 9, draw.normal(size=(7, 2)))
            query = draw.normal(size=3) * 20
            found = page.evaluate(
                """async ([keys, values, query, temperature]) => {
                    const {meanOf, weightsOf} = await import("/playground/attention.js");
                    const weights = weightsOf(keys, query, temperature);
                    return [weights, meanOf(values, weights)];
                }""",
                [instance.keys.tolist(), instance.values.tolist(), query.tolist(), temperature],
            )
            if temperature == 0:
                hard = argmax_attention(instance, query)
                expected = np.eye(7)[list(hard.winners)].mean(axis=0)
                assert np.abs(found[1] - hard.output).max() < 1e-9
            else:
                expected = weights_of(instance.keys, query / temperature)
                assert np.abs(found[1] - expected @ instance.values).max() < 1e-9
            assert np.abs(found[0] - expected).max() < 1e-9

    def test_the_temperature_goes_down_to_argmax_where_a_tie_is_shared(self, page: Page) -> None:
        play(page, "argmax")
        heat = page.get_by_label("Temperature")
        heat.press("ArrowLeft")
        instance, query = example("argmax"), np.array([-2.0, 1, 1])
        assert weights(page) == pytest.approx(
            weights_of(instance.keys, query / 10**-0.05), abs=1e-9
        )
        heat.press("Home")
        assert weights(page) == [1, 0, 0, 0]
        assert output(page) == argmax_attention(instance, query).output.tolist()
        set_point(page, "query", [0, 1, 0])
        assert weights(page) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-15)


class TestSolver:
    def test_a_query_that_selects_is_taken_over_and_its_half_plane_is_drawn(
        self, page: Page
    ) -> None:
        play(page, "interior")
        page.get_by_label("Temperature").press("Home")
        page.get_by_role("button", name="Select token 1").click()
        verdict = page.get_by_role("heading", name="All weight on token 1: in the limit")
        expect(verdict).to_be_visible()
        assert weights(page) == pytest.approx([0, 1, 0, 0], abs=1e-6)
        assert output(page) == pytest.approx([0, 1], abs=1e-6)
        assert is_what_geometry_computes(page, tokens=4)
        expect(page.locator(".plane .border")).to_have_count(1)
        expect(page.locator(".plane .lower")).to_have_count(1)
        expect(page.get_by_text("all others lie in the shaded half-plane")).to_be_visible()

    def test_an_impossible_wish_shows_the_reason_and_the_hull_around_the_key(
        self, page: Page
    ) -> None:
        play(page, "interior")
        page.get_by_role("button", name="Select token 3").click()
        expect(page.get_by_role("heading", name="All weight on token 3: never")).to_be_visible()
        expect(page.get_by_text("k3 = 0.5·k0 + 0.25·k1 + 0.25·k2")).to_contain_text(
            "its weight never exceeds 0.2612"
        )
        corners = page.locator(".plane .others").get_attribute("points") or ""
        drawn = {tuple(map(float, corner.split(","))) for corner in corners.split()}
        assert drawn == {(0, 0), (80, 0), (0, -80)}
        cross = page.locator(".plane .meeting").get_attribute("transform") or ""
        spot = [float(number) for number in re.findall(r"[-\d.]+", cross)]
        assert spot == pytest.approx([20, -20])

        drag(page, "key 3", by=(80, -60))
        expect(page.locator(".plane .others")).to_have_count(0)
        page.get_by_role("button", name="Select token 3").click()
        expect(page.get_by_role("heading", name="token 3: in the limit")).to_be_visible()

    def test_ticked_tokens_are_averaged(self, page: Page) -> None:
        play(page, "cse517")
        average = page.get_by_role("button", name="Average the ticked tokens")
        expect(average).to_be_disabled()
        page.get_by_label("Average token 1").check()
        page.get_by_label("Average token 0").check()
        average.click()
        words = "Equal weight on tokens 0 and 1, none elsewhere: in the limit"
        expect(page.get_by_role("heading", name=words)).to_be_visible()
        expect(page.get_by_text("[7.15353668, 9.43375599, -0.167195095]")).to_be_visible()
        assert weights(page) == pytest.approx([0.5, 0.5, 0, 0], abs=1e-6)
        expect(page.locator(".plane .border")).to_have_count(1)

    def test_an_output_may_be_had_where_its_weights_may_not(self, page: Page) -> None:
        play(page, "midpoint")
        page.get_by_role("button", name="Select token 2").click()
        expect(page.get_by_text("Their output alone, [0.5, 0.5]: in the limit")).to_be_visible()
        page.get_by_role("button", name="Use this query").click()
        assert output(page) == pytest.approx([0.5, 0.5], abs=1e-6)


def test_noisy_keys_are_drawn_again_with_the_numbers_of_geometry(page: Page) -> None:
    play(page, "interior")
    for seed in (0, 1):
        drawn = noisy_heads(seed=seed)
        one, two = (f"{drawn.deviation(heads):.3f}" for heads in (1, 2))
        expect(page.get_by_text(f"Seed {seed}: ")).to_contain_text(
            f"a standard deviation of {one} with one head and of {two} with two"
        )
        assert page.locator(".figures figure").count() == 3
        page.get_by_role("button", name="Draw again").click()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_shown_and_solved(page: Page, name: str) -> None:
    play(page, name)
    expected = weights_of(example(name).keys, np.array(place_of(page, "query")))
    assert weights(page) == pytest.approx(expected.tolist(), abs=1e-12)
    page.get_by_role("button", name="Select token 0").click()
    expect(page.get_by_role("heading", name="All weight on token 0")).to_be_visible()


def test_everyone_can_use_it(any_page: Page, address: str) -> None:
    any_page.goto(address)
    play(any_page, "interior")
    any_page.get_by_role("button", name="Select token 3").click()
    expect(any_page.get_by_role("heading", name="never")).to_be_visible()
    assert obstacles_on(any_page) == []
