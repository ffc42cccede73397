"""Speculation of an instance: what drafts cost and yield, and whether they are worth it."""
