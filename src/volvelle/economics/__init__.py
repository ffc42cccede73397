"""Dollars and joules: the only home of the word price."""
