"""Attention by hand: what a query can do, and the proof when it cannot; numpy and scipy only."""
