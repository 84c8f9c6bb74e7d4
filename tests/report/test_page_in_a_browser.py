"""The page as a browser lays it out: on a desk and on a phone, light and dark."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from records import answers, classifier_run, labelled_run, seal_again

from attnlab.recipes.reporting import report_on
from attnlab.runs.metrics import MetricsFile

pytestmark = pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")

MEASURE = """
<script>
addEventListener("load", () => {
  const inside = document.querySelector("iframe").contentDocument;
  const shown = [...inside.querySelectorAll("svg")]
    .filter(svg => svg.getBoundingClientRect().width);
  const size = text => parseFloat(inside.defaultView.getComputedStyle(text).fontSize)
    * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
  const right = element => element.getBoundingClientRect().right;
  document.title = JSON.stringify({
    needed: inside.documentElement.scrollWidth,
    there: inside.defaultView.innerWidth,
    paper: inside.defaultView.getComputedStyle(inside.body).backgroundColor,
    cut: [...inside.querySelectorAll("h1, h2, li, figcaption, footer, svg, svg text")]
      .filter(element => right(element) > inside.documentElement.clientWidth)
      .map(element => element.textContent.trim()),
    cues: [...inside.querySelectorAll(".scroll")].filter(box => box.scrollWidth > box.clientWidth)
      .map(box => inside.defaultView.getComputedStyle(box).backgroundAttachment),
    figures: shown.length,
    sizes: [...new Set(shown.flatMap(svg => [...svg.querySelectorAll("text")])
      .map(text => Math.round(size(text))))],
  });
});
</script>
"""


def seen(page: Path, folder: Path, *, width: int, dark: bool) -> dict[str, Any]:
    """Measure a page in a frame of a width: a window cannot be as narrow as a phone."""
    outer = folder / "outer.html"
    frame = f'<iframe src="{page.as_uri()}" width="{width}" height="800" style="border:0"></iframe>'
    outer.write_text(
        f'<!doctype html><meta name="color-scheme" content="light dark">{MEASURE}{frame}'
    )
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--allow-file-access-from-files", "--hide-scrollbars",
         f"--user-data-dir={folder / 'profile'}", "--window-size=1500,900",
         "--enable-logging=stderr", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
         "--dump-dom", outer.as_uri()],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    if done.returncode and not done.stdout:
        pytest.skip(f"chromium does not start here: {done.stderr[-200:]}")
    assert "Uncaught" not in done.stderr, done.stderr
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stderr
    return dict(json.loads(unescape(title[1])))


def two_runs(root: Path) -> list[Path]:
    """Write runs with long names, long texts, a curve and a single evaluation."""
    paths = []
    for number, right in enumerate((20, 33)):
        gold, predicted = answers(right, 40)
        settings = {"lr": 0.1 * (1 + number), "note": "<b>&" + "long " * 40}
        name = "a-long-name-" * 9 + str(number)
        run = classifier_run(root, name, gold=gold, predicted=predicted, settings=settings)
        metrics = MetricsFile(run.path / "metrics.jsonl", keep=0)
        for step in range(1, 30):
            metrics.append({"step": step, "loss": 3 / step})
        metrics.append({"step": 29, "dev_accuracy": 0.5, "train_accuracy": 0.7})
        metrics.close()
        seal_again(run)
        paths.append(run.path)
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 400], ids=["desk", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_cut_off_and_figures_have_the_size_of_the_text(
    width: int, dark: bool, tmp_path: Path
) -> None:
    page = report_on(two_runs(tmp_path), tmp_path / "out", as_markdown=False)
    found = seen(page, tmp_path, width=width, dark=dark)
    assert found["needed"] <= found["there"] == width
    assert found["cut"] == []
    assert found["sizes"] == [16]
    assert found["figures"] == 2, "each is shown once, for a desk or for a phone"
    assert (int(re.findall(r"\d+", found["paper"])[0]) < 100) == dark
    if width == 400:
        assert found["cues"], "a wide table scrolls in a box of its own"
    assert all("local" in cue and "scroll" in cue for cue in found["cues"])


@pytest.mark.parametrize("width", [1400, 400], ids=["desk", "phone"])
def test_the_classes_of_a_classifier_fit_too(width: int, tmp_path: Path) -> None:
    classes = [f"{number} stars, more or less" for number in range(1, 13)]
    run = labelled_run(tmp_path, classes)
    page = report_on([run.path], tmp_path / "out", as_markdown=False)
    found = seen(page, tmp_path, width=width, dark=False)
    assert found["needed"] <= found["there"] == width
    assert (found["cut"], found["sizes"], found["figures"]) == ([], [16], 2)


def test_the_check_sees_what_is_cut_off(tmp_path: Path) -> None:
    page = report_on(two_runs(tmp_path), tmp_path / "out", as_markdown=False)
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace(".phone { display: block; }", ".desk { display: block; width: 57rem; }")
    )
    found = seen(page, tmp_path, width=400, dark=False)
    assert found["needed"] > found["there"] or found["cut"] or found["sizes"] != [16]
