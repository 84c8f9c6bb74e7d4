"""What a number is worth."""
