"""Hand-made attention on a terminal, as JSON and in figures."""
