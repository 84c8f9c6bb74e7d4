"""Whose line it is, and the names in it with the words before them."""

from pathlib import Path
from typing import SupportsIndex

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.data.entries import (
    LONGEST_WORD,
    MOST_BEFORE,
    Words,
    has_entries,
    is_entry,
    ordinary_words,
    read_entries,
    read_entry,
    split_name,
)
from attnlab.data.knowledge_files import read_corpus
from attnlab.data.settings import WorldSettings
from attnlab.data.world import make_world

NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("John Stephen. Born in Glasgow.", "John Stephen", "Born in Glasgow."),
        ("J. R. Smith. He sang.", "J. R. Smith", "He sang."),
        ("J.R. Smith. He sang.", "J.R. Smith", "He sang."),
        ("J.R.R. Tolkien. He wrote.", "J.R.R. Tolkien", "He wrote."),
        ("John Q. Public. He voted.", "John Q. Public", "He voted."),
        ("Harry Hood Jr.. He acts.", "Harry Hood Jr.", "He acts."),
        ("Sr. Mary Ann. She taught.", "Sr. Mary Ann", "She taught."),
        ("St. John Ervine. He wrote.", "St. John Ervine", "He wrote."),
        ("Dr. Dre. He raps.", "Dr. Dre", "He raps."),
        ("Édouard Ł. Żak. He painted.", "Édouard Ł. Żak", "He painted."),
        ("Henry 8. He ruled.", "Henry 8", "He ruled."),
        ("Ada Lovelace.", "Ada Lovelace", ""),
        ("Ada Lovelace", "Ada Lovelace", ""),
        ("", "", ""),
    ],
)
def test_a_line_is_split_at_the_first_stop_that_ends_no_initial(
    line: str, name: str, text: str
) -> None:
    assert split_name(line) == (name, text)


@hypothesis.settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_line_can_be_read(line: str) -> None:
    name, text = split_name(line)
    assert line.startswith(name)
    assert line.endswith(text)
    entry = read_entry(line, NONE)
    assert entry.name == name
    for span in entry.spans:
        assert span.text in text
        assert len(span.before) <= MOST_BEFORE


def spans(line: str, ordinary: frozenset[str] = NONE) -> list[str]:
    return [span.text for span in read_entry(line, ordinary).spans]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("born in Glasgow, she left for New York City", ["Glasgow", "New York City"]),
        ("of the Royal Academy of Music and", ["Royal Academy of Music"]),
        ("at the University of the West in", ["University of the West"]),
        ("near Stratford-upon-Avon, not", ["Stratford-upon-Avon"]),
        ("by O'Brien and Ó Briain in Łódź", ["O'Brien", "Ó Briain", "Łódź"]),
        ("with J. R. Smith of", ["J. R. Smith"]),
        ("in Москва and Αθήνα", ["Москва", "Αθήνα"]),
        ("on 3 May 1901 in", ["May"]),
        ("in Paris, Texas", ["Paris", "Texas"]),
        ("of nothing at all", []),
        ("of the", []),
    ],
)
def test_spans_are_runs_of_capitalised_words(text: str, found: list[str]) -> None:
    assert spans(f"Ada. {text}") == found


def test_the_words_to_the_left_stand_with_a_span_the_nearest_last() -> None:
    entry = read_entry("John Stephen. Born in Glasgow, Stephen went to sea at Hull.", NONE)
    assert entry.name == "John Stephen"
    assert [(span.text, span.before) for span in entry.spans] == [
        ("Born", ()),
        ("Glasgow", ("Born", "in")),
        ("Hull", ("Born", "in", "Glasgow,", "Stephen", "went", "to", "sea", "at")),
    ]
    assert entry.spans[1].after == (",", "Stephen", "went", "to", "sea", "at", "Hull.")
    assert len(entry.spans[2].before) == MOST_BEFORE


def test_no_more_words_than_the_most_stand_before_a_span() -> None:
    line = f"Ada. {' '.join(str(n) for n in range(20))} Hull"
    (span,) = read_entry(line, NONE).spans
    assert span.before == tuple(str(n) for n in range(20 - MOST_BEFORE, 20))


def test_an_ordinary_word_at_the_start_of_a_sentence_is_no_name() -> None:
    ordinary = frozenset(["Born", "The", "He"])
    line = "Ada. Born in Oslo. He left! The Hague was home? The end"
    assert spans(line, ordinary) == ["Oslo", "Hague"]
    assert spans(line) == ["Born", "Oslo", "He", "The Hague", "The"]


def test_an_ordinary_word_inside_a_sentence_is_a_name() -> None:
    assert spans("Ada. She wrote The End and Born", frozenset(["The", "Born", "She"])) == [
        "The End",
        "Born",
    ]


def test_words_are_ordinary_that_stand_more_often_in_lower_case() -> None:
    lines = ["Born to be born, born again. May he, may she, May! Oslo"]
    assert ordinary_words(lines) == {"Born"}
    assert ordinary_words([]) == NONE


def test_the_words_of_the_name_itself_are_left_out() -> None:
    line = "Ada King Lovelace. Lovelace met King George and Ada Byron, King Lovelace"
    assert spans(line) == ["King George", "Ada Byron"]


def test_a_corpus_says_for_all_its_lines_what_is_ordinary() -> None:
    lines = ["Ada. Born in Oslo.", "Bela. She was born in Lima.", "Cy. He, born in Rome, was born."]
    entries = read_entries(lines)
    assert [entry.name for entry in entries] == ["Ada", "Bela", "Cy"]
    assert [[span.text for span in entry.spans] for entry in entries] == [
        ["Oslo"],
        ["She", "Lima"],
        ["He", "Rome"],
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("John Stephen. Born in Glasgow.", True),
        ("J. R. Smith. He sang.", True),
        ("Bela. Born in Lima.", True),
        ("John Stephen.", False),
        ("First Citizen:", False),
        ("Speak, speak. We hear.", False),
        ("nothing is capital. Here it is.", False),
        ("One Two Three Four Five Six Seven. Too many words for a name.", False),
        ("", False),
    ],
)
def test_an_entry_begins_with_a_short_name_and_has_a_text(line: str, expected: bool) -> None:
    assert is_entry(line) is expected


def test_a_corpus_of_entries_needs_one_in_ten_blank_lines_aside() -> None:
    other = ["To be, or not to be, that is the question:"] * 9
    assert has_entries(["Ada Smith. Born in Kent.", *other, *[""] * 90])
    assert not has_entries(["Ada Smith. Born in Kent.", *other, "Whether 'tis nobler"])
    assert not has_entries([])
    assert not has_entries(["", " "])


def test_biographies_of_a_made_up_world_are_entries() -> None:
    world = make_world(WorldSettings(people=20, biographies=2))
    assert all(map(is_entry, world.texts))
    assert has_entries(world.texts)


@pytest.mark.data
def test_the_courses_corpus_is_a_list_of_entries_and_shakespeare_is_not(data_folder: Path) -> None:
    wiki = read_corpus(data_folder / "birthplace" / "wiki.txt")
    plays = read_corpus(data_folder / "text" / "tinyshakespeare.txt")
    assert sum(map(is_entry, wiki)) > 0.95 * len(wiki)
    assert sum(map(is_entry, plays)) < 0.01 * len(plays)
    assert (has_entries(wiki), has_entries(plays)) == (True, False)


class Counted(str):
    """A line that counts the characters copied out of it."""

    copied = 0

    def __getitem__(self, place: SupportsIndex | slice) -> "Counted":
        part = Counted(super().__getitem__(place))
        Counted.copied += len(part)
        return part


@pytest.mark.parametrize("kind", ["A,", "The cat. ", "A. ", "Born in Glasgow, ", "A-b of ", "a. "])
def test_reading_a_line_four_times_as_long_copies_four_times_as_much(kind: str) -> None:
    copied = []
    for count in (500, 2000):
        Counted.copied = 0
        line = Counted(f"Name. {kind * count}")
        read_entry(line, frozenset({"The"}))
        is_entry(line)
        copied.append(Counted.copied)
    assert copied[1] < 5 * copied[0] + 1000


@hypothesis.settings(deadline=None)
@given(st.text(st.sampled_from("AbÉ.,- \t\xa0\x1c"), max_size=40), st.integers(0, 40))
def test_the_words_before_a_place_are_the_last_of_what_stands_there(text: str, place: int) -> None:
    assert Words(text).before(place) == tuple(text[:place].split()[-MOST_BEFORE:])


def test_of_a_word_without_end_the_last_characters_are_kept() -> None:
    text = "ab," * 1000
    assert Words(text).before(3000) == (text,)
    assert Words(text).before(2999) == (text[2999 - LONGEST_WORD : 2999],)


def test_the_words_after_a_place_may_begin_with_the_rest_of_one() -> None:
    text = "was born in Hull, where Ann lives"
    words = Words(text)
    assert words.after(text.index(",")) == (",", "where", "Ann", "lives")
    assert words.after(text.index("Hull")) == ("Hull,", "where", "Ann", "lives")
    assert words.after(len(text)) == ()
    assert len(Words("a " * 50).after(0)) == MOST_BEFORE
    assert Words("x" * 999).after(1) == ("x" * LONGEST_WORD,)
