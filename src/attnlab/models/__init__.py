"""Models, each complete in one file."""
