"""Where models and data come from."""
