"""Directed links of network shapes, and the links that a message between two units crosses."""
