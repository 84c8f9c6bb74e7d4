"""Where the processes that srun started find each other. Loads no torch."""

import os
import re
import subprocess

from attnlab.errors import UserError

NODES = "SLURM_STEP_NODELIST"
PATIENCE = 60


def is_srun() -> bool:
    """Say whether srun started this process."""
    return NODES in os.environ


def lead_address() -> str:
    """Ask Slurm for the address of the first node, where the lead runs.

    Its name need not resolve, and srun's own address is where srun was typed.
    """
    nodes = os.environ[NODES]
    first = _ask("show", "hostnames", nodes).split()
    described = _ask("--oneliner", "show", "node", first[0]) if first else ""
    found = re.search(r"\bNodeAddr=(\S+)", described)
    if not found:
        raise UserError(
            f"Slurm does not say where the first node of {nodes} is: set MASTER_ADDR to the address"
            " of the node with process 0."
        )
    return found[1]


def _ask(*words: str) -> str:
    """Return what scontrol says, or nothing."""
    try:
        return subprocess.run(
            ["scontrol", *words], capture_output=True, text=True, timeout=PATIENCE
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
