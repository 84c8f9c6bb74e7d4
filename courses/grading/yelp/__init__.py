"""The grader of the yelp course."""
