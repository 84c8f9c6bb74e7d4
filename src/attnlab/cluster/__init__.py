"""Where command lines run: in a pool of processes, or on Slurm. Loads no torch."""
