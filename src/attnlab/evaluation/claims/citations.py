"""Which runs a text cites: by the name of a run, of a study, of a study's cell or condition.

A name is cited where it stands as code, in bold or italics, in the target of a link, or alone in a
cell of a table; a name that no word could be, such as `reader-2`, wherever it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from attnlab.attention.conditions import condition_of
from attnlab.errors import did_you_mean
from attnlab.runs.directory import Run
from attnlab.runs.lookup import names_in
from attnlab.runs.study import STUDY, Study

_MARKED = re.compile(
    r"\[(?P<text>[^\]\n]{0,300})\]\((?P<target>[^)\s]{0,500})[^)\n]{0,200}\)"
    r"|`{1,3}(?P<code>[^`]{1,300})`{1,3}"
    r"|\*\*(?P<bold>[^*\n]{1,300})\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*\n]{0,300})\*(?![\w*])"
)
"""What may mark a name. The lengths are bounded so that a hostile text takes no longer to read."""
_NO_WORD = re.compile(r"[\d_/=-]")
_SETTING = re.compile(r"\s*[\w.]+\s*[=:]\s*\S+\s*")
NAME = "¤"
"""What names are blanked with, so that it is known where they stood."""
_MADE_NAME = re.compile(r"[a-z]+(?:-[a-z]+)+-[0-9a-f]{8}")


@dataclass(frozen=True)
class Cited:
    """What a name stands for: one run, or several of one condition or study."""

    name: str
    paths: tuple[Path, ...]

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Open the runs; of a study, those that it compares."""
        opened = (
            Study.open(path).opened() if (path / STUDY).exists() else [Run.open(path)]
            for path in self.paths
        )
        return tuple(chain(*opened))


@dataclass(frozen=True)
class Mention:
    """A place where something is cited."""

    cited: Cited
    start: int
    end: int


@dataclass(frozen=True)
class Read:
    """A piece of text with what it cites."""

    plain: str
    """The text of the same length, without code and marks, and with ``NAME`` for names."""
    mentions: tuple[Mention, ...] = ()
    unknown: tuple[tuple[int, str], ...] = ()
    """Where it seems to cite a run, and what is wrong with that."""


class Library:
    """The runs that can be cited."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._found: dict[str, list[Cited]] = {}
        for name in names_in(root):
            self._add(name, Cited(name, (root / name,)))
            if "/" in name:
                self._add(name.rpartition("/")[2], Cited(name, (root / name,)))
        for name, cited in _conditions(root, list(self._found)):
            self._add(name, cited)

    def _add(self, name: str, cited: Cited) -> None:
        self._found.setdefault(name, []).append(cited)

    @property
    def names(self) -> Mapping[str, Sequence[Cited]]:
        """Everything that can be cited; a name that stands in two studies has two."""
        return self._found

    def read(self, text: str, *, studies: Sequence[str] = (), is_cell: bool = False) -> Read:
        """Find what a text cites; of the same name in two studies, that of a cited study."""
        mentions, unknown, plain = list[Mention](), list[tuple[int, str]](), list(text)
        for match in _MARKED.finditer(text):
            name = self._marked_name(match)
            span = range(*match.span())
            if name:
                self._cite(name, span, studies, mentions, unknown)
            elif wrong := self._missing(match):
                unknown.append((match.start(), wrong))
            _blank(plain, match, is_name=bool(name))
        for name, span in self._bare_names("".join(plain), is_cell=is_cell):
            self._cite(name, span, studies, mentions, unknown)
            plain[span.start : span.stop] = NAME * len(span)
        mentions.sort(key=lambda one: one.start)
        return Read("".join(plain), tuple(mentions), tuple(unknown))

    def _cite(
        self,
        name: str,
        span: range,
        studies: Sequence[str],
        mentions: list[Mention],
        unknown: list[tuple[int, str]],
    ) -> None:
        found = self._found[name]
        of_studies = [one for one in found if one.name.partition("/")[0] in studies]
        if len(candidates := of_studies or found) == 1:
            mentions.append(Mention(candidates[0], span.start, span.stop))
        else:
            listed = ", ".join(one.name for one in candidates)
            unknown.append((span.start, f"{name} may be one of {listed}: cite it as STUDY/NAME"))

    def _marked_name(self, match: re.Match[str]) -> str | None:
        inner = match["text"] or match["code"] or match["bold"] or match["italic"] or ""
        inner = inner.strip("`* \n").rstrip("/")
        if inner in self._found:
            return inner
        return self._name_in_path(match["target"] or inner)

    def _name_in_path(self, path: str) -> str | None:
        """Find a run in a path such as ``../runs/demo/recall/report/report.html``."""
        parts = path.split("/")
        if self.root.name not in parts[:-1]:
            return None
        below = parts[len(parts) - parts[::-1].index(self.root.name) :]
        names = ("/".join(below[:2]), below[0])
        return next((name for name in names if name in self._found), None)

    def _missing(self, match: re.Match[str]) -> str | None:
        """Say so where a run is cited that does not exist."""
        path = (match["target"] or match["code"] or "").strip()
        parts = path.split("/")
        if _MADE_NAME.fullmatch(path):
            name = path
        elif len(parts) > 1 and parts[-2] == self.root.name and "." not in parts[-1]:
            name = parts[-1]
        else:
            return None
        return f"no run in {self.root} is called {name!r}.{did_you_mean(name, self._found)}"

    def _bare_names(self, text: str, *, is_cell: bool) -> Iterator[tuple[str, range]]:
        if is_cell and text.strip() in self._found:
            start = text.index(text.strip())
            yield text.strip(), range(start, start + len(text.strip()))
        elif self._bare:
            for match in self._bare.finditer(text):
                yield match[0], range(*match.span())

    @cached_property
    def _bare(self) -> re.Pattern[str] | None:
        names = sorted(filter(_NO_WORD.search, self._found), key=len, reverse=True)
        listed = "|".join(map(re.escape, names))
        return re.compile(rf"(?<![\w/.-])(?:{listed})(?![\w/-]|\.\w)") if names else None


def _conditions(root: Path, names: Sequence[str]) -> Iterator[tuple[str, Cited]]:
    """Give the conditions of studies whose cells are called CONDITION-seed-N."""
    groups: dict[tuple[str, str], list[Path]] = {}
    for name in names:
        study, _, cell = name.partition("/")
        condition = condition_of(cell)
        if condition and cell == f"{condition}-seed-{cell.rpartition('-')[2]}":
            groups.setdefault((study, condition), []).append(root / name)
    for (study, condition), paths in groups.items():
        cited = Cited(f"{study}/{condition}", tuple(paths))
        yield condition, cited
        yield cited.name, cited


def _blank(plain: list[str], match: re.Match[str], *, is_name: bool) -> None:
    """Blank a name or code; keep the words of a link, and code that gives a setting."""
    code = match["code"]
    group = "code" if code and _SETTING.fullmatch(code) else None
    for kind in ("text", "bold", "italic"):
        group = kind if match[kind] is not None else group
    kept = range(*match.span(group)) if group and not is_name else range(0)
    for place in range(*match.span()):
        if place not in kept and plain[place] != "\n":
            plain[place] = NAME if is_name else " "
