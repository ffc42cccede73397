"""Collectives as messages, algorithm by algorithm, and how long they take when they share links."""
