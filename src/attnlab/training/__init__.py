"""One training loop for every job. It knows parameters and steps; no task, model or data."""
