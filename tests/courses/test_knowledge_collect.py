"""Packing a submission: all of it or nothing, and every mistake reported."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from course_files import COURSE, load

from attnlab.cli import packing
from attnlab.cli.packing import pack
from attnlab.errors import UserError

collect = load("collect.py")
SCRIPT = str(COURSE / "collect_submission.sh")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that is wanted: two questions in dev, three in test."""
    (tmp_path / "src" / "__pycache__").mkdir(parents=True)
    (tmp_path / "src" / "__pycache__" / "run.pyc").write_text("compiled")
    for name in (*collect.CODE, "src/model.py"):
        (tmp_path / name).write_text(f"# {name}\n")
    for name in collect.ARTEFACTS:
        lines = 2 if ".dev." in name else 3
        (tmp_path / name).write_text("Oslo\n" * lines if "predictions" in name else "weights")
    (tmp_path / "birth_dev.tsv").write_text("Where?\tOslo\nWhere?\tLima")
    (tmp_path / "birth_test_inputs.tsv").write_text("Where?\n" * 3)
    (tmp_path / "wiki.txt").write_text("not wanted")
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, env=os.environ
    )
    return done.returncode, done.stdout, done.stderr


def test_the_script_packs_code_artefacts_and_their_hashes(folder: Path) -> None:
    code, out, error = run(folder, "ada_lovelace-1")
    assert (code, error) == (0, "")
    assert out.startswith("assignment_ada_lovelace-1.zip: ")
    with zipfile.ZipFile(folder / "assignment_ada_lovelace-1.zip") as packed:
        names = packed.namelist()
        manifest = packed.read("MANIFEST").decode().splitlines()
        assert set(names) == {*collect.CODE, "src/model.py", *collect.ARTEFACTS, "MANIFEST"}
        assert len(manifest) == len(names) - 1
        for line in manifest:
            digest, size, name = line.split(" ")
            content = packed.read(name)
            assert (digest, int(size)) == (hashlib.sha256(content).hexdigest(), len(content))


def test_nine_artefacts_are_wanted() -> None:
    assert len(collect.ARTEFACTS) == len(set(collect.ARTEFACTS)) == 9


def test_the_script_wants_one_name(folder: Path) -> None:
    for arguments in ((), ("a", "b")):
        code, out, error = run(folder, *arguments)
        assert (code, out) == (2, "")
        assert error.startswith("usage: bash collect_submission.sh NAME")
    code, out, _ = run(folder, "--help")
    assert (code, out[:6]) == (0, "usage:")


@pytest.mark.parametrize("name", ["ada lovelace", "../ada", "ada.zip", "Åsa", ""])
def test_other_characters_in_a_name_are_refused(folder: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"^NAME may have letters, digits, - and _"):
        pack(name, folder, collect.find)
    assert not list(folder.glob("*.zip"))


def test_all_missing_files_are_named_at_once(folder: Path) -> None:
    for name in ("src/dataset.py", "vanilla.model.params", "synthesizer.finetune.params"):
        (folder / name).unlink()
    message = (
        r"^missing in .*: src/dataset\.py, vanilla\.model\.params, synthesizer\.finetune\.params\.$"
    )
    with pytest.raises(UserError, match=message):
        pack("ada", folder, collect.find)


def test_a_misspelt_name_is_reported_with_the_nearest(folder: Path) -> None:
    name = "vanilla.pretrain.dev.predictions"
    (folder / name).rename(folder / "vanilla.pretrian.dev.prediction")
    (folder / "src" / "attention.py").rename(folder / "src" / "atention.py")
    message = (
        r"^missing in .*: src/attention\.py \(is it atention\.py\?\),"
        r" vanilla\.pretrain\.dev\.predictions \(is it vanilla\.pretrian\.dev\.prediction\?\)\.$"
    )
    with pytest.raises(UserError, match=message):
        pack("ada", folder, collect.find)


def test_an_empty_file_is_reported(folder: Path) -> None:
    (folder / "vanilla.finetune.params").write_text("")
    with pytest.raises(UserError, match=r"^empty: vanilla\.finetune\.params\.$"):
        pack("ada", folder, collect.find)


def test_predictions_of_another_length_are_reported_with_both_numbers(folder: Path) -> None:
    for name in ("vanilla.pretrain.dev.predictions", "vanilla.pretrain.test.predictions"):
        (folder / name).write_text("Oslo\n" * 4)
    message = (
        r"^vanilla\.pretrain\.dev\.predictions has 4 lines, but birth_dev\.tsv has 2 questions;"
        r" vanilla\.pretrain\.test\.predictions has 4 lines, but birth_test_inputs\.tsv has 3"
    )
    with pytest.raises(UserError, match=message):
        pack("ada", folder, collect.find)
    (folder / "birth_dev.tsv").unlink()
    (folder / "birth_test_inputs.tsv").unlink()
    assert pack("ada", folder, collect.find).is_file()


def test_there_is_never_half_a_zip(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pack("ada", folder, collect.find).read_bytes()

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "manifest", fail)
    with pytest.raises(UserError, match=r"^cannot write .*zip: No space left"):
        pack("ada", folder, collect.find)
    assert (folder / "assignment_ada.zip").read_bytes() == before
    assert [path.name for path in folder.iterdir() if "zip" in path.name] == ["assignment_ada.zip"]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (PermissionError(13, "Permission denied", "src/run.py"), 2, "cannot use src/run.py: Perm"),
        (KeyboardInterrupt(), 130, "stopped by Ctrl-C."),
    ],
    ids=["a file without permission", "Ctrl-C"],
)
def test_what_ends_it_is_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["collect.py", "ada"])
    find = Mock(side_effect=error)
    with pytest.raises(SystemExit) as end:
        packing.main(find)
    assert end.value.code == code
    assert capsys.readouterr().err.startswith(f"collect_submission: {words}")
