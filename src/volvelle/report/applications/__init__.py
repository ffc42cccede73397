"""Benchmarks planned, scored and fitted, as text."""
