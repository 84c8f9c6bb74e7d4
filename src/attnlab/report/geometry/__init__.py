"""Attention by hand, on a terminal, as JSON and in figures."""
