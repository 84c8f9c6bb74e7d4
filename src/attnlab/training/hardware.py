"""Where and how exactly to compute: device, precision, threads."""

import os
from dataclasses import dataclass

import torch

from attnlab.errors import UserError
from attnlab.runs import machine
from attnlab.training.settings import TrainingSettings


@dataclass(frozen=True)
class Hardware:
    """What every `auto` came to, ready to compute with."""

    device: torch.device
    precision: str
    threads: int

    @property
    def parameter_dtype(self) -> torch.dtype:
        """The type the weights are kept in; bfloat16 is only ever computed with."""
        return torch.float64 if self.precision == "float64" else torch.float32

    def autocast(self) -> torch.autocast:
        """Return the context in which forward passes run."""
        return torch.autocast(
            self.device.type, dtype=torch.bfloat16, enabled=self.precision == "bfloat16"
        )

    def apply(self) -> None:
        """Set the number of threads of this process."""
        torch.set_num_threads(self.threads)


def choose(settings: TrainingSettings, *, local_processes: int) -> dict[str, str | int]:
    """Decide device, precision and threads for this machine; the run writes them down."""
    device = settings.device if settings.device != "auto" else _best_device()
    precision = settings.precision if settings.precision != "auto" else _best_precision(device)
    threads = settings.threads or max(1, machine.cores() // local_processes)
    return {"device": device, "precision": precision, "threads": threads}


def use(choice: dict[str, str | int]) -> Hardware:
    """Take a choice into use, or say that this machine cannot."""
    name = str(choice["device"])
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": _has_mps()}
    if not available.get(name, False):
        known = ", ".join(name for name, there in available.items() if there)
        raise UserError(f"this machine has no device {name!r}. It has: {known}.")
    # torchrun numbers the processes of a machine; the number of its GPU is the same
    number = os.environ.get("LOCAL_RANK", "0")
    device = torch.device(f"cuda:{number}" if name == "cuda" else name)
    hardware = Hardware(device, str(choice["precision"]), int(choice["threads"]))
    hardware.apply()
    return hardware


def _has_mps() -> bool:
    return torch.backends.mps.is_available()


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if _has_mps() else "cpu"


def _best_precision(device: str) -> str:
    """Take bfloat16 only where the processor multiplies it itself; emulated it is slower."""
    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    native = device == "cpu" and {"avx512_bf16", "amx_bf16"} & set(machine.cpu()["features"])
    return "bfloat16" if native else "float32"
