"""The grader of the attention course."""
