"""What the courses' graders share. Nothing here imports a submission; only the probes run it."""
