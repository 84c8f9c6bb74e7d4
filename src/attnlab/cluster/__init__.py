"""Where command lines run: in a pool of processes. Loads no torch."""
