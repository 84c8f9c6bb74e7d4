"""The attention assignment's page limits: three for section 1, five for 2.2, four for section 3."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import markdown
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium"),
]
ANSWERS = Path(__file__).parents[2] / "docs" / "answers"
TEXT = "".join(f"line {i} of a text that says {i * i % 97} things\n" for i in range(300))
SMALL = (  # the topic with the most conditions, and figures of scores, curves and costs
    "--topic aft --seeds 1 --length 2steps --match flops --set cost_lengths=[16,32]"
    " --set base.model.d_model=12 --set base.model.n_heads=3"
    " --set base.model.n_layers=1 --set base.objective.options.block=16"
    " --set base.batch_tokens=160 --name small"
).split()


def printed_pages(page: Path) -> int:
    """Print a page to PDF, as a browser does, and count the sheets."""
    pdf = page.with_suffix(".pdf")
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", f"--user-data-dir={page.parent / 'profile'}",
         "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri()],
        capture_output=True, check=True, timeout=90,
    )  # fmt: skip
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes()))


def answers(name: str, *, section: str = "") -> str:
    """Return the written answers of a page, or of one section, as a report prints them."""
    text = (ANSWERS / name).read_text(encoding="utf-8")
    if section:
        text = text[text.index(section) :]
        text = text[: text.find("\n## ", 1)]
    text = re.sub(r"^Check: .*?(?=\n\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    body = markdown.markdown(text, extensions=["tables", "fenced_code"])
    style = "body{font:11pt/1.35 serif} pre,code{font-size:9pt} img{max-width:100%}"
    return f"<!doctype html><meta charset=utf-8><style>{style}</style>{body}"


@pytest.mark.parametrize(
    ("name", "section", "limit"),
    [("attention.md", "## 1. Queries and keys by hand", 3), ("sst2.md", "", 4)],
    ids=["section 1", "section 3"],
)
def test_the_written_answers_fit(tmp_path: Path, name: str, section: str, limit: int) -> None:
    page = tmp_path / "report.html"
    page.write_text(answers(name, section=section), encoding="utf-8")
    assert 1 <= printed_pages(page) <= limit


def test_the_mini_report_of_a_topic_fits_into_five_pages(tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(TEXT)
    command = [sys.executable, "-m", "attnlab", "attention", "ablate", "prose.txt", *SMALL]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 1 <= printed_pages(tmp_path / "runs" / "small" / "report" / "report.html") <= 5
