"""README, the manual's first page and CONTRIBUTING agree with each other and with the files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from test_house import BASE, PACKAGE, ROOMS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCUMENTS = [README, ROOT / "docs" / "index.md", ROOT / "CONTRIBUTING.md"]
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+/?|[\w.-]+/|[\w-]+\.(py|md|ipynb|sh|yaml)")
PLANNED = re.compile(r"`([^`]+)` \(\*planned\*\)")
MADE_BY_USERS = ("runs/NAME", "runs/reader", ".venv/")


def named_paths(text: str) -> Iterator[str]:
    """Give what looks like a path of the project: in links, backquotes and python commands."""
    yield from re.findall(r"\]\(([^)#]+)\)", text)
    yield from re.findall(r"\bpython (\S+\.py)", text)
    for quoted in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        yield from (word for word in quoted.split() if PATH.fullmatch(word))


def exists(path: str, document: Path) -> bool:
    """Say whether a path is there, seen from the document, the project or the package."""
    if path in WRITTEN_BY_HOOKS:
        return True
    pattern = re.sub(r"\b(NAME|LAB|JOB)\b", "*", path)
    folders = (document.parent, ROOT, PACKAGE, ROOT / "courses" / "attention")
    return any(any(folder.glob(name)) for folder in folders for name in (pattern, f"{pattern}.py"))


def missing(text: str, document: Path) -> list[str]:
    paths = set(named_paths(PLANNED.sub("", text)))
    return sorted(
        path for path in paths if not path.startswith(MADE_BY_USERS) and not exists(path, document)
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert len(set(named_paths(text))) > 5
    assert missing(text, document) == []


def test_a_path_that_does_not_exist_is_found() -> None:
    text = "`models/gpt` `models/gtp` [a](docs/none.md) `web/x.py` (*planned*) `data/NAME.py`"
    assert missing(text, README) == ["docs/none.md", "models/gtp"]
    assert missing("```bash\npython benchmarks/none.py\n```", README) == ["benchmarks/none.py"]


def test_what_is_called_planned_does_not_exist_yet() -> None:
    contributing = DOCUMENTS[-1].read_text(encoding="utf-8")
    assert [path for path in PLANNED.findall(contributing) if exists(path, ROOT / "x")] == []


WRITTEN_BY_HOOKS = ["log.md", "reference.md", "results.md"]


def pages_of(entries: list[object]) -> list[str]:
    """Give the pages below a part of the navigation, in their order."""
    found: list[str] = []
    for entry in entries:
        pages = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += pages_of(pages) if isinstance(pages, list) else [str(pages)]
    return found


def test_the_first_page_of_the_manual_links_every_other_page_or_chapter() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = pages_of(nav)
    chapters = [page.removesuffix("index.md") for page in pages if page.endswith("/index.md")]
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    below = [page for page in pages if page.startswith(tuple(chapters))]
    inner = {page for page in below if not page.endswith("/index.md")}
    alone = [page for page in pages if page not in inner]
    assert ["index.md", *re.findall(r"(?m)^- \[[^]]+\]\(([\w/]+\.md)\)", index)] == alone
    there = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(pages) == sorted(there + WRITTEN_BY_HOOKS)


def test_the_readme_maps_the_rooms_in_the_order_of_the_house() -> None:
    text = README.read_text(encoding="utf-8")
    there = [room for room in ROOMS if (PACKAGE / room).is_dir()]
    assert re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE) == there
    (base,) = re.findall(r"^\| the base \| (.*) \|", text, re.MULTILINE)
    assert base == ", ".join(f"`{name}.py`" for name in BASE)


def test_the_architecture_page_has_the_same_rooms_in_the_same_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    there = [room for room in ROOMS if (PACKAGE / room).is_dir()]
    assert re.findall(r"^## (\w+)/$", page, re.MULTILINE) == [*there, "benchmarks", "courses"]


def test_the_readme_is_short() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 140
    assert [line for line in lines if len(line) > 100 and not line.startswith("|")] == []
