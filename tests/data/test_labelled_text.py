"""Examples are read as they stand from three formats, and every wrong record is named."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from given_files import file
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.data.header import NAME_LIKE
from attnlab.data.labelled_text import Example, read_labelled
from attnlab.errors import UserError


def fields(path: Path, *, columns: tuple[str, ...] = ()) -> list[tuple[str | None, ...]]:
    """Read a file and return text, pair and label of each example."""
    return [(e.text, e.pair, e.label) for e in read_labelled(path, columns=columns)]


def test_csv_without_a_header_is_label_and_text(tmp_path: Path) -> None:
    path = file(tmp_path / "train.csv", '5,"Great.\n\nAgain, ""soon""."\r\n\r\n1,Cold.\r\n')
    assert read_labelled(path) == [
        Example("train.csv:1", 'Great.\n\nAgain, "soon".', None, "5", f"{path}, line 1"),
        Example("train.csv:5", "Cold.", None, "1", f"{path}, line 5"),
    ]


def test_tsv_without_a_header_is_text_pair_and_label(tmp_path: Path) -> None:
    two = file(tmp_path / "two.tsv", 'it \'s "good\t1\n"bad"\t0\n')
    assert fields(two) == [("it 's \"good", None, "1"), ('"bad"', None, "0")]
    three = file(tmp_path / "three.tsv", "is it\tit is\tyes\n")
    assert fields(three) == [("is it", "it is", "yes")]
    assert fields(file(tmp_path / "one.TSV", "a, b\n")) == [("a, b", None, None)]


def test_a_question_its_passage_and_its_answer_are_read_from_json(tmp_path: Path) -> None:
    line = {"question": "is it", "passage": "It is.", "answer": True, "idx": 3}
    path = file(tmp_path / "dev.jsonl", "\n" + json.dumps(line) + "\r\n")
    assert read_labelled(path, labelled=True) == [
        Example("dev.jsonl:2", "is it", "It is.", "true", f"{path}, line 2")
    ]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "Text,LABEL\ngood,1\n", ("good", None, "1")),
        ("a.csv", "review, stars\ngood,5\n", ("good", None, "5")),
        ("a.csv", "text\ngood\n", ("good", None, None)),
        ("a.csv", "text_a,text_b\ngood,bad\n", ("good", "bad", None)),
        ("a.csv", "good\n", ("good", None, None)),
        ("a.tsv", "sentence\tlabel\ngood\t1\n", ("good", None, "1")),
        ("a.tsv", "label\tsentence1\tsentence2\n0\tgood\tbad\n", ("good", "bad", "0")),
        ("a.tsv", "\ufeffpassage\tquestion\nbad\tgood\n", ("good", "bad", None)),
        ("a.tsv", "text\n", None),
    ],
)
def test_a_first_row_of_known_names_is_a_header(
    tmp_path: Path, name: str, content: str, expected: tuple[str | None, ...] | None
) -> None:
    path = file(tmp_path / name, content)
    if expected:
        assert fields(path) == [expected]
    else:
        with pytest.raises(UserError, match=r"a\.tsv is empty: there is no example in it\. Write"):
            read_labelled(path)


def test_the_columns_a_caller_names_come_before_those_of_the_file(tmp_path: Path) -> None:
    swapped = file(tmp_path / "a.csv", "good,1\nbad,0\n")
    assert fields(swapped, columns=("text", "label"))[1] == ("bad", None, "0")
    headed = file(tmp_path / "b.tsv", "idx\tsentence\tlabel\n7\tgood\t1\n")
    assert fields(headed, columns=("-", "text", "label")) == [("good", None, "1")]
    renamed = file(tmp_path / "c.tsv", "question\tpassage\nq\tp\n")
    rated = file(tmp_path / "d.csv", "rating,review\n5,good\n")
    assert fields(rated, columns=("label", "text")) == [("good", None, "5")]
    unlabelled = file(tmp_path / "e.csv", "x,good\n")
    assert fields(unlabelled, columns=("-", "label", "text")) == [("good", None, None)]
    assert fields(renamed, columns=("pair", "text")) == [("p", "q", None)]


def test_a_user_says_what_the_header_calls_the_fields(tmp_path: Path) -> None:
    named = {"text": "body", "label": "rating"}
    path = file(tmp_path / "a.csv", "id,rating, body ,review\n7,5,good,x\n8,1,bad,y\n")
    found = read_labelled(path, labelled=True, named=named)
    assert [(e.text, e.pair, e.label) for e in found] == [("good", None, "5"), ("bad", None, "1")]
    lines = file(tmp_path / "a.jsonl", '{"rating": 5, "body": "good", "text": "x"}\n')
    assert read_labelled(lines, named=named)[0].label == "5"
    pairs = file(tmp_path / "a.tsv", "label\tq\tp\n1\tis it\tit is\n")
    found = read_labelled(pairs, named={"text": "q", "pair": "p"})
    assert [(e.text, e.pair, e.label) for e in found] == [("is it", "it is", "1")]
    unlabelled = file(tmp_path / "new.csv", "body\ngood\n")
    assert read_labelled(unlabelled, named=named)[0].label is None


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"text": "bodi"},
            r"line 1: no column is called 'bodi' in 'rating, body'\. Did you mean 'b",
        ),
        ({"text": "body", "pair": "p"}, r"no column is called 'p' in .* Give --pair-column with"),
        (
            {"text": "body", "label": "stars"},
            r"line 2: there is no label in 'stars', which --label",
        ),
        ({"label": "rating"}, r"line 1: the header must name one text"),
    ],
)
def test_a_name_that_the_header_lacks_is_refused(
    tmp_path: Path, named: dict[str, str], message: str
) -> None:
    path = file(tmp_path / "a.csv", "rating,body\n5,good\n")
    with pytest.raises(UserError, match=message):
        read_labelled(path, labelled=True, named=named)


@pytest.mark.parametrize(
    "content",
    ["pos,good\nneg,bad\npos,fine\n", "pos,good\nneg,bad\n", "5,good\n1,bad\n1,dull\n",
     "pos,good.\nneg,bad\nneg,dull\n"],
)  # fmt: skip
def test_a_first_example_is_not_taken_for_a_header(tmp_path: Path, content: str) -> None:
    path = file(tmp_path / "a.csv", content)
    assert len(read_labelled(path)) == content.count("\n")


def test_words_for_nothing_are_ordinary_words(tmp_path: Path) -> None:
    assert fields(file(tmp_path / "a.csv", "NA,null\nnan,None\n")) == [
        ("null", None, "NA"),
        ("None", None, "nan"),
    ]


@pytest.mark.parametrize(
    ("written", "label"),
    [('"5"', "5"), ("5", "5"), ("5.0", "5.0"), ('"5.0"', "5.0"), ("true", "true"),
     ("false", "false"), ("0", "0"), ('" pos "', "pos"), ("null", None), ('""', None)],
)  # fmt: skip
def test_a_json_label_is_kept_as_written(tmp_path: Path, written: str, label: str | None) -> None:
    path = file(tmp_path / "a.jsonl", f'{{"Text": "good", "stars": {written}}}')
    assert fields(path) == [("good", None, label)]


def test_a_label_is_stripped_and_a_text_is_not(tmp_path: Path) -> None:
    assert fields(file(tmp_path / "a.csv", " 5 , good \n")) == [(" good ", None, "5")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", r"a\.csv is empty: there is no example in it\. Write label,text\."),
        ("a.tsv", "\n \n", r"a\.tsv is empty: .* Write text, a tab, label\."),
        ("a.jsonl", "\n", r"a\.jsonl is empty: .* Write \{\"text\""),
        ("a.csv", b"1,\xff\n", r"a\.csv, line 1: byte 0xff at offset 2 is not valid UTF-8"),
        ("a.csv", "1,a\n2,b\0\n", r"a\.csv, line 2: there is a NUL byte"),
        ("a.csv", '1,a\n2,"b\n', r"a\.csv, line 2: a field opens with a double quote"),
        ("a.csv", '1,"a\nb"\n2,c,d\n', r"line 3: '2, c, d' has 3 columns; expected 2 columns"),
        ("a.csv", "1,a\nb\n", r"line 2: 'b' has 1 column; .* Put double quotes around a text"),
        ("a.csv", "1,a,b\n", r"line 1: '1, a, b' has 3 columns\. Without .*: text; label, text\."),
        ("a.tsv", "a\t1\nb\tc\t1\n", r"line 2: 'b, c, 1' has 3 columns; .* Remove the tabs"),
        ("a.tsv", "idx\ttext\tlabel\n", r"'idx' is not .*--text-column text --label-column label$"),
        ("a.csv", "rating,text\n5,good\n", r"'rating' is not known in .* Give --label-column, "),
        ("a.csv", "rating,body\n5,good food\n5,bad food\n", r"line 1: no column is known as the"
         r" text in 'rating, body'\. Give --text-column and --label-column, for example:"
         r" --text-column body --label-column rating\. If .* give --columns label,text$"),
        ("a.csv", "idx,stars of it,body\n1,5,good food\n2,5,bad food\n", r"no column is known as"
         r" the text in .*: --text-column body --label-column 'stars of it'$"),
        ("a.jsonl", '{"rating": 5, "body": "good"}', r"--text-column body --label-column rating$"),
        ("a.jsonl", '{"label": 5, "body": "good"}', r"for example: --text-column body$"),
        ("a.csv", "text,review\n", r"line 1: the header must name one text, .*'text, review'"),
        ("a.csv", "stars,passage\n", r"the header must name one text, .* called text or sentence"),
        ("a.csv", "1,a\n2, \n", r"line 2: the text is empty\. Write one, or remove"),
        ("a.csv", 'a\n""\n', r"line 2: the text is empty"),
        ("a.csv", "1,a\n ,b\n", r"line 2: the label is missing, but that of .*line 1 is '1'\. G"),
        ("a.csv", ",a\n2,b\n", r"line 2: the label is '2', but that of .*line 1 is missing\. Give"),
        ("a.tsv", "a\tb\t1\nc\t\t1\n", r"line 2: the pair is missing, but that of .* or none"),
        ("a.csv", f"{'so good ' * 20},1\n", r"'so good .*…' is 159 characters .* at most 100"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_labelled(file(tmp_path / name, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "a"\n', r"line 1: .* is not JSON: Expecting ',' .* at character 13\."),
        ('{"text": "a"}\n["b"]', r"line 2: '\[\"b\"\]' is not a JSON object\. Write one"),
        ('{"idx": 3}', r"line 1: no column is known as the text in 'idx'\. Give --text-column"),
        ('{"text": "a", "label": 1, "stars": 2}', r"at most one label and one pair"),
        ('{"text": null}', r"line 1: the keys must name one text"),
        ('{"text": 5}', r"line 1: 'text' must be text in quotes, not '5'"),
        ('{"text": "a", "label": [1]}', r"'label' must be .*, true or false, not '\[1"),
        ('{"text": "a\\u0000"}', r"line 1: 'text' contains '\\x00', which is not text"),
        ('{"text": "a\\ud83d"}', r"line 1: 'text' contains '\\ud83d', which is not text"),
        ('{"text": "a", "label": 1}\n{"text": "b"}', r"line 2: the label is missing"),
    ],
)
def test_a_json_line_that_cannot_be_used_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_labelled(file(tmp_path / "a.jsonl", content))


def test_json_that_python_gives_up_on_is_refused(tmp_path: Path) -> None:
    for content in ("[" * 100_000, f'{{"label": {"1" * 5000}}}'):
        with pytest.raises(
            UserError, match=r"a\.jsonl, line 1: '.*…' is too large to read\. Write"
        ):
            read_labelled(file(tmp_path / "a.jsonl", content))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "good\n", r"a\.csv, line 1: the label is missing; every .* Write label,text\."),
        ("a.tsv", "good\n", r"line 1: the label is missing; every .* Write text, a tab, label"),
        ("a.jsonl", '{"text": "good"}', r"line 1: the label is missing; every example needs one"),
        ("a.csv", "label,text\n1,a\n,b\n", r"line 3: the label is missing, but that of .* is '1'"),
    ],
)
def test_labels_can_be_insisted_on(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_labelled(file(tmp_path / name, content), labelled=True)


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("a.csv", ("lable", "text"), r"no column is called 'lable'\. Did you mean 'label'\?"),
        ("a.csv", ("label", "-"), r"the columns must name one text, .* not 'label, -'\.$"),
        ("a.csv", ("text", "text"), r"the columns must name one text"),
        (
            "a.csv",
            ("-", "-", "label", "text"),
            r"line 1: '5, good' has 2 columns; expected 4 columns: ",
        ),
        ("a.csv", ("text",), r"line 1: '5, good' has 2 columns; expected 1 column: text\."),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    tmp_path: Path, name: str, columns: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_labelled(file(tmp_path / name, "5,good\n"), columns=columns)


def test_a_short_first_row_is_no_header_to_be_skipped(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 1: 'text' has 1 column; expected 3 columns"):
        read_labelled(file(tmp_path / "a.csv", "text\n5,good,x\n"), columns=("label", "text", "-"))


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"ending in '\.xlsx' cannot be read\. Allowed: \.csv \(label,text\); \.tsv"
    ):
        read_labelled(file(tmp_path / "a.xlsx", "5,good\n"))
    with pytest.raises(UserError, match=r"is a folder\. Name a \.csv or \.tsv or \.jsonl file in"):
        read_labelled(tmp_path)
    with pytest.raises(UserError, match=r"there is no file .*nothing\.csv"):
        read_labelled(tmp_path / "nothing.csv")


def characters(without: str = "") -> st.SearchStrategy[str]:
    return st.characters(exclude_categories=["Cs"], exclude_characters="\0" + without)


def records(without: str = "") -> st.SearchStrategy[list[tuple[str, str]]]:
    """Draw label and text of one to six records, of any characters but these."""
    texts = st.text(characters(without), min_size=1).filter(str.strip)
    labels = st.text(characters(without + "\ufeff"), min_size=1, max_size=9)
    labels = labels.map(str.strip).filter(bool)
    return st.lists(st.tuples(labels, texts), min_size=1, max_size=6)


@given(records())
@settings(deadline=None)
def test_what_the_csv_module_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(("label", "text"))
    starts = []
    for row in rows:
        starts.append(written.getvalue().count("\n") + 1)
        writer.writerow(row)
    path = file(tmp_path_factory.getbasetemp() / "round.csv", written.getvalue())
    found = read_labelled(path, labelled=True)
    assert [(e.label, e.text) for e in found] == rows
    assert [e.id for e in found] == [f"round.csv:{start}" for start in starts]


@given(records(without="\t\n"))
@settings(deadline=None)
def test_what_stands_between_tabs_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    content = "".join(f"{text}\t{label}\n" for label, text in [("label", "text"), *rows])
    path = file(tmp_path_factory.getbasetemp() / "round.tsv", content)
    assert [(e.label, e.text) for e in read_labelled(path, labelled=True)] == rows


@given(records(), st.booleans())
@settings(deadline=None)
def test_what_the_json_module_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], escaped: bool
) -> None:
    content = "\n".join(
        json.dumps({"label": label, "text": text, "pair": text}, ensure_ascii=escaped)
        for label, text in rows
    )
    path = file(tmp_path_factory.getbasetemp() / "round.jsonl", content)
    found = read_labelled(path, labelled=True)
    assert [(e.label, e.text) for e in found] == rows
    assert [e.pair for e in found] == [e.text for e in found]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("yelp/train.csv", dict.fromkeys("12345", 1300)),
        ("yelp/dev.csv", dict.fromkeys("12345", 200)),
        ("sst2/train.tsv", {"0": 3310, "1": 3610}),
        ("sst2/dev.tsv", {"0": 428, "1": 444}),
        ("boolq/train.jsonl", {"true": 5874, "false": 3553}),
        ("boolq/dev.jsonl", {"true": 2033, "false": 1237}),
    ],
)
def test_the_courses_files_are_read(data_folder: Path, name: str, counts: dict[str, int]) -> None:
    examples = read_labelled(data_folder / name, labelled=True)
    assert Counter(e.label for e in examples) == counts
    assert all((e.pair is not None) == name.startswith("boolq") for e in examples)


@pytest.mark.data
def test_every_review_starts_on_the_line_that_its_id_names(data_folder: Path) -> None:
    path = data_folder / "yelp" / "train.csv"
    lines = path.read_bytes().decode().split("\n")
    examples = read_labelled(path)
    for example in examples:
        words = example.text.partition("\n")[0]
        quoted = '"' + words.replace('"', '""')
        line = lines[int(example.id.removeprefix("train.csv:")) - 1]
        assert line.startswith((f"{example.label},{quoted}", f"{example.label},{words}"))
    assert examples[-1].place == f"{path}, line 18219"


@given(st.text("a_- 1!", max_size=12))
def test_an_underscore_in_a_column_name_is_part_of_a_word(name: str) -> None:
    separating = re.fullmatch(r"[^\W\d]\w*([ _-]\w+){0,2}", name)
    assert bool(NAME_LIKE.fullmatch(name)) == bool(separating)


def test_a_column_name_of_many_underscores_is_read_in_one_pass() -> None:
    # were an underscore a separator too, this would try every way to cut the name in three
    assert not NAME_LIKE.fullmatch("a" + "_a" * 50_000 + "!")
