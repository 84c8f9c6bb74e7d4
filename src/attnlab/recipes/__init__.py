"""The labs, one file per job, each read from top to bottom."""
