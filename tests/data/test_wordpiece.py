"""WordPiece is what the tokenizers library makes of a text, and no text can forge a special token.

The library is given each vocabulary without special tokens of its own, so that it, too, takes
"[SEP]" for text.
"""

import csv
import random
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from attnlab.data import wordpiece
from attnlab.data.wordpiece import NORMALIZED_AT_ONCE, SPECIAL, Encoded, WordPiece
from attnlab.errors import UserError

WORDS = "the cafe wasn ' t una ##ffa ##ble . [ ] sep mask $ 中 文 ##s a ##a".split()
SMALL = WordPiece([*SPECIAL, *WORDS])


def tokens_of(vocabulary: WordPiece, text: str) -> list[str]:
    return [vocabulary.id_to_token[token] for token in vocabulary.encode(text)]


def library(tokens: Sequence[str], *, lowercase: bool) -> Tokenizer:
    ids = {token: i for i, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    return made


def check_against_the_library(text: str, *, lowercase: bool) -> None:
    """Compare the tokens of a vocabulary that has every character, so that nothing is hidden."""
    plain = library(SPECIAL, lowercase=lowercase).normalizer.normalize_str(text)
    characters = sorted({*plain, *text, *text.lower()} - set(wordpiece.WHITE))
    tokens = [*SPECIAL, *characters, *(f"##{character}" for character in characters)]
    theirs = library(tokens, lowercase=lowercase).encode(text, add_special_tokens=False)
    ours = WordPiece(tokens, lowercase=lowercase)
    ids = ours.encode(text)
    assert ids == theirs.ids
    assert [ours.id_to_token[token] for token in ids] == theirs.tokens


def is_old(character: str) -> bool:
    """Say whether Python and the library, whose tables are of Unicode 8, must agree on it.

    A newer mark, punctuation or format character, or one with a decomposition or in capitals, may
    be known to one of the two only. Python has one older table, that of Unicode 3.2 (2002).
    """
    kind, earlier = (db.category(character) for db in (unicodedata, unicodedata.ucd_3_2_0))
    if earlier != "Cn":
        return kind == earlier
    is_plain = character.lower() == unicodedata.normalize("NFD", character) == character
    return is_plain and kind in {"Co", "Ll", "Lm", "Lo", "Nd", "Nl", "No", "Sc", "Sk", "Sm", "So"}


old = st.characters(exclude_categories=["Cs"]).filter(is_old)
texts = st.text(old | st.sampled_from(" \tabAB.,[]#$^'\0\x1c\x85\xa0\u200b\u0301éÉİΣ文\ufffd"))


def test_a_text_becomes_words_and_words_become_pieces() -> None:
    text = "The café wasn't unaffable."
    pieces = "the cafe wasn ' t una ##ffa ##ble .".split()
    assert tokens_of(SMALL, text) == pieces
    assert SMALL.encode(text) == [SMALL.id_to_token.index(piece) for piece in pieces]


def test_a_vocabulary_knows_its_special_tokens() -> None:
    vocabulary = WordPiece(["the", "[MASK]", "[SEP]", "[PAD]", "[CLS]", "[UNK]"])
    assert len(vocabulary) == 6
    names = ("mask", "sep", "pad", "cls", "unk")
    assert [getattr(vocabulary, name) for name in names] == [1, 2, 3, 4, 5]
    assert vocabulary.special_ids == {1, 2, 3, 4, 5}
    assert vocabulary.id_to_token[vocabulary.encode("The")[0]] == "the"


def test_tokens_are_spelled_as_in_the_vocabulary_and_only_some_come_from_no_text() -> None:
    row = SMALL.row("unaffable x", max_len=8).tokens
    assert SMALL.pieces(row) == ["[CLS]", "una", "##ffa", "##ble", "[UNK]", "[SEP]"]
    framing = [token in SMALL.framing_ids for token in row]
    assert framing == [True, False, False, False, False, True]


def test_nothing_has_no_tokens() -> None:
    assert SMALL.encode("") == SMALL.encode(" \n\u3000\0\u200b") == []


@pytest.mark.parametrize("lowercase", [True, False])
@hypothesis.settings(deadline=None)
@given(text=texts)
@hypothesis.example("\x1ca\x85b\x0bc\x0cd\x7fe\u2028f\ufffd\ufeffg")
@hypothesis.example("ΟΔΟΣ ὈΔΟΣ. İIıi ẞß ǅǆ K Å \u1e9b\u0323 각")
def test_any_text_has_the_tokens_that_the_library_gives_it(lowercase: bool, text: str) -> None:
    check_against_the_library(text, lowercase=lowercase)


def characters() -> Iterator[str]:
    """All characters of the first two planes, and those at the edges of blocks beyond."""
    edges = chain.from_iterable(wordpiece._IDEOGRAPHS)
    beyond = [edge + step for edge in edges for step in (-1, 0, 1)]
    codes = chain(range(0x20000), beyond, range(0xE0000, 0xE0200), [0xF0000, 0x10FFFD])
    return (chr(code) for code in codes if not 0xD800 <= code < 0xE000)


@cache
def old_characters() -> list[str]:
    """Return the characters on which Python and the library must agree."""
    return [c for c in characters() if is_old(c)]


@pytest.mark.slow
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_is_treated_as_the_library_treats_it(lowercase: bool) -> None:
    known = old_characters()
    assert len(known) > 80_000
    for begin in range(0, len(known), 4096):
        text = " ".join(f"a{character}b" for character in known[begin : begin + 4096])
        check_against_the_library(text, lowercase=lowercase)


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("_CLEAN", lambda c: c),
        ("_CLEAN", lambda c: "" if unicodedata.category(c)[0] == "C" else c),
        ("_FOLDED", lambda c: wordpiece._apart(c).lower()),
        ("_FOLDED", lambda c: c.lower()),
        ("_FOLDED", lambda c: wordpiece._folded(c).replace("σ", "ς")),
        ("_FOLDED", lambda c: c.lower() if c == "$" else wordpiece._folded(c)),
    ],
    ids=["nothing cleaned", "ideographs", "accents", "punctuation", "final sigma", "dollar"],
)
def test_the_comparison_notices_a_wrong_rule(
    monkeypatch: pytest.MonkeyPatch, table: str, wrong: object
) -> None:
    text = "Ça\0va, ΟΔΟΣ: 5$a 中文!"
    check_against_the_library(text, lowercase=True)
    monkeypatch.setattr(wordpiece, table, wordpiece._Table(wrong))
    with pytest.raises(AssertionError):
        check_against_the_library(text, lowercase=True)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("İzmir", "izmir"),
        ("ΟΔΟΣ", "οδοσ"),
        ("STRASSE ẞ", "strasse ß"),
        ("Ǆ ǅ", "ǆ ǆ"),
        ("\u212a \u212b", "k a"),
        ("e\u0301 \u00e9", "e e"),
        ("a\u200db\ufe0f", "ab"),
        ("\u037e", ";"),
    ],
)
def test_every_character_is_made_lower_case_by_itself(text: str, becomes: str) -> None:
    check_against_the_library(text, lowercase=True)
    vocabulary = WordPiece([*SPECIAL, *dict.fromkeys(becomes.split())])
    assert tokens_of(vocabulary, text) == becomes.split()


def test_a_cased_vocabulary_keeps_capitals_and_accents() -> None:
    vocabulary = WordPiece([*SPECIAL, "Émile", "Emile", "emile", "!"], lowercase=False)
    assert tokens_of(vocabulary, "Émile Emile!émile") == ["Émile", "Emile", "!", "[UNK]"]


pieces = st.lists(st.text("ab", min_size=1, max_size=4), unique=True, max_size=8)


@hypothesis.settings(deadline=None)
@given(first=pieces, inside=pieces, text=st.text("ab ", max_size=30))
def test_pieces_are_the_longest_ones_that_the_library_finds(
    first: list[str], inside: list[str], text: str
) -> None:
    tokens = [*SPECIAL, *first, *(f"##{piece}" for piece in inside)]
    theirs = library(tokens, lowercase=True).encode(text, add_special_tokens=False)
    assert tokens_of(WordPiece(tokens), text) == theirs.tokens


@pytest.mark.parametrize("letter", ["a", "A", "á", "a\u0301", "a\u200b"])
@pytest.mark.parametrize(("n", "is_known"), [(100, True), (101, False)])
def test_a_word_of_more_than_100_letters_is_unknown(letter: str, n: int, is_known: bool) -> None:
    """Letters are counted when accents and control characters are gone."""
    tokens = tokens_of(SMALL, letter * n + ".")
    assert tokens == (["a"] + ["##a"] * 99 if is_known else ["[UNK]"]) + ["."]
    check_against_the_library(letter * n + ".", lowercase=True)


def test_a_word_is_unknown_as_a_whole() -> None:
    assert tokens_of(SMALL, "theq the qthe cafés, t") == "[UNK] the [UNK] cafe ##s [UNK] t".split()


@pytest.mark.parametrize("special", SPECIAL)
def test_a_special_token_in_a_text_is_text(special: str) -> None:
    text = f"the {special}the{special.lower()}"
    assert not SMALL.special_ids - {SMALL.unk} & set(SMALL.encode(text))
    check_against_the_library(text, lowercase=True)
    check_against_the_library(text, lowercase=False)


def test_a_hub_tokenizer_lets_a_text_forge_a_separator_and_this_one_does_not() -> None:
    hub = library(SMALL.id_to_token, lowercase=True)
    hub.add_special_tokens(list(SPECIAL))
    assert hub.encode("the [SEP] the", add_special_tokens=False).tokens == ["the", "[SEP]", "the"]
    assert tokens_of(SMALL, "the [SEP] the") == ["the", "[", "sep", "]", "the"]
    assert tokens_of(SMALL, "##s") == ["[UNK]", "[UNK]", "[UNK]"], "nor a piece from inside a word"


def test_what_is_done_to_a_result_does_not_change_the_next() -> None:
    SMALL.encode("the cafe").clear()
    assert tokens_of(SMALL, "the cafe") == ["the", "cafe"]


def test_one_text_stands_between_cls_and_sep() -> None:
    assert SMALL.pair([7, 8, 9], None, max_len=5) == Encoded([2, 7, 8, 9, 3], [0] * 5)
    assert SMALL.pair([7, 8, 9], max_len=4) == Encoded([2, 7, 8, 3], [0] * 4)
    assert SMALL.pair([], max_len=2) == Encoded([2, 3], [0, 0])


def test_two_texts_have_types_0_and_1() -> None:
    joined = SMALL.pair([7, 8], [9], max_len=99)
    assert joined == Encoded([2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1])
    assert SMALL.pair([], [], max_len=3) == Encoded([2, 3, 3], [0, 0, 1])


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (2, 5, (2, 5)),  # there is room for both
        (2, 9, (2, 5)),  # the shorter one stays whole
        (9, 3, (4, 3)),
        (9, 8, (4, 3)),  # half each, and the odd token is the longer one's
        (8, 9, (3, 4)),
        (9, 9, (3, 4)),
        (0, 9, (0, 7)),
    ],
)
def test_the_longer_text_is_cut_first(first: int, second: int, kept: tuple[int, int]) -> None:
    joined = SMALL.pair([7] * first, [8] * second, max_len=10)
    assert (joined.tokens.count(7), joined.tokens.count(8)) == kept


@given(first=st.integers(0, 20), second=st.none() | st.integers(0, 20), max_len=st.integers(4, 50))
@hypothesis.settings(deadline=None)
def test_texts_are_cut_where_the_library_cuts_them(
    first: int, second: int | None, max_len: int
) -> None:
    words = [f"w{i}" for i in range(40)]
    ours = WordPiece([*SPECIAL, *words])
    theirs = library(ours.id_to_token, lowercase=True)
    theirs.enable_truncation(max_len, strategy="longest_first")
    one = " ".join(words[:first])
    other = None if second is None else " ".join(words[20 : 20 + second])
    check_pair(ours, theirs, one, other, max_len)


def check_pair(
    ours: WordPiece, theirs: Tokenizer, first: str, second: str | None, max_len: int
) -> None:
    """Compare a row with that of a library's tokenizer that cuts to ``max_len``."""
    found = theirs.encode(first, second)
    encoded = None if second is None else ours.encode(second)
    row = ours.pair(ours.encode(first), encoded, max_len=max_len)
    assert row == Encoded(found.ids, found.type_ids)
    assert len(row.tokens) <= max_len


@pytest.mark.parametrize(("second", "max_len", "needed"), [(None, 1, 2), ([8], 2, 3), ([], -1, 3)])
def test_a_row_that_has_no_room_for_its_special_tokens_is_refused(
    second: list[int] | None, max_len: int, needed: int
) -> None:
    message = rf"^max_len = {max_len} is not possible: \[CLS\] and \[SEP\] alone are {needed} tok"
    with pytest.raises(UserError, match=message):
        SMALL.pair([7], second, max_len=max_len)


@pytest.mark.parametrize("ending", ["\n", "\r\n", " \n"], ids=["unix", "windows", "space"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "not ended"])
def test_a_file_is_read_whatever_ends_its_lines(tmp_path: Path, ending: str, last: bool) -> None:
    tokens = [*SPECIAL, *WORDS, "\u0085", "\u2028a", "ª"]
    content = ending.join(tokens) + ending * last
    (tmp_path / "vocab.txt").write_bytes(content.encode())
    assert list(WordPiece.read(tmp_path / "vocab.txt").id_to_token) == tokens


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the\na\nthe\n", "vocab.txt, line 3: 'the' is already in line 1; a token has one id."),
        ("the\n\na\n", "vocab.txt, line 2: '' is not a token. Write one token on each line"),
        ("", "vocab.txt, line 1: '' is not a token."),
        ("[PAD]\n[UNK]\n[SEP]\na", "vocab.txt has no [CLS] [MASK] in its 4 lines; a BERT vocab"),
        (
            b"[PAD]\nth\xff\n",
            "vocab.txt, line 2: byte 0xff at offset 8 is not valid UTF-8 (invalid start byte)",
        ),
        (None, "there is no file "),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused(
    tmp_path: Path, content: str | bytes | None, message: str
) -> None:
    path = tmp_path / "vocab.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as error:
        WordPiece.read(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("token", ["", "a\nb", "a "])
def test_a_token_that_a_file_cannot_hold_is_refused(token: str) -> None:
    with pytest.raises(UserError, match=r"^the vocabulary, line 6: .* is not a token\. Write one"):
        WordPiece([*SPECIAL, token])


def test_neither_torch_nor_a_tokenizer_library_is_loaded() -> None:
    code = (
        "import sys, attnlab.data.wordpiece;"
        "print({'torch', 'numpy', 'tokenizers', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def texts_of(folder: Path, name: str) -> list[str]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            return [text for _, text in csv.reader(file)]
        lines = file.read().split("\n")
        return [line.split("\t")[0] for line in lines]


def tokenizer_of(folder: Path, *, lowercase: bool = True) -> tuple[WordPiece, Tokenizer]:
    path = folder / "weights" / "tinybert-4l-312" / "vocab.txt"
    ours = WordPiece.read(path, lowercase=lowercase)
    return ours, library(ours.id_to_token, lowercase=lowercase)


@pytest.mark.data
def test_a_real_vocabulary_has_its_special_tokens_where_they_are(data_folder: Path) -> None:
    ours, _ = tokenizer_of(data_folder)
    assert len(ours) == 30_522
    assert (ours.pad, ours.unk, ours.cls, ours.sep, ours.mask) == (0, 100, 101, 102, 103)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["yelp/train.csv", "sst2/train.tsv", "text/tinyshakespeare.txt"])
def test_every_real_text_has_the_librarys_tokens(data_folder: Path, name: str) -> None:
    ours, theirs = tokenizer_of(data_folder)
    found = texts_of(data_folder, name)
    assert len(found) >= 6_500
    for text in found:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids, text


@pytest.mark.data
def test_reviews_have_the_librarys_tokens_with_their_capitals_too(data_folder: Path) -> None:
    ours, theirs = tokenizer_of(data_folder, lowercase=False)
    for text in texts_of(data_folder, "yelp/train.csv")[:1000]:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids, text


@pytest.mark.data
@pytest.mark.parametrize("max_len", [17, 64, 128, 511])
def test_pairs_of_real_texts_are_the_librarys(data_folder: Path, max_len: int) -> None:
    ours, theirs = tokenizer_of(data_folder)
    theirs.enable_truncation(max_len, strategy="longest_first")
    reviews = texts_of(data_folder, "yelp/train.csv")[:150]
    mixed = reviews + texts_of(data_folder, "sst2/dev.tsv")[:150]
    random.Random(0).shuffle(mixed)
    for first, second in zip(mixed[:150], [*mixed[150:290], *[None] * 10], strict=True):
        check_pair(ours, theirs, first, second, max_len)


def test_accents_are_put_in_order_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []
    normalize = unicodedata.normalize

    def counted(form: str, text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr("attnlab.data.wordpiece.unicodedata.normalize", counted)
    WordPiece([*SPECIAL, "a"]).encode("a" + "\u0300\u0327" * 5000)
    assert max(lengths) <= NORMALIZED_AT_ONCE
    assert sum(lengths) == 10_001
