"""Builders: from a few architecture numbers to a Workload."""
