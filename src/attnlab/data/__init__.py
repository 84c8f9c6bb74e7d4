"""Text in, batches out. Knows no model."""
