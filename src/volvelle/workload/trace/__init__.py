"""What a recorded program did: operations with their sizes, communication, measured times and order."""
