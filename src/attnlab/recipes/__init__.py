"""The labs, one file a job, each read from top to bottom."""
