"""Files that are whole or not there."""

import os
from pathlib import Path

import pytest

from attnlab.errors import DamagedFileError, RunError, UserError
from attnlab.runs import files
from attnlab.runs.files import read_json, read_json_lines, replace_file, sha256_of, to_json


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_is_replaced_as_a_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    replace_file(path, b"a long first content")
    replace_file(path, b"new")
    assert content_of(tmp_path) == {"a.json": b"new"}


def no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("name", ["fsync", "replace"], ids=["while writing", "while renaming"])
def test_an_error_leaves_the_old_file_and_no_leftovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "a.json"
    replace_file(path, b"old")
    if name == "fsync":
        monkeypatch.setattr(os, "fsync", no_space)
    else:
        monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(
        RunError, match=rf"^cannot write {path}: No space left on device\. Nothing under its final"
    ):
        replace_file(path, b"new")
    assert content_of(tmp_path) == {"a.json": b"old"}


def test_an_interrupt_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    replace_file(path, b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_the_content_is_on_the_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming first could leave an empty file under the final name after a power cut."""
    seen: list[str] = []
    write, rename, sync_folder = files.write_synced, Path.replace, files.sync_folder

    def note(name: str, call: object) -> object:
        def noted(*arguments: object) -> object:
            seen.append(name)
            return call(*arguments)  # type: ignore[operator]

        return noted

    monkeypatch.setattr(files, "write_synced", note("write", write))
    monkeypatch.setattr(Path, "replace", note("rename", rename))
    monkeypatch.setattr(files, "sync_folder", note("sync folder", sync_folder))
    replace_file(tmp_path / "a", b"x")
    assert seen == ["write", "rename", "sync folder"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "a.json"
    with pytest.raises(RunError, match=rf"^cannot write {path}: No such file or directory\."):
        replace_file(path, b"x")


def test_json_is_readable_text_with_a_newline_and_comes_back(tmp_path: Path) -> None:
    value = {"name": "Zoë", "list": [1, None]}
    text = to_json(value)
    assert text.decode() == '{\n  "name": "Zoë",\n  "list": [\n    1,\n    null\n  ]\n}\n'
    path = tmp_path / "a.json"
    path.write_bytes(text)
    assert read_json(path) == value


@pytest.mark.parametrize("number", [float("nan"), float("inf")], ids=str)
def test_a_number_that_json_does_not_have_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        to_json({"loss": number})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'{\n"a": 1,\n', r"a.json:3 is not JSON: Expecting prop", id="cut off"),
        pytest.param(b"", r"a.json:1 is not JSON: Expecting value\.$", id="empty"),
        pytest.param(b'{"a": "\xff"}', r"a.json is not UTF-8 at byte 7\.$", id="not text"),
        pytest.param(b"[1, 2]", r"a.json must hold a JSON object, not list\.$", id="list"),
        pytest.param(b"3", r"a.json must hold a JSON object, not int\.$", id="number"),
    ],
)
def test_a_damaged_json_file_is_refused_with_the_place(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=message):
        read_json(path)


def test_a_missing_json_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"^there is no file {tmp_path}/a.json\.$"):
        read_json(tmp_path / "a.json")


def test_a_folder_is_no_json_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"^{tmp_path} is a folder\. Name a file in it\.$"):
        read_json(tmp_path)


def test_a_pipe_is_no_file_since_it_can_be_read_only_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (read_json, sha256_of):
        with pytest.raises(UserError, match=r"pipe is not a plain file\. Copy what it holds into"):
            read(tmp_path / "pipe")


def test_the_last_line_is_left_out_if_it_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": 1}\n{"b": "x\u2028y"}\n{"c": 3}'.encode())
    assert read_json_lines(path) == [{"a": 1}, {"b": "x\u2028y"}]


@pytest.mark.parametrize(
    "line", [b'{"b": ', b"", b'{"b": "\xff"}', b"3"], ids=["cut off", "empty", "not text", "number"]
)
def test_a_damaged_line_is_refused_with_its_number(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line + b'\n{"c": 3}\n')
    with pytest.raises(DamagedFileError, match=r"a.jsonl:2 (is not|must hold) "):
        read_json_lines(path)
