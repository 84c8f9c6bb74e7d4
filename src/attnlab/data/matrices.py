"""Matrices from files: CSV (one row per line), JSON (a list of lists), npy."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from attnlab.errors import DamagedFileError, UserError
from attnlab.geometry.instance import LARGEST, matrix


def read_matrix(path: Path) -> Float[np.ndarray, "S D"]:
    """Read a table of numbers; a mistake is told with its file and, if it has lines, its line."""
    if path.suffix not in READERS:
        raise UserError(f"{path}: a table is read from {', '.join(READERS)}.")
    try:
        rows = READERS[path.suffix](path)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}.") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"{path} is not UTF-8 at byte {error.start}.") from None
    return matrix(rows, str(path))


def read_square_matrix(path: Path, width: int) -> Float[np.ndarray, "D D"]:
    """Read a matrix that must have a certain size."""
    found = read_matrix(path)
    if found.shape != (width, width):
        shape = " × ".join(map(str, found.shape))
        raise UserError(f"{path} is {shape}: the matrix must be {width} × {width}.")
    return found


def _from_csv(path: Path) -> list[list[float]]:
    rows: list[list[float]] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, skipinitialspace=True)
        for cells in lines:
            if not cells or cells[0].startswith("#"):
                continue
            row = [_number(cell, f"{path}, line {lines.line_num}") for cell in cells]
            if rows and len(row) != len(rows[0]):
                raise UserError(
                    f"{path}, line {lines.line_num} has {len(row)} numbers, the first row has"
                    f" {len(rows[0])}; all rows must be equally long."
                )
            rows.append(row)
    return rows


def _number(cell: str, place: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        raise UserError(
            f"{place}: {cell!r} is no number. Write one row a line, as 0.5,1,-2; # begins a remark."
        ) from None
    if not abs(number) <= LARGEST:  # catches NaN too
        raise UserError(f"{place}: {cell!r} is not possible: from -{LARGEST:g} to {LARGEST:g}.")
    return number


def _from_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DamagedFileError(f"{path}, line {error.lineno} is not JSON: {error.msg}.") from None


def _from_npy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise DamagedFileError(f"{path} is no npy file of numbers; numpy.save makes one.") from None


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _from_csv,
    ".json": _from_json,
    ".npy": _from_npy,
}
