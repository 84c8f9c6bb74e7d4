"""What a teacher's grader is made of: nothing of a submission is imported here, only ``probe`` runs it."""
