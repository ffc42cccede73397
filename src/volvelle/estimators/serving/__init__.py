"""What one step of a serving engine takes, and what it keeps."""
