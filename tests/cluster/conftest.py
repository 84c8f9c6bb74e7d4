"""The fixtures of the cluster's tests."""

from fake_slurm import fake_slurm

__all__ = ["fake_slurm"]
