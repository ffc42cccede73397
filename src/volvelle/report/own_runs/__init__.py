"""What own runs taught, and what they are worth."""
