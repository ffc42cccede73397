"""A replayed step as traces for other simulators: one format a module."""
