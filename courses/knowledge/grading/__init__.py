"""The teacher's grader. Nothing here imports a submission; only ``probe`` runs it."""
