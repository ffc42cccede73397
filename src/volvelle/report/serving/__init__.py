"""Answers about serving, in words."""
