"""A replayed trace, as it is shown."""
