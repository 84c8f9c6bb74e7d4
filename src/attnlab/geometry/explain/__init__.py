"""One file per question: it solves, puts the result in words, and says what to draw."""
