"""Files of tensors that somebody else wrote: read, or refused without executing anything."""

import json
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from attnlab.assets.tensors import read_tensors
from attnlab.errors import DamagedFileError, UserError

TENSORS = {
    "layer.weight": torch.arange(12.0).view(3, 4),
    "layer.bias": torch.tensor([0.5, -2.0], dtype=torch.bfloat16),
    "step": torch.tensor(7),
}


def save_old(tensors: Any, path: Path) -> None:
    torch.save(tensors, path, _use_new_zipfile_serialization=False)


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "model.safetensors": safetensors.torch.save_file,
    "model.params": torch.save,
    "model.bin": torch.save,
    "old.pt": save_old,
}


@pytest.mark.parametrize("name", WRITERS)
def test_tensors_come_back_as_they_were_saved(tmp_path: Path, name: str) -> None:
    WRITERS[name](TENSORS, tmp_path / name)
    found = read_tensors(tmp_path / name)
    assert found.keys() == TENSORS.keys()
    for key, tensor in TENSORS.items():
        assert found[key].dtype == tensor.dtype
        assert torch.equal(found[key], tensor)


def test_a_state_dict_of_a_module_is_read(tmp_path: Path) -> None:
    module = torch.nn.Linear(3, 2)
    state = module.state_dict()
    assert isinstance(state, OrderedDict)
    torch.save(state, tmp_path / "model.pt")
    assert torch.equal(read_tensors(tmp_path / "model.pt")["weight"], module.weight)


class Evil:
    """What a pickle does when it is executed: here, make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.path,)


def write_pickle(value: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(value, protocol=2))


EVIL_WRITERS = [torch.save, save_old, write_pickle]


@pytest.mark.parametrize("write", EVIL_WRITERS, ids=["zip", "old format", "plain pickle"])
@pytest.mark.parametrize("name", ["model.params", "model.safetensors"])
def test_nothing_in_a_file_is_executed(
    tmp_path: Path, name: str, write: Callable[[Any, Path], None]
) -> None:
    victim, path = tmp_path / "executed", tmp_path / name
    write({"weight": Evil(victim)}, path)
    with pytest.raises(DamagedFileError, match=rf"^{path} (was refused|is not a safetensors file)"):
        read_tensors(path)
    assert not victim.exists()


def test_the_evil_file_does_execute_where_nobody_is_careful(tmp_path: Path) -> None:
    victim = tmp_path / "executed"
    pickle.loads(pickle.dumps(Evil(victim)))
    assert victim.exists()


def test_a_refused_pickle_comes_with_no_advice_to_trust_it(tmp_path: Path) -> None:
    """The message of torch tells how to load the file all the same, in bold."""
    path = tmp_path / "model.params"
    torch.save({"weight": Evil(tmp_path / "executed")}, path)
    with pytest.raises(DamagedFileError, match="nothing in it was executed") as caught:
        read_tensors(path)
    assert "\x1b" not in str(caught.value)
    assert "weights_only" not in str(caught.value)
    assert "can still be loaded" not in str(caught.value)


def test_a_plain_pickle_of_today_is_refused_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "model.params"
    path.write_bytes(pickle.dumps({"weight": 3}, protocol=4))
    with pytest.raises(DamagedFileError, match=r"model.params"):
        read_tensors(path)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
@pytest.mark.parametrize("name", WRITERS)
def test_a_cut_off_file_is_refused(tmp_path: Path, name: str, share: float) -> None:
    path = tmp_path / name
    WRITERS[name](TENSORS, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DamagedFileError, match=rf"^{path} "):
        read_tensors(path)


def test_every_cut_of_an_old_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    save_old(TENSORS, path)
    content = path.read_bytes()
    other: dict[int, str] = {}
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        try:
            read_tensors(path)
        except DamagedFileError:
            continue
        except Exception as error:
            other[size] = type(error).__name__
        else:
            other[size] = "read"
    assert other == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.safetensors", struct.pack("<Q", 2**62) + b"{}"),
        ("model.safetensors", struct.pack("<Q", 100_000_001) + b"{" + b" " * 100),
        ("model.safetensors", b"{}"),
        ("model.safetensors", b""),
        ("model.safetensors", struct.pack("<Q", 2) + b"[]"),
        ("model.params", b""),
        ("model.params", b"just a text\n"),
        ("model.params", b"PK\x03\x04" + bytes(60)),
    ],
    ids="huge-header over-limit no-header empty list-header empty-pickle text half-a-zip".split(),
)
def test_what_holds_no_tensors_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=rf"^{path} (was refused|is not a safetensors file)"):
        read_tensors(path)


@pytest.mark.parametrize("name", ["model.safetensors", "model.params"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=rf"^there is no file {tmp_path / name}\.$"):
        read_tensors(tmp_path / name)


@pytest.mark.parametrize("name", ["model.safetensors", "model.params"])
def test_a_folder_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UserError, match=rf"^{tmp_path / name} is a folder\. Name a file in it\.$"):
        read_tensors(tmp_path / name)


@pytest.mark.parametrize(
    "value",
    [{"a": 3}, {"a": torch.ones(2), "b": "x"}, {1: torch.ones(2)}, {"m": TENSORS}, torch.ones(2)],
    ids=["number", "text beside a tensor", "key no text", "nested", "tensor alone"],
)
def test_what_does_not_map_names_to_tensors_is_refused(
    tmp_path: Path, value: dict[Any, Any] | Tensor
) -> None:
    path = tmp_path / "model.pt"
    torch.save(value, path)
    with pytest.raises(
        DamagedFileError, match=rf"^{path} must map names to tensors, as a state dict does\.$"
    ):
        read_tensors(path)


def header(*tensors: dict[str, Any], data: bytes = b"", length: int | None = None) -> bytes:
    text = json.dumps({f"tensor{i}": tensor for i, tensor in enumerate(tensors)}).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def claim(*shape: int, begin: int = 0, end: int = 0, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


LIES = {
    "more data than there is": header(claim(10**12, end=4 * 10**12), data=bytes(8)),
    "a larger shape than its data": header(claim(10**12, end=8), data=bytes(8)),
    "a product over 2^64": header(claim(2**62, 4)),
    "a header of 2^63 bytes": header(length=2**63),
    "a header of 2^64 - 1 bytes": header(length=2**64 - 1),
    "overlapping tensors": header(claim(2, end=8), claim(2, begin=4, end=12), data=bytes(12)),
    "the same bytes twice": header(claim(2, end=8), claim(2, end=8), data=bytes(8)),
    "an end before its beginning": header(claim(2, begin=8, end=0), data=bytes(8)),
    "less than there is": header(claim(2, end=8), data=bytes(80)),
    "nothing, times too much": header(claim(0, 2**62, 4)),
    "nothing, times 2^64 - 1": header(claim(0, 2**64 - 1)),
    "a type that torch does not have": header(claim(2, end=1, dtype="F4"), data=bytes(1)),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused_in_one_line(tmp_path: Path, lie: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(LIES[lie])
    with pytest.raises(DamagedFileError, match=r"model\.safetensors (is not|has a header)") as told:
        read_tensors(path)
    assert "\n" not in str(told.value)
