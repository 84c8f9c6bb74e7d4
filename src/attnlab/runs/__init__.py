"""The run directory: settings, metrics, predictions, record. Loads no torch."""
