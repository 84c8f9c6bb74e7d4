"""Matrices from files: CSV (one row per line), JSON (a list of lists), npy."""

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float

from attnlab.data.text_files import numbered_lines, read_text
from attnlab.errors import DamagedFileError, UserError
from attnlab.geometry.instance import LARGEST, matrix
from attnlab.runs.files import reading
from attnlab.runs.memory import written_bytes


def read_matrix(path: Path) -> Float[np.ndarray, "S D"]:
    """Read a table of numbers; an error names the file and, if it has lines, the line."""
    if path.suffix not in READERS:
        raise UserError(f"{path}: a table is read from {', '.join(READERS)}.")
    return matrix(READERS[path.suffix](path), str(path))


def read_square_matrix(path: Path, width: int) -> Float[np.ndarray, "D D"]:
    """Read a matrix that must have a certain size."""
    found = read_matrix(path)
    if found.shape != (width, width):
        shape = " × ".join(map(str, found.shape))
        raise UserError(f"{path} is {shape}: the matrix must be {width} × {width}.")
    return found


def _from_csv(path: Path) -> list[list[float]]:
    rows: list[list[float]] = []
    for number, line in numbered_lines(path):
        if line.lstrip().startswith("#"):
            continue
        row = [_number(cell, f"{path}, line {number}") for cell in _cells(path, number, line)]
        if rows and len(row) != len(rows[0]):
            raise UserError(
                f"{path}, line {number} has {len(row)} numbers, the first row has"
                f" {len(rows[0])}; all rows must have the same length."
            )
        rows.append(row)
    return rows


def _cells(path: Path, number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line], skipinitialspace=True))
    except csv.Error as error:
        raise UserError(f"{path}, line {number} is not CSV: {error}.") from None


def _number(cell: str, place: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        raise UserError(
            f"{place}: {cell!r} is not a number. Write one row per line, such as 0.5,1,-2;"
            " a line that starts with # is a comment."
        ) from None
    if not abs(number) <= LARGEST:  # catches NaN too
        raise UserError(f"{place}: {cell!r} is not possible: from -{LARGEST:g} to {LARGEST:g}.")
    return number


def _from_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise DamagedFileError(f"{path}, line {error.lineno} is not JSON: {error.msg}.") from None
    except (ValueError, RecursionError):
        raise DamagedFileError(
            f"{path} is too large to read: it nests thousands of brackets, or a number has as"
            " many digits."
        ) from None


def _from_npy(path: Path) -> Any:
    with reading(path):
        content = path.read_bytes()
    try:
        _refuse_missing_numbers(path, content)
        return np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, BadZipFile):
        raise DamagedFileError(
            f"{path} is not an npy file of numbers; numpy.save makes one."
        ) from None


def _refuse_missing_numbers(path: Path, content: bytes) -> None:
    """Refuse a header that promises more numbers than follow: numpy makes room for all of them."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    known = {(1, 0): np.lib.format.read_array_header_1_0}
    shape, _, kind = known.get(version, np.lib.format.read_array_header_2_0)(stream)
    needed, there = math.prod(shape) * kind.itemsize, len(content) - stream.tell()
    if needed > there:
        sizes = " × ".join(map(str, shape))
        raise DamagedFileError(
            f"{path} is damaged: {sizes} numbers need {written_bytes(needed)}, but"
            f" {written_bytes(there)} follow its header."
        )


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _from_csv,
    ".json": _from_json,
    ".npy": _from_npy,
}
