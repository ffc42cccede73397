"""The DECISION as a value: how a workload is laid out over a system."""
