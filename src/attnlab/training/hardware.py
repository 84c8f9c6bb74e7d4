"""Device, precision and threads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from attnlab.environment import local_rank
from attnlab.errors import UserError
from attnlab.runs import machine
from attnlab.runs.directory import Run
from attnlab.training.settings import Precision, TrainingSettings

PRECISION, THREADS = "ATTNLAB_PRECISION", "OMP_NUM_THREADS"
"""Environment variables: what `precision: auto` means, and the number of threads."""
MOST_THREADS = 1024
KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")
"""oneDNN generates a kernel per shape and keeps 1,024 by default; batches of many lengths need
more (SST-2 1,218), or their kernels are generated again and again, some each step."""


@dataclass(frozen=True)
class Hardware:
    """Device, precision and threads, with every `auto` resolved."""

    device: torch.device
    precision: str

    @property
    def dtype(self) -> torch.dtype:
        """The type in which matrices are multiplied."""
        dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float64": torch.float64}
        return dtypes[self.precision]

    def place(self, model: nn.Module) -> None:
        """Move a model to the device; its weights stay in float32 where bfloat16 computes."""
        model.to(self.device, torch.float64 if self.precision == "float64" else torch.float32)

    def autocast(self) -> torch.autocast:
        """Return the context in which forward passes run."""
        return torch.autocast(
            self.device.type, dtype=torch.bfloat16, enabled=self.precision == "bfloat16"
        )


def choose(settings: TrainingSettings) -> dict[str, str]:
    """Decide device and precision for this machine; the run records them."""
    device = settings.device if settings.device != "auto" else _best_device()
    auto = settings.precision == "auto"
    precision = (asked_precision() or _best_precision(device)) if auto else settings.precision
    return {"device": device, "precision": precision}


def chosen_threads(settings: TrainingSettings) -> int | None:
    """Return the threads that the settings or the environment ask for; None leaves it open."""
    return settings.threads or asked_threads()


def all_threads(*, local_processes: int = 1) -> int:
    """Return one thread per core, the cores divided among the processes of this machine."""
    return max(1, machine.cores() // local_processes)


def asked_precision() -> Literal["float32", "bfloat16"] | None:
    """Return what `precision: auto` means according to the environment, if it says so."""
    match os.environ.get(PRECISION, ""):
        case "":
            return None
        case "float32" | "bfloat16" as precision:
            return precision
        case other:
            raise UserError(f"{PRECISION}={other} is not possible: give float32 or bfloat16.")


def asked_threads() -> int | None:
    """Return how many threads the environment asks for, the first of OpenMP's list."""
    text = os.environ.get(THREADS, "").strip()
    if not text:
        return None
    first = text.partition(",")[0].strip()
    if not first.isascii() or not first.isdecimal() or not 0 < int(first) <= MOST_THREADS:
        raise UserError(
            f"{THREADS}={text} is not possible: give a number of threads from 1 to {MOST_THREADS},"
            " or unset it."
        )
    return int(first)


def precision_of(run: Run) -> Precision:
    """Return the precision that a run was begun with; its model is used in no other.

    An environment that asks for another one is refused, unless the run's settings had chosen.
    """
    config = run.config
    there = config["resolved"].get("hardware", {}).get("precision", "float32")
    refuse_other_precision(run.name, config["settings"].get("training", {}), there)
    precision: Precision = there
    return precision


def refuse_other_precision(name: str, training: Mapping[str, Any], there: str) -> None:
    """Refuse to compute a run in its own precision while the environment asks for another."""
    asked = asked_precision()
    if asked and asked != there and training.get("precision", "auto") == "auto":
        raise UserError(
            f"{PRECISION}={asked}, but {name} was begun in {there} and keeps that precision."
            f" Unset {PRECISION}, or train another run with --name."
        )


def use(choice: Mapping[str, str], *, threads: int) -> Hardware:
    """Apply a choice, or say that this machine cannot."""
    name = choice["device"]
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": _has_mps()}
    if not available.get(name, False):
        known = ", ".join(name for name, there in available.items() if there)
        raise UserError(f"this machine has no device {name!r}. It has: {known}.")
    # torchrun numbers the processes of a machine; the number of its GPU is the same
    device = torch.device(f"cuda:{local_rank()}" if name == "cuda" else name)
    torch.set_num_threads(threads)
    os.environ.setdefault(*KERNELS)  # read at the first product
    return Hardware(device, choice["precision"])


def _has_mps() -> bool:
    return torch.backends.mps.is_available()


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if _has_mps() else "cpu"


def _best_precision(device: str) -> str:
    """Choose bfloat16 only where the hardware supports it; emulated, it is slower."""
    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    native = device == "cpu" and {"avx512_bf16", "amx_bf16"} & set(machine.cpu()["features"])
    return "bfloat16" if native else "float32"
