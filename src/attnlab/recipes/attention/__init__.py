"""The attention lab: look at variants, check one's own, measure what they cost."""
