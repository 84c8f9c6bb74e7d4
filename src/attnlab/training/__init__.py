"""One training loop for every job. It knows parameters and steps, but no task, model or data."""
