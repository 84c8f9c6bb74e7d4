"""What the columns of a file are called: the usual names, those a user gives, and unknown ones."""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from attnlab.errors import UserError, did_you_mean

NAMES = {
    "label": ("label", "stars", "answer"),
    "text": ("text", "sentence", "review", "text_a", "sentence1", "question"),
    "pair": ("pair", "text_b", "sentence2", "passage"),
}
"""What a header or a JSON key may call each of the three."""
CALLED = "".join(f" A {field} is called {' or '.join(names)}." for field, names in NAMES.items())
FIELD = {name: field for field, names in NAMES.items() for name in names}
SKIP = "-"
NAME_LIKE = re.compile(r"[^\W\d]\w*([ -]\w+){0,2}")
"""One to three words, as headers have them; an underscore is part of a word already."""
LONGEST_SHOWN = 60


def field_called(name: str) -> str | None:
    """Return what a column of that name is."""
    return FIELD.get(name.strip().lower())


def named_fields(place: str, header: Sequence[str], named: Mapping[str, str]) -> list[str]:
    """Say what each column is: what the user says, else by a usual name; the rest is skipped.

    A file may lack the label, as texts to predict do.
    """
    header = [name.strip() for name in header]
    for field, name in named.items():
        if name not in header and field != "label":
            raise UserError(
                f"{place}: no column is called {name!r} in {short(header)}."
                f"{did_you_mean(name, header)} Give --{field}-column with one of these, or"
                " --columns if the file has no header."
            )
    field_of = {name: field for field, name in named.items()}
    for name in header:
        usual = field_called(name)
        if usual and usual not in named:
            field_of.setdefault(name, usual)
    fields = [field_of.get(name, SKIP) for name in header]
    check_fields(f"{place}: the header", header, [f for f in fields if f != SKIP], hint=CALLED)
    return fields


def check_fields(what: str, given: Sequence[str], fields: Sequence[str], *, hint: str) -> None:
    """Refuse columns without a text, or with two of a kind."""
    if "text" not in fields or len(set(fields)) < len(fields):
        raise UserError(
            f"{what} must name one text, and at most one label and one pair, not"
            f" {short(given)}.{hint}"
        )


def is_unknown_header(rows: Sequence[Sequence[str]], fields: Sequence[str]) -> bool:
    """Tell a header of unknown names, as ``rating,body``, from a first example.

    It consists of a few words, and what stands in the label's place never comes again, though
    labels do.
    """
    first, rest = rows[0], rows[1:]
    if "label" not in fields or not all(map(NAME_LIKE.fullmatch, first)):
        return False
    at = fields.index("label")
    labels = Counter(cells[at].strip() for cells in rest if len(cells) == len(first))
    return first[at].strip() not in labels and max(labels.values(), default=0) > 1


def unknown_columns(
    place: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, more: str = ""
) -> UserError:
    """Build the error that offers the very flags with which the file can be read."""
    known, guessed = _guess(header, rows)
    flags = {field: f"--{field}-column" for field in guessed or known}
    example = " ".join(f"{flags[f]} {shlex.quote((known | guessed)[f])}" for f in flags)
    if "text" in known:
        strange = next(name for name in header if not field_called(name))
        problem = f"the column {strange!r} is not known in {short(header)}"
    else:
        problem = f"no column is known as the text in {short(header)}"
    return UserError(
        f"{place}: {problem}. Give {' and '.join(flags.values())}, for example: {example}{more}"
    )


def _guess(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns with usual names, and what the others may be.

    The text is where the most characters are, the label where the fewest different values are.
    """
    known = {field: name.strip() for name in header if (field := field_called(name))}
    cells = {
        name.strip(): [row[i] for row in rows if len(row) == len(header)]
        for i, name in enumerate(header)
        if not field_called(name)
    }
    guessed: dict[str, str] = {}
    if "text" not in known and cells:
        guessed["text"] = max(cells, key=lambda name: sum(map(len, cells[name])))
        del cells[guessed["text"]]
    if "label" not in known and cells:
        guessed["label"] = min(cells, key=lambda name: len(set(cells[name])))
    return known, guessed


def short(value: str | Sequence[str]) -> str:
    """Quote the beginning of what a user wrote."""
    text = value if isinstance(value, str) else ", ".join(value)
    return repr(text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…")
