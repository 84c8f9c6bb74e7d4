"""The processes that train together: several started by torchrun or srun, or just one."""

import atexit
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor, nn

from attnlab.environment import local_world_size, world_size
from attnlab.errors import AttnlabError, UserError
from attnlab.training.srun import is_srun, lead_address


@dataclass(frozen=True)
class Processes:
    """Which process this is, and what all of them agree on."""

    rank: int = 0
    size: int = 1
    local_size: int = 1
    """How many of them run on this machine."""

    @property
    def lead(self) -> bool:
        """Whether this process writes files and messages."""
        return self.rank == 0

    def from_lead(self, decide: Callable[[], Any]) -> Any:
        """Let the lead decide something; all get its value (as JSON), or raise its error."""
        if self.size == 1:
            return decide()
        answer: dict[str, Any] = {}
        if self.lead:
            try:
                answer = {"value": decide()}
            except AttnlabError as error:
                answer = {
                    "error": str(error),
                    "exit_code": error.exit_code,
                    "in_a_word": error.in_a_word,
                }
                self._broadcast(answer)
                raise
        answer = self._broadcast(answer)
        if "error" in answer:
            _raise_as_lead(answer)
        return answer["value"]

    def sum_small(self, values: Sequence[float]) -> list[float]:
        """Add up a few numbers over all processes, in double precision."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(tensor)
        return [float(value) for value in tensor.tolist()]

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace every gradient by its sum over all processes.

        A parameter that no process has a gradient for keeps None, so that optimizers leave it
        alone exactly as they do in one process.
        """
        if self.size == 1:
            return
        present = self.sum_small([float(p.grad is not None) for p in parameters])
        touched = [p for p, count in zip(parameters, present, strict=True) if count]
        if not touched:
            return
        for parameter in touched:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in touched if p.grad is not None]
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        dist.all_reduce(flat)
        pieces = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, piece in zip(gradients, pieces, strict=True):
            gradient.copy_(piece.view_as(gradient))

    def sum_sparse_gradients(self, tables: Sequence[nn.Parameter]) -> None:
        """The same for tables whose gradients are sparse: rows are gathered, then added."""
        if self.size == 1 or not tables:
            return
        present = self.sum_small([float(table.grad is not None) for table in tables])
        for table, count in zip(tables, present, strict=True):
            if not count:
                continue
            index, rows = torch.empty(0, dtype=torch.int64), table.new_zeros(0, *table.shape[1:])
            if table.grad is not None:
                gradient = table.grad.coalesce()
                index, rows = gradient.indices()[0], gradient.values()
            index, rows = self._gather_rows(index.to(table.device), rows.detach())
            table.grad = torch.sparse_coo_tensor(
                index[None], rows, size=table.shape, check_invariants=False
            ).coalesce()

    def _gather_rows(self, index: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Collect rows from all processes in rank order; counts differ, so shares are padded."""
        counts = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(counts, torch.tensor([len(index)]))
        lengths = [int(count) for count in counts]
        gathered = []
        for own in (index, values):
            padded = own.new_zeros(max(lengths), *own.shape[1:])
            padded[: len(own)] = own
            shares = [torch.empty_like(padded) for _ in lengths]
            dist.all_gather(shares, padded)
            gathered.append(torch.cat([s[:n] for s, n in zip(shares, lengths, strict=True)]))
        return gathered[0], gathered[1]

    def _broadcast(self, value: Any) -> Any:
        text = torch.tensor(list(json.dumps(value).encode()), dtype=torch.uint8)
        length = torch.tensor([len(text)])
        dist.broadcast(length, src=0)
        if not self.lead:
            text = torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(text, src=0)
        return json.loads(bytes(text.tolist()))


def _raise_as_lead(answer: Mapping[str, Any]) -> NoReturn:
    error = AttnlabError(answer["error"])
    error.exit_code, error.in_a_word = answer["exit_code"], answer["in_a_word"]
    error.told_by_lead = True
    raise error


@contextmanager
def join_processes() -> Iterator[Processes]:
    """Join the processes that torchrun or srun started, if it started several.

    Only the outermost call leaves: joining again after leaving may hang, and leaving must not wait
    for the interpreter's end, where gloo's threads are torn down under it.
    """
    size = world_size()
    if size == 1:
        yield Processes()
        return
    if is_srun() and "MASTER_ADDR" not in os.environ:
        os.environ["MASTER_ADDR"] = lead_address()
    missing = [k for k in ("RANK", "MASTER_ADDR", "MASTER_PORT") if k not in os.environ]
    if missing:
        raise UserError(
            f"WORLD_SIZE is {size}, but {', '.join(missing)} is not set: start several processes"
            " with torchrun or srun, or unset WORLD_SIZE."
        )
    joined_here = not dist.is_initialized()
    if joined_here:
        # gloo carries CPU tensors and the small agreements; nccl is added for CUDA tensors.
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    rank = dist.get_rank()
    yield Processes(rank, size, local_world_size())
    if joined_here:
        dist.barrier()
        dist.destroy_process_group()
        if rank:
            atexit.register(_end_at_once)


def _end_at_once() -> None:
    """End without the interpreter's teardown.

    On a busy machine a process that had left was now and then aborted while it ended ("terminate
    called without an active exception"), probably with gloo's threads still running. The cause was
    not found, so this avoids the place where it happens; LOG.md has what was seen.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
