"""Adds two pages to the manual: the measured results, and the log. A hook of mkdocs.

Both are written when the site is built, from results/ and LOG.md, so they are never out of date.
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
GROUPS = {
    "Attention": ("attention", "dot_product"),
    "Knowledge": ("knowledge",),
    "Classifying text": ("boolq", "comparison", "selection", "sst2", "tuning", "yelp", "finetune"),
    "Training and scale": ("",),
}
"""From a heading to how the names of its results begin; the first that fits counts."""
MARKER = re.compile(r"<!-- /?result\b[^>]*-->")
SHARE = re.compile(r"accuracy|asked after|chance that")
RESULTS = """# Measured results

What was measured is kept in `results/`, one file per result. The manual takes its numbers from
there, and this page, which is written when the site is built, lists them all. A value comes with
its interval: over examples, over seeds, or over the rounds of a timing, as the benchmark says.
Repeat a measurement with its command; the minutes are those it took here. `make results` prints the
same list.

Processors: {processors}.
"""
LOG = """# What did not work

An idea that failed saves the next person a day, so the log keeps it. Entries are dated, newest
first, and include what did work. A number without a link to `results/` is a single look, not a
measured result. This page is `LOG.md`.
"""


def results_page(folder: Path) -> str:
    """Return the page with one table per group."""
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }
    processors = sorted({_processor(one["machine"]) for one in found.values()})
    parts, left = [RESULTS.format(processors="; ".join(processors))], sorted(found)
    for title, beginnings in GROUPS.items():
        names = [name for name in left if name.startswith(beginnings)]
        left = [name for name in left if name not in names]
        rows = "\n".join(row(name, found[name]) for name in names)
        head = (
            "| measured | value | interval | command | minutes | date |\n|---|---|---|---|---|---|"
        )
        parts.append(f"## {title}\n\n{head}\n{rows}\n")
    return "\n".join(parts)


def row(name: str, result: dict[str, Any]) -> str:
    """Return the line of one result."""
    low, high = (shown(value, result["claim"]) for value in result["interval"])
    minutes = f"{result['seconds'] / 60:.0f}" if result["seconds"] >= 30 else "–"
    cells = [
        f"{result['claim'][0].upper()}{result['claim'][1:]} (`{name}`)".replace("|", "\\|"),
        shown(result["value"], result["claim"]),
        f"{low}\u00a0–\u00a0{high}",
        f"`{result['command']}`",
        minutes,
        result["date"],
    ]
    return f"| {' | '.join(cells)} |"


def shown(value: float, claim: str) -> str:
    """Write a share in percent, and anything else with three digits, but never as 3.6e+03."""
    if SHARE.search(claim):
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _processor(machine: dict[str, Any]) -> str:
    cpu = machine["cpu"]
    return f"{cpu['name']}, {cpu['cores']} cores ({', '.join(cpu['features'])})"


def log_page(log: str) -> str:
    """Return LOG.md under the heading of the page."""
    return LOG + "\n" + log[log.index("\n## ") + 1 :]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leave out the markers of numbers: one at the beginning of a line would end its paragraph."""
    return MARKER.sub("", markdown)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages to those of the folder."""
    log = (ROOT / "LOG.md").read_text(encoding="utf-8")
    for name, text in (
        ("results.md", results_page(ROOT / "results")),
        ("log.md", log_page(log)),
    ):
        files.append(File.generated(config, name, content=text))
    return files
