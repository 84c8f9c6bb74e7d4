"""The grader of the sst2 course."""
