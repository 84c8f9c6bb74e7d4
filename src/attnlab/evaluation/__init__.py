"""What a number is worth: intervals, paired tests, calibration, metrics."""
