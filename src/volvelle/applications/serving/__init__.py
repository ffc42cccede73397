"""Serving: rows that were measured, constants of engines, and what the model says of them."""
