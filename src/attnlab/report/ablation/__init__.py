"""Reports on experiments with attention: the ledger of all conditions, and one topic."""
