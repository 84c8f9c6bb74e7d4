"""Models, each whole in one file."""
