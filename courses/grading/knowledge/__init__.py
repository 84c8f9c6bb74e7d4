"""The grader of the knowledge course."""
