"""Reads tensor files from elsewhere without executing anything in them."""

import io
import warnings
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from attnlab.errors import DamagedFileError
from attnlab.runs.files import reading


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a ``.safetensors`` file, or any file of ``torch.save`` (``.params``, ``.bin``, ``.pt``).

    The second kind is a pickle; torch's restricted reader takes tensors from it and nothing else.
    """
    return decode_tensors(read_content(path), path)


def read_content(path: Path) -> bytes:
    """Read a whole file, for whoever needs more of it than its tensors, such as its hash."""
    with reading(path):
        return path.read_bytes()


def decode_tensors(content: bytes, path: Path) -> dict[str, Tensor]:
    """Decode the content of either kind of file; the ending of ``path`` says which it is."""
    if path.suffix == ".safetensors":
        return decode_safetensors(content, path)
    try:
        with warnings.catch_warnings(action="ignore"):
            loaded = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # a broken pickle can raise anything, and torch's text is advice
        raise DamagedFileError(
            f"{path} was refused ({type(error).__name__}) and nothing in it was executed: it is"
            " cut off, or holds more than tensors."
        ) from None
    if not isinstance(loaded, dict) or not all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in loaded.items()
    ):
        raise DamagedFileError(f"{path} must map names to tensors, as a state dict does.")
    return loaded


def decode_safetensors(content: bytes, path: Path) -> dict[str, Tensor]:
    """Decode the content of a safetensors file; ``path`` is for the message."""
    try:
        return safetensors.torch.load(content)
    except safetensors.SafetensorError as error:
        raise DamagedFileError(f"{path} is not a safetensors file: {error}.") from None
    # its header is well-formed, but names a type or a shape that torch does not have
    except (KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DamagedFileError(
            f"{path} has a header that no tensor can have ({type(error).__name__}: {reason}). Fetch"
            " or copy it again."
        ) from None
