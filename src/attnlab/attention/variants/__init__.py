"""One file a variant, registered under its file's name."""
