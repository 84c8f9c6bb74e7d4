"""Tables of numbers from files; a mistake names the file and the line."""

from pathlib import Path

import numpy as np
import pytest

from attnlab.data.matrices import read_matrix, read_square_matrix
from attnlab.errors import DamagedFileError, UserError

ROWS = [[0.5, 1.0, -2.0], [3.0, 4e-3, 5.0]]


def test_the_three_kinds_of_files_give_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# x, y, z\n0.5, 1,-2\n\n3,4e-3,5\n", encoding="utf-8")
    (tmp_path / "a.json").write_text("[[0.5, 1, -2], [3, 4e-3, 5]]", encoding="utf-8")
    np.save(tmp_path / "a.npy", np.array(ROWS))
    for kind in ("csv", "json", "npy"):
        assert read_matrix(tmp_path / f"a.{kind}").tolist() == ROWS


def test_a_byte_order_mark_is_no_number(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf1,2\r\n3,4\r\n")
    assert read_matrix(tmp_path / "a.csv").tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", b"1,2\nx,3\n", r"a\.csv, line 2: 'x' is not a number. Write one row per line"),
        ("a.csv", b"1,2\n\n# r\n3\n", r"a\.csv, line 4 has 1 numbers, the first row has 2"),
        ("a.csv", b"1,nan\n", r"a\.csv, line 1: 'nan' is not possible"),
        ("a.csv", b"1,1e101\n", r"a\.csv, line 1: '1e101' is not possible"),
        ("a.csv", b"1,\n", r"a\.csv, line 1: '' is not a number"),
        ("a.csv", b"", r"a\.csv is no table of numbers"),
        ("a.csv", b"\xff", r"a\.csv, line 1: byte 0xff at offset 0 is not valid UTF-8"),
        ("a.json", b"[[1,\n", r"a\.json, line 2 is not JSON"),
        ("a.json", b"[[1], [NaN]]", r"a\.json\[1\]\[0\] = nan is not possible"),
        ("a.json", b"[[1], [2, 3]]", r"a\.json: row 1 has 2 numbers, row 0 has 1"),
        ("a.json", b'{"keys": 1}', r"a\.json is no table of numbers"),
        ("a.json", b'[["a"]]', r"a\.json holds something that is no number"),
        ("a.npy", b"junk", r"a\.npy is not an npy file of numbers"),
        ("a.npy", b"", r"a\.npy is not an npy file of numbers"),
        ("a.txt", b"1,2\n", r"a\.txt: a table is read from \.csv, \.json, \.npy"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=problem):
        read_matrix(tmp_path / name)


def test_a_file_of_objects_is_not_executed(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(UserError, match="not an npy file of numbers"):
        read_matrix(tmp_path / "a.npy")


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file .*a\.csv"):
        read_matrix(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(UserError, match=r"b\.csv is a folder. Name a file"):
        read_matrix(tmp_path / "b.csv")


def test_a_matrix_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2,3\n4,5,6\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.csv is 2 × 3: the matrix must be 3 × 3"):
        read_square_matrix(tmp_path / "a.csv", 3)


@pytest.mark.parametrize("kind", ["complex128", "datetime64[s]", "<U3"])
def test_an_npy_file_of_other_things_than_real_numbers_is_refused(
    tmp_path: Path, kind: str
) -> None:
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]]).astype(kind))
    with pytest.raises(UserError, match=r"a\.npy holds values of type .*: only real numbers"):
        read_matrix(tmp_path / "a.npy")


@pytest.mark.parametrize("kind", ["bool", "int8", "uint64", "float16", "float32"])
def test_every_kind_of_real_number_is_read(tmp_path: Path, kind: str) -> None:
    np.save(tmp_path / "a.npy", np.array([[0, 1], [1, 0]]).astype(kind))
    assert read_matrix(tmp_path / "a.npy").tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("shape", [(10**12,), (2, 10**11), (10**400, 3)])
def test_a_header_that_promises_more_numbers_than_there_are_is_refused(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    path = tmp_path / "keys.npy"
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(file, header)
        file.write(b"\0" * 16)
    with pytest.raises(
        DamagedFileError, match=r"keys\.npy is damaged: .* numbers need .*, but 16 bytes follow"
    ):
        read_matrix(path)
