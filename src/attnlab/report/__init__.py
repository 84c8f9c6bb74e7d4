"""From run directories to what a person looks at."""
