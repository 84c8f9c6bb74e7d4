"""The run directory: what a run was asked, what it did, what came out. Loads no torch."""
