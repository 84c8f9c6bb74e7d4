"""The manual as a site: formulas, the pages that hooks write, and nothing from other hosts."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
MATHEMATICS = runpy.run_path(str(ROOT / "docs" / "mathematics.py"))
RESULTS = runpy.run_path(str(ROOT / "docs" / "results.py"))
REFERENCE = runpy.run_path(str(ROOT / "docs" / "reference.py"))
FIGURES = runpy.run_path(str(ROOT / "docs" / "figures.py"))
WRAPPING = runpy.run_path(str(ROOT / "docs" / "wrapping.py"))


@pytest.mark.parametrize(
    ("latex", "mathml"),
    [
        ("x_i", "<msub><mi>x</mi><mi>i</mi></msub>"),
        ("k_i^\\top", "<msubsup><mi>k</mi><mi>i</mi><mo>⊤</mo></msubsup>"),
        ("\\frac{1}{n}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>n</mn></mrow></mfrac>"),
        ("\\sum_j a", "<munder><mo>∑</mo><mi>j</mi></munder><mi>a</mi>"),
        ("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ],
)
def test_a_formula_becomes_mathml(latex: str, mathml: str) -> None:
    expected = mathml.replace("<mn>n</mn>", "<mi>n</mi>")
    assert MATHEMATICS["mathml"](latex, block=False) == f"<math><mrow>{expected}</mrow></math>"


def test_formulas_in_code_and_prices_are_left_alone() -> None:
    text = "`$x$` costs $5 or $6\n\n```\n$$\nx\n$$\n```\n"
    assert MATHEMATICS["on_page_markdown"](text) == text
    changed = MATHEMATICS["on_page_markdown"]("so $x$ and\n\n$$\ny\n$$\n")
    assert changed.count("<math") == 2
    assert changed.count('display="block"') == 1


@pytest.mark.parametrize("latex", ["\\nope", "{x", "_x", "\\frac{1}"])
def test_a_formula_that_cannot_be_written_is_an_error(latex: str) -> None:
    with pytest.raises(ValueError, match=r"formula|does not know"):
        MATHEMATICS["mathml"](latex, block=True)


def test_the_results_page_has_every_result() -> None:
    page = RESULTS["results_page"](ROOT / "results")
    names = {path.stem for path in (ROOT / "results").glob("*.json")}
    assert set(re.findall(r"\(`(\w+)`\) \|", page)) == names


def test_a_large_number_has_no_exponent() -> None:
    shown = [RESULTS["shown"](value, "milliseconds") for value in (0.0012, 596.4, 3620.7)]
    assert shown == ["0.0012", "596", "3,621"]


def test_the_log_page_is_the_log() -> None:
    log = (ROOT / "LOG.md").read_text(encoding="utf-8")
    page = RESULTS["log_page"](log)
    assert page.startswith("# What did not work\n")
    assert page.endswith(log[log.index("\n## ") :])


def test_markers_of_numbers_do_not_reach_the_site() -> None:
    text = "is <!-- result a.value:.1% -->5.0%<!-- /result --> of\n<!-- results -->\n"
    assert RESULTS["on_page_markdown"](text) == "is 5.0% of\n<!-- results -->\n"


def test_names_in_code_are_broken_between_words_and_flags_stay_whole() -> None:
    changed = WRAPPING["on_page_content"]
    html = "<p>a_b <code>tests/a.py::test_b_c</code></p><pre><code>a_b --lr</code></pre>"
    assert changed(html) == html.replace(
        "tests/a.py::test_b_c", "tests/<wbr>a.py::<wbr>test_<wbr>b_<wbr>c"
    )
    flag, long = "<code>train --lr &lt;a_b&gt;</code>", f"<code>{'a-' * 20}</code>"
    assert changed(flag) == ('<code>train <span class="whole">--lr</span> &lt;a_<wbr>b&gt;</code>')
    assert changed(long) == long
    setting, file = "<code>--set a.b.c=FILE:NAME</code>", "<code>config.json</code>"
    assert "a<wbr>.b<wbr>.c=<wbr>FILE:<wbr>NAME" in changed(setting)
    assert changed(file) == file


def test_the_reference_has_signatures_and_docstrings() -> None:
    page = REFERENCE["page"]()
    assert "#### class AttentionMask" in page
    assert "Put the heads side by side again; undoes `split_heads`." in page
    assert "| `padding` | True where a key is a real token" in page


def test_the_figures_are_up_to_date() -> None:
    for name, draw in FIGURES["FIGURES"].items():
        assert (ROOT / "docs" / "figures" / f"{name}.svg").read_text("utf-8") == draw(), name


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loads = re.compile(r'<(?:script|img|iframe|source)[^>]+src="(?:https?:)?//[^"]+"')
    styles = re.compile(
        r'<link[^>]+rel="(?:stylesheet|preconnect|preload)"[^>]+href="(?:https?:)?//'
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    assert "math" in (site / "tutorial.html").read_text(encoding="utf-8")
    found: list[Any] = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        found += [
            (page.name, match[0]) for match in (*loads.finditer(text), *styles.finditer(text))
        ]
    assert found == []


@pytest.mark.slow
def test_a_link_or_an_anchor_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    validation = settings[settings.index("validation:") :]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\n{validation}")
    for text, code in (("[a](#there)\n\n## There\n", 0), ("[a](#gone)\n", 1), ("[a](b.md)\n", 1)):
        (tmp_path / "docs" / "index.md").write_text(f"# X\n\n{text}")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code, text
